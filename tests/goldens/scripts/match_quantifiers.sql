-- Quantifiers that take as many rows as they can: what comes behind one takes no row that it could take.
CREATE TABLE ticks (x INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/ticks', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (start_x INT, a BIGINT, b BIGINT, c BIGINT, last_x INT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  MEASURES FIRST(x) AS start_x, COUNT(A.ts) AS a, COUNT(B.ts) AS b, COUNT(C.ts) AS c, D.x AS last_x
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A* B{2,} C{1,2} D)
  DEFINE A AS x < 3, B AS x < 6, C AS x < 8) AS m;
--! any order
--= Sink(table=[default_catalog.default_database.answers], fields=[start_x, a, b, c, last_x], changelogMode=[I])
--= +- Calc(select=[$m0 AS start_x, $m1 AS a, $m2 AS b, $m3 AS c, $m4 AS last_x], changelogMode=[I])
--=    +- Match(orderBy=[ts ASC], measures=[FIRST(*.x, 0) AS $m0, COUNT(A.ts) AS $m1, COUNT(B.ts) AS $m2, COUNT(C.ts) AS $m3, LAST(D.x, 0) AS $m4], rowsPerMatch=[ONE ROW PER MATCH], after=[SKIP PAST LAST ROW], pattern=[A* B{2,} C{1,2} D], define=[A=(x < 3), B=(x < 6), C=(x < 8)], changelogMode=[I])
--=       +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=          +- TableSourceScan(table=[[default_catalog, default_database, ticks]], fields=[x, ts], changelogMode=[I])
--< ticks {"x": 1, "ts": "2026-01-01 00:00:01"}
--< ticks {"x": 2, "ts": "2026-01-01 00:00:02"}
--< ticks {"x": 4, "ts": "2026-01-01 00:00:03"}
--! restart
--< ticks {"x": 2, "ts": "2026-01-01 00:00:04"}
--< ticks {"x": 7, "ts": "2026-01-01 00:00:05"}
--< ticks {"x": 9, "ts": "2026-01-01 00:00:06"}
--> +I[1, 2, 2, 1, 9]
--<late ticks {"x": 4, "ts": "2026-01-01 00:00:06"}
--< ticks {"x": 4, "ts": "2026-01-01 00:00:07"}
--< ticks {"x": 5, "ts": "2026-01-01 00:00:08"}
--< ticks {"x": 6, "ts": "2026-01-01 00:00:09"}
--< ticks {"x": 7, "ts": "2026-01-01 00:00:10"}
--< ticks {"x": null, "ts": "2026-01-01 00:00:11"}
--> +I[4, 0, 2, 2, null]
--! end
