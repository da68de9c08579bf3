-- The next match may begin at the last row of a variable, and not before.
CREATE TABLE ticks (item STRING, x INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/ticks', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, a INT, b INT, n BIGINT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT item, a, b, n FROM ticks MATCH_RECOGNIZE (
  PARTITION BY item ORDER BY ts
  MEASURES FIRST(A.x) AS a, B.x AS b, COUNT(A.x) AS n
  AFTER MATCH SKIP TO LAST A
  PATTERN (A{2,3} B)
  DEFINE A AS x < 3);
--= Sink(table=[default_catalog.default_database.answers], fields=[item, a, b, n], changelogMode=[I])
--= +- Calc(select=[item, $m0 AS a, $m1 AS b, $m2 AS n], changelogMode=[I])
--=    +- Match(partitionBy=[item], orderBy=[ts ASC], measures=[FIRST(A.x, 0) AS $m0, LAST(B.x, 0) AS $m1, COUNT(A.x) AS $m2], rowsPerMatch=[ONE ROW PER MATCH], after=[SKIP TO LAST A], pattern=[A{2,3} B], define=[A=(x < 3)], changelogMode=[I])
--=       +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=          +- TableSourceScan(table=[[default_catalog, default_database, ticks]], fields=[item, x, ts], changelogMode=[I])
--< ticks {"item": "i", "x": 1, "ts": "2026-01-01 00:00:01"}
--< ticks {"item": "i", "x": 2, "ts": "2026-01-01 00:00:02"}
--< ticks {"item": "j", "x": 1, "ts": "2026-01-01 00:00:02.500"}
--! restart
--< ticks {"item": "i", "x": 0, "ts": "2026-01-01 00:00:03"}
--< ticks {"item": "i", "x": 3, "ts": "2026-01-01 00:00:04"}
--> +I[i, 1, 3, 3]
--< ticks {"item": "j", "x": 2, "ts": "2026-01-01 00:00:05"}
--<late ticks {"item": "j", "x": 2, "ts": "2026-01-01 00:00:04"}
--< ticks {"item": "j", "x": null, "ts": "2026-01-01 00:00:06"}
--< ticks {"item": "j", "x": 0, "ts": "2026-01-01 00:00:07"}
--> +I[j, 1, null, 2]
--! end
