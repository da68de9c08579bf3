-- UNNEST: each row with the elements of its array: NULL elements count, a NULL or empty array has none. Rows of an array are expanded, a NULL among
-- them is left out. Stateless, over a restart too.
CREATE TABLE carts (id INT, tags ARRAY<STRING>, lines ARRAY<ROW<item STRING, n INT>>, prices MAP<STRING, INT>)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/carts', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (kind STRING, id INT, a STRING, b INT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT 'tag', id, tag, CAST(NULL AS INT) FROM carts CROSS JOIN UNNEST(tags) AS t (tag)
UNION ALL SELECT 'x', id, tag, n FROM carts, UNNEST(tags) WITH ORDINALITY AS t (tag, n) WHERE tag = 'x' AND n > 1
UNION ALL SELECT 'line', c.id, item, l.n * 2 FROM carts AS c JOIN UNNEST(c.lines) AS l ON l.n > 1
UNION ALL SELECT 'price', id, k, v FROM carts CROSS JOIN UNNEST(prices) AS p (k, v)
UNION ALL SELECT 'twice', id, CAST(x AS STRING), y FROM carts CROSS JOIN UNNEST(ARRAY[id, id + 1]) WITH ORDINALITY AS u (x, y);
--= Sink(table=[default_catalog.default_database.answers], fields=[kind, id, a, b], changelogMode=[I])
--= +- Calc(select=[EXPR$0 AS kind, id, tag AS a, EXPR$3 AS b], changelogMode=[I])
--=    +- Union(all=[true], union=[EXPR$0, id, tag, EXPR$3], changelogMode=[I])
--=       +- Calc(select=[CAST(EXPR$0 AS VARCHAR(5)) AS EXPR$0, id, tag, EXPR$3], changelogMode=[I])
--=       |  +- Union(all=[true], union=[EXPR$0, id, tag, EXPR$3], changelogMode=[I])
--=       |     +- Calc(select=[CAST(EXPR$0 AS VARCHAR(4)) AS EXPR$0, id, tag, EXPR$3], changelogMode=[I])
--=       |     |  +- Union(all=[true], union=[EXPR$0, id, tag, EXPR$3], changelogMode=[I])
--=       |     |     +- Calc(select=[CAST('tag' AS VARCHAR(3)) AS EXPR$0, id, tag, CAST(NULL AS INT) AS EXPR$3], changelogMode=[I])
--=       |     |     |  +- Correlate(invocation=[UNNEST(tags)], select=[tag], joinType=[INNER], changelogMode=[I])
--=       |     |     |     +- TableSourceScan(table=[[default_catalog, default_database, carts]], fields=[id, tags, lines, prices], changelogMode=[I])
--=       |     |     +- Calc(select=[CAST('x' AS VARCHAR(3)) AS EXPR$0, id, tag, n], changelogMode=[I])
--=       |     |        +- Calc(where=[((tag = 'x') AND (n > 1))], changelogMode=[I])
--=       |     |           +- Correlate(invocation=[UNNEST_WITH_ORDINALITY(tags)], select=[tag, n], joinType=[INNER], changelogMode=[I])
--=       |     |              +- TableSourceScan(table=[[default_catalog, default_database, carts]], fields=[id, tags, lines, prices], changelogMode=[I])
--=       |     +- Calc(select=[CAST('line' AS VARCHAR(4)) AS EXPR$0, id, item, (n * 2) AS EXPR$3], changelogMode=[I])
--=       |        +- Calc(where=[(n > 1)], changelogMode=[I])
--=       |           +- Correlate(invocation=[UNNEST(lines)], select=[item, n], joinType=[INNER], changelogMode=[I])
--=       |              +- TableSourceScan(table=[[default_catalog, default_database, carts]], fields=[id, tags, lines, prices], changelogMode=[I])
--=       +- Calc(select=[CAST('price' AS VARCHAR(5)) AS EXPR$0, id, k, v], changelogMode=[I])
--=       |  +- Correlate(invocation=[UNNEST(prices)], select=[k, v], joinType=[INNER], changelogMode=[I])
--=       |     +- TableSourceScan(table=[[default_catalog, default_database, carts]], fields=[id, tags, lines, prices], changelogMode=[I])
--=       +- Calc(select=[CAST('twice' AS VARCHAR(5)) AS EXPR$0, id, CAST(x AS STRING) AS EXPR$2, y], changelogMode=[I])
--=          +- Correlate(invocation=[UNNEST_WITH_ORDINALITY(ARRAY(id, (id + 1)))], select=[x, y], joinType=[INNER], changelogMode=[I])
--=             +- TableSourceScan(table=[[default_catalog, default_database, carts]], fields=[id, tags, lines, prices], changelogMode=[I])
--< carts {"id": 1, "tags": ["x", null, "x"], "lines": [{"item": "a", "n": 1}, null, {"item": null, "n": 2}], "prices": {"p": 5, "q": null}}
--< carts {"id": 2, "tags": [], "lines": [], "prices": {}}
--< carts {"id": 3, "tags": null, "lines": null, "prices": null}
--> +I[tag, 1, x, null] +I[tag, 1, null, null] +I[tag, 1, x, null] +I[x, 1, x, 3] +I[line, 1, null, 4] +I[price, 1, p, 5] +I[price, 1, q, null]
--> +I[twice, 1, 1, 1] +I[twice, 1, 2, 2] +I[twice, 2, 2, 1] +I[twice, 2, 3, 2] +I[twice, 3, 3, 1] +I[twice, 3, 4, 2]
--! restart
--< carts {"id": 4, "tags": ["č"], "lines": [{"item": "b", "n": 7}], "prices": {"r": 0}}
--> +I[tag, 4, č, null] +I[line, 4, b, 14] +I[price, 4, r, 0] +I[twice, 4, 4, 1] +I[twice, 4, 5, 2]
