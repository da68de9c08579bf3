-- WITHIN: from the first row to the last less than the interval. A match that was waiting for an earlier one comes out when that is given up.
CREATE TABLE ticks (item STRING, x INT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/ticks', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, a INT, n BIGINT, c INT, at_ TIMESTAMP_LTZ(3)) WITH ('connector' = 'print');
INSERT INTO answers
SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY item ORDER BY ts
  MEASURES A.x AS a, COUNT(*) AS n, C.x AS c, MATCH_ROWTIME() AS at_
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A B*? C) WITHIN INTERVAL '4' SECOND
  DEFINE A AS x < 10, C AS C.x = A.x + 1) AS m;
--= Sink(table=[default_catalog.default_database.answers], fields=[item, a, n, c, at_], changelogMode=[I])
--= +- Calc(select=[item, $m0 AS a, $m1 AS n, $m2 AS c, $match_time AS at_], changelogMode=[I])
--=    +- Match(partitionBy=[item], orderBy=[ts ASC], measures=[LAST(A.x, 0) AS $m0, COUNT(*) AS $m1, LAST(C.x, 0) AS $m2], rowsPerMatch=[ONE ROW PER MATCH], after=[SKIP PAST LAST ROW], pattern=[A B*? C], within=[4 s], define=[A=(x < 10), C=(x = (LAST(A.x, 0) + 1))], changelogMode=[I])
--=       +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=          +- TableSourceScan(table=[[default_catalog, default_database, ticks]], fields=[item, x, ts], changelogMode=[I])
--< ticks {"item": "i", "x": 5, "ts": "2026-01-01 00:00:01Z"}
--< ticks {"item": "i", "x": 1, "ts": "2026-01-01 00:00:02Z"}
--! restart
--< ticks {"item": "i", "x": 2, "ts": "2026-01-01 00:00:03Z"}
--< ticks {"item": "j", "x": 7, "ts": "2026-01-01 00:00:04Z"}
--< ticks {"item": "j", "x": null, "ts": "2026-01-01 00:00:05Z"}
--> +I[i, 1, 2, 2, 2026-01-01T00:00:05Z]
--<late ticks {"item": "i", "x": 6, "ts": "2026-01-01 00:00:04Z"}
--< ticks {"item": "j", "x": 8, "ts": "2026-01-01 00:00:08Z"}
--< ticks {"item": "j", "x": 9, "ts": "2026-01-01 00:00:11.999Z"}
--> +I[j, 8, 2, 9, 2026-01-01T00:00:11.999Z]
--! end
