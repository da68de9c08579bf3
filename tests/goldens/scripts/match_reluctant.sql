-- Quantifiers that take as few rows as they can, an optional variable without a row, and more than one way to share rows out.
CREATE TABLE ticks (x INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/ticks', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (start_x INT, a BIGINT, b BIGINT, c BIGINT, d BIGINT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  MEASURES FIRST(x) AS start_x, COUNT(A.ts) AS a, COUNT(B.ts) AS b, COUNT(C.ts) AS c, COUNT(D.ts) AS d
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A{2,}? B{0,2}? C? D+?)
  DEFINE A AS x < 5, B AS x BETWEEN 3 AND 6, C AS x = 7, D AS x > 6) AS m;
--= Sink(table=[default_catalog.default_database.answers], fields=[start_x, a, b, c, d], changelogMode=[I])
--= +- Calc(select=[$m0 AS start_x, $m1 AS a, $m2 AS b, $m3 AS c, $m4 AS d], changelogMode=[I])
--=    +- Match(orderBy=[ts ASC], measures=[FIRST(*.x, 0) AS $m0, COUNT(A.ts) AS $m1, COUNT(B.ts) AS $m2, COUNT(C.ts) AS $m3, COUNT(D.ts) AS $m4], rowsPerMatch=[ONE ROW PER MATCH], after=[SKIP PAST LAST ROW], pattern=[A{2,}? B{0,2}? C? D+?], define=[A=(x < 5), B=((x >= 3) AND (x <= 6)), C=(x = 7), D=(x > 6)], changelogMode=[I])
--=       +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=          +- TableSourceScan(table=[[default_catalog, default_database, ticks]], fields=[x, ts], changelogMode=[I])
--< ticks {"x": 1, "ts": "2026-01-01 00:00:01"}
--< ticks {"x": 2, "ts": "2026-01-01 00:00:02"}
--< ticks {"x": 8, "ts": "2026-01-01 00:00:03"}
--> +I[1, 2, 0, 0, 1]
--< ticks {"x": 2, "ts": "2026-01-01 00:00:04"}
--< ticks {"x": 0, "ts": "2026-01-01 00:00:05"}
--! restart
--< ticks {"x": 6, "ts": "2026-01-01 00:00:06"}
--< ticks {"x": 6, "ts": "2026-01-01 00:00:07"}
--< ticks {"x": 9, "ts": "2026-01-01 00:00:08"}
--> +I[2, 2, 2, 0, 1]
--<late ticks {"x": 10, "ts": "2026-01-01 00:00:08"}
--< ticks {"x": null, "ts": "2026-01-01 00:00:09"}
--< ticks {"x": 1, "ts": "2026-01-01 00:00:10"}
--< ticks {"x": 1, "ts": "2026-01-01 00:00:11"}
--< ticks {"x": 6, "ts": "2026-01-01 00:00:12"}
--< ticks {"x": 7, "ts": "2026-01-01 00:00:13"}
--> +I[1, 2, 1, 0, 1]
--! end
