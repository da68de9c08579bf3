-- LEFT JOIN UNNEST: a row without elements, or without those that the condition asks for, is there once with NULLs.
CREATE TABLE carts (id INT, tags ARRAY<STRING>, lines ARRAY<ROW<item STRING, n INT>>, prices MAP<STRING, INT>)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/carts', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (kind STRING, id INT, a STRING, b INT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT 'tag', id, tag, n FROM carts LEFT JOIN UNNEST(tags) WITH ORDINALITY AS t (tag, n) ON TRUE
UNION ALL SELECT 'x', id, tag, CAST(NULL AS INT) FROM carts LEFT JOIN UNNEST(tags) AS t (tag) ON tag = 'x'
UNION ALL SELECT 'line', id, item, n FROM carts LEFT JOIN UNNEST(lines) AS l ON TRUE
UNION ALL SELECT 'many', id, item, n FROM carts LEFT JOIN UNNEST(lines) AS l ON n > 1 AND item IS NOT NULL
UNION ALL SELECT 'price', id, k, v FROM carts LEFT JOIN UNNEST(prices) AS p (k, v) ON TRUE;
--= Sink(table=[default_catalog.default_database.answers], fields=[kind, id, a, b], changelogMode=[I])
--= +- Calc(select=[EXPR$0 AS kind, id, tag AS a, n AS b], changelogMode=[I])
--=    +- Union(all=[true], union=[EXPR$0, id, tag, n], changelogMode=[I])
--=       +- Calc(select=[CAST(EXPR$0 AS VARCHAR(5)) AS EXPR$0, id, tag, n], changelogMode=[I])
--=       |  +- Union(all=[true], union=[EXPR$0, id, tag, n], changelogMode=[I])
--=       |     +- Calc(select=[CAST(EXPR$0 AS VARCHAR(4)) AS EXPR$0, id, tag, n], changelogMode=[I])
--=       |     |  +- Union(all=[true], union=[EXPR$0, id, tag, n], changelogMode=[I])
--=       |     |     +- Calc(select=[CAST('tag' AS VARCHAR(3)) AS EXPR$0, id, tag, n], changelogMode=[I])
--=       |     |     |  +- Correlate(invocation=[UNNEST_WITH_ORDINALITY(tags)], select=[tag, n], joinType=[LEFT], changelogMode=[I])
--=       |     |     |     +- TableSourceScan(table=[[default_catalog, default_database, carts]], fields=[id, tags, lines, prices], changelogMode=[I])
--=       |     |     +- Calc(select=[CAST('x' AS VARCHAR(3)) AS EXPR$0, id, tag, CAST(NULL AS INT) AS EXPR$3], changelogMode=[I])
--=       |     |        +- Correlate(invocation=[UNNEST(tags)], select=[tag], joinType=[LEFT], condition=[(tag = 'x')], changelogMode=[I])
--=       |     |           +- TableSourceScan(table=[[default_catalog, default_database, carts]], fields=[id, tags, lines, prices], changelogMode=[I])
--=       |     +- Calc(select=[CAST('line' AS VARCHAR(4)) AS EXPR$0, id, item, n], changelogMode=[I])
--=       |     |  +- Correlate(invocation=[UNNEST(lines)], select=[item, n], joinType=[LEFT], changelogMode=[I])
--=       |     |     +- TableSourceScan(table=[[default_catalog, default_database, carts]], fields=[id, tags, lines, prices], changelogMode=[I])
--=       |     +- Calc(select=[CAST('many' AS VARCHAR(4)) AS EXPR$0, id, item, n], changelogMode=[I])
--=       |        +- Correlate(invocation=[UNNEST(lines)], select=[item, n], joinType=[LEFT], condition=[((n > 1) AND NOT(item IS NULL))], changelogMode=[I])
--=       |           +- TableSourceScan(table=[[default_catalog, default_database, carts]], fields=[id, tags, lines, prices], changelogMode=[I])
--=       +- Calc(select=[CAST('price' AS VARCHAR(5)) AS EXPR$0, id, k, v], changelogMode=[I])
--=          +- Correlate(invocation=[UNNEST(prices)], select=[k, v], joinType=[LEFT], changelogMode=[I])
--=             +- TableSourceScan(table=[[default_catalog, default_database, carts]], fields=[id, tags, lines, prices], changelogMode=[I])
--< carts {"id": 1, "tags": ["x", null, "x"], "lines": [{"item": "a", "n": 1}, null, {"item": "b", "n": 2}], "prices": {"p": 5, "q": null}}
--< carts {"id": 2, "tags": [], "lines": [null], "prices": {}}
--> +I[tag, 1, x, 1] +I[tag, 1, null, 2] +I[tag, 1, x, 3] +I[tag, 2, null, null] +I[x, 1, x, null] +I[x, 1, x, null] +I[x, 2, null, null]
--> +I[line, 1, a, 1] +I[line, 1, b, 2] +I[line, 2, null, null] +I[many, 1, b, 2] +I[many, 2, null, null]
--> +I[price, 1, p, 5] +I[price, 1, q, null] +I[price, 2, null, null]
--! restart
--< carts {"id": 3, "tags": null, "lines": null, "prices": null}
--> +I[tag, 3, null, null] +I[x, 3, null, null] +I[line, 3, null, null] +I[many, 3, null, null] +I[price, 3, null, null]
