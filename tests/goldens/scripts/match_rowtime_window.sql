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
--= Sink(table=[default_catalog.default_database.answers], fields=[window_start, n, total], changelogMode=[I])
--= +- Calc(select=[window_start, EXPR$1 AS n, EXPR$2 AS total], changelogMode=[I])
--=    +- WindowAggregate(window=[TUMBLE(time_col=[at_], size=[10 s])], select=[window_start, window_end, COUNT(*) AS EXPR$1, SUM($f0) AS EXPR$2], changelogMode=[I])
--=       +- Calc(select=[window_start, window_end, (b - a) AS $f0, window_time], changelogMode=[I])
--=          +- WindowTableFunction(window=[TUMBLE(time_col=[at_], size=[10 s])], changelogMode=[I])
--=             +- Calc(select=[item, $m0 AS a, $m1 AS b, $match_time AS at_], changelogMode=[I])
--=                +- Match(partitionBy=[item], orderBy=[ts ASC], measures=[LAST(A.x, 0) AS $m0, LAST(B.x, 0) AS $m1], rowsPerMatch=[ONE ROW PER MATCH], after=[SKIP PAST LAST ROW], pattern=[A B], define=[B=(x > LAST(A.x, 0))], changelogMode=[I])
--=                   +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=                      +- TableSourceScan(table=[[default_catalog, default_database, ticks]], fields=[item, x, ts], changelogMode=[I])
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
