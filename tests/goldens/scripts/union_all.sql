-- UNION ALL of two streams and of constants keeps every row; columns go by position.
CREATE TABLE a (id INT, word STRING) WITH ('connector' = 'filesystem', 'path' = '${DIR}/a', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE b (word STRING, id BIGINT) WITH ('connector' = 'filesystem', 'path' = '${DIR}/b', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (id BIGINT, word STRING) WITH ('connector' = 'print');
INSERT INTO answers
SELECT id, word FROM a
UNION ALL
SELECT id, word FROM b WHERE word <> 'no'
UNION ALL
SELECT * FROM (VALUES (100, 'constant')) AS t(x, y);
--= Sink(table=[default_catalog.default_database.answers], fields=[id, word], changelogMode=[I])
--= +- Union(all=[true], union=[id, word], changelogMode=[I])
--=    +- Calc(select=[CAST(id AS BIGINT) AS id, word], changelogMode=[I])
--=    |  +- TableSourceScan(table=[[default_catalog, default_database, a]], fields=[id, word], changelogMode=[I])
--=    +- Calc(select=[id, word], changelogMode=[I])
--=    |  +- Calc(where=[(word <> 'no')], changelogMode=[I])
--=    |     +- TableSourceScan(table=[[default_catalog, default_database, b]], fields=[word, id], changelogMode=[I])
--=    +- Calc(select=[CAST(EXPR$0 AS BIGINT) AS x, CAST(EXPR$1 AS STRING) AS y], changelogMode=[I])
--=       +- Values(tuples=[[{ 100, 'constant' }]], changelogMode=[I])
--< a {"id": 1, "word": "one"}
--< b {"id": 2, "word": "two"}
--< b {"id": 3, "word": "no"}
--> +I[1, one] +I[2, two] +I[100, constant]
--! restart
--< a {"id": 1, "word": "one"}
--> +I[1, one]
