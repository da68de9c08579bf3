-- The time of a match is a rowtime attribute: windows count matches.
CREATE TABLE ticks (item STRING, x INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/ticks', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE VIEW pairs AS
SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY item ORDER BY ts
  MEASURES A.x AS a, B.x AS b, MATCH_ROWTIME() AS at_
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A B)
  DEFINE B AS B.x > A.x) AS m;
CREATE TABLE answers (window_start TIMESTAMP(3), n BIGINT, total INT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT window_start, COUNT(*), SUM(b - a) FROM TABLE(TUMBLE(TABLE pairs, DESCRIPTOR(at_), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
--= WindowAggregate(window=[TUMBLE(time_col=[at_], size=[10 s])]
--= Match(partitionBy=[item]
--< ticks {"item": "i", "x": 1, "ts": "2026-01-01 00:00:01"}
--< ticks {"item": "j", "x": 1, "ts": "2026-01-01 00:00:02"}
--< ticks {"item": "i", "x": 4, "ts": "2026-01-01 00:00:03"}
--! restart
--< ticks {"item": "j", "x": 2, "ts": "2026-01-01 00:00:09"}
--< ticks {"item": null, "x": 2, "ts": "2026-01-01 00:00:09.500"}
--< ticks {"item": null, "x": 5, "ts": "2026-01-01 00:00:12"}
--> +I[2026-01-01T00:00, 2, 4]
--<late ticks {"item": "i", "x": 1, "ts": "2026-01-01 00:00:08"}
--< ticks {"item": "i", "x": 2, "ts": "2026-01-01 00:00:13"}
--< ticks {"item": "i", "x": 3, "ts": "2026-01-01 00:00:25"}
--> +I[2026-01-01T00:00:10, 1, 3]
--! end
--> +I[2026-01-01T00:00:20, 1, 1]
