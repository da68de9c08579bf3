-- The next match may begin at the first row of a variable: matches overlap there.
CREATE TABLE ticks (item STRING, x INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/ticks', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, a INT, b INT, c INT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY item ORDER BY ts
  MEASURES A.x AS a, FIRST(B.x) AS b, LAST(B.x) AS c
  AFTER MATCH SKIP TO FIRST B
  PATTERN (A B{2})
  DEFINE B AS B.x > A.x) AS m;
--= Sink(table=[default_catalog.default_database.answers], fields=[item, a, b, c], changelogMode=[I])
--= +- Calc(select=[item, $m0 AS a, $m1 AS b, $m2 AS c], changelogMode=[I])
--=    +- Match(partitionBy=[item], orderBy=[ts ASC], measures=[LAST(A.x, 0) AS $m0, FIRST(B.x, 0) AS $m1, LAST(B.x, 0) AS $m2], rowsPerMatch=[ONE ROW PER MATCH], after=[SKIP TO FIRST B], pattern=[A B{2}], define=[B=(x > LAST(A.x, 0))], changelogMode=[I])
--=       +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=          +- TableSourceScan(table=[[default_catalog, default_database, ticks]], fields=[item, x, ts], changelogMode=[I])
--< ticks {"item": "i", "x": 1, "ts": "2026-01-01 00:00:01"}
--< ticks {"item": "i", "x": 2, "ts": "2026-01-01 00:00:02"}
--! restart
--< ticks {"item": "i", "x": 3, "ts": "2026-01-01 00:00:03"}
--> +I[i, 1, 2, 3]
--< ticks {"item": "i", "x": 4, "ts": "2026-01-01 00:00:04"}
--> +I[i, 2, 3, 4]
--<late ticks {"item": "i", "x": 9, "ts": "2026-01-01 00:00:04"}
--< ticks {"item": "i", "x": null, "ts": "2026-01-01 00:00:05"}
--< ticks {"item": "i", "x": 5, "ts": "2026-01-01 00:00:06"}
--< ticks {"item": "i", "x": 6, "ts": "2026-01-01 00:00:07"}
--< ticks {"item": "i", "x": 7, "ts": "2026-01-01 00:00:08"}
--> +I[i, 5, 6, 7]
--! end
