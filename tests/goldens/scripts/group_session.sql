-- The older form of a session window, of all rows.
CREATE TABLE bids (item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (s TIMESTAMP(3), e TIMESTAMP(3), bids BIGINT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT SESSION_START(ts, INTERVAL '2' SECOND), SESSION_END(ts, INTERVAL '2' SECOND), COUNT(*) FROM bids GROUP BY SESSION(ts, INTERVAL '2' SECOND);
--! any order
--= Sink(table=[default_catalog.default_database.answers], fields=[s, e, bids], changelogMode=[I])
--= +- Calc(select=[window_start AS s, window_end AS e, EXPR$2 AS bids], changelogMode=[I])
--=    +- WindowAggregate(window=[SESSION(time_col=[ts], gap=[2 s])], select=[window_start, window_end, window_time, COUNT(*) AS EXPR$2], changelogMode=[I])
--=       +- Calc(select=[window_start, window_end, window_time], changelogMode=[I])
--=          +- WindowTableFunction(window=[SESSION(time_col=[ts], gap=[2 s])], changelogMode=[I])
--=             +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=                +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, ts], changelogMode=[I])
--< bids {"item": "a", "ts": "2026-01-01 00:00:01"}
--< bids {"item": "b", "ts": "2026-01-01 00:00:02.500"}
--! restart
--< bids {"item": "a", "ts": "2026-01-01 00:00:07"}
--> +I[2026-01-01T00:00:01, 2026-01-01T00:00:04.500, 2]
--! end
--> +I[2026-01-01T00:00:07, 2026-01-01T00:00:09, 1]
