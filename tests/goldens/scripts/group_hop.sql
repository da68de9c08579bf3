-- The older form of a hopping window; unlike the table function's, its size need be no multiple of its slide.
CREATE TABLE bids (item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (s TIMESTAMP(3), e TIMESTAMP(3), bids BIGINT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT HOP_START(ts, INTERVAL '4' SECOND, INTERVAL '6' SECOND), HOP_END(ts, INTERVAL '4' SECOND, INTERVAL '6' SECOND), COUNT(*)
FROM bids GROUP BY HOP(ts, INTERVAL '4' SECOND, INTERVAL '6' SECOND);
--= Sink(table=[default_catalog.default_database.answers], fields=[s, e, bids], changelogMode=[I])
--= +- Calc(select=[window_start AS s, window_end AS e, EXPR$2 AS bids], changelogMode=[I])
--=    +- WindowAggregate(window=[HOP(time_col=[ts], size=[6 s], slide=[4 s])], select=[window_start, window_end, window_time, COUNT(*) AS EXPR$2], changelogMode=[I])
--=       +- Calc(select=[window_start, window_end, window_time], changelogMode=[I])
--=          +- WindowTableFunction(window=[HOP(time_col=[ts], size=[6 s], slide=[4 s])], changelogMode=[I])
--=             +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=                +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, ts], changelogMode=[I])
--< bids {"item": "a", "ts": "2026-01-01 00:00:01"}
--< bids {"item": "a", "ts": "2026-01-01 00:00:03"}
--< bids {"item": "a", "ts": "2026-01-01 00:00:05"}
--> +I[2025-12-31T23:59:56, 2026-01-01T00:00:02, 1]
--! restart
--< bids {"item": "a", "ts": "2026-01-01 00:00:06"}
--> +I[2026-01-01T00:00, 2026-01-01T00:00:06, 3]
--! end
--> +I[2026-01-01T00:00:04, 2026-01-01T00:00:10, 2]
