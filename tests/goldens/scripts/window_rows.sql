-- A window function without an aggregate passes its rows on at once, with the columns of their windows; a negative offset.
CREATE TABLE bids (item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, s TIMESTAMP(3), e TIMESTAMP(3), t TIMESTAMP(3)) WITH ('connector' = 'print');
INSERT INTO answers
SELECT item, window_start, window_end, CAST(window_time AS TIMESTAMP(3))
FROM HOP(DATA => TABLE bids, TIMECOL => DESCRIPTOR(ts), SLIDE => INTERVAL '5' SECOND, SIZE => INTERVAL '10' SECOND, `OFFSET` => INTERVAL '-1' SECOND);
--= Sink(table=[default_catalog.default_database.answers], fields=[item, s, e, t], changelogMode=[I])
--= +- Calc(select=[item, window_start AS s, window_end AS e, CAST(window_time AS TIMESTAMP(3)) AS t], changelogMode=[I])
--=    +- WindowTableFunction(window=[HOP(time_col=[ts], size=[10 s], slide=[5 s], offset=[-1 s])], changelogMode=[I])
--=       +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, ts], changelogMode=[I])
--< bids {"item": "a", "ts": "2026-01-01 00:00:03.999"}
--> +I[a, 2025-12-31T23:59:54, 2026-01-01T00:00:04, 2026-01-01T00:00:03.999]
--> +I[a, 2025-12-31T23:59:59, 2026-01-01T00:00:09, 2026-01-01T00:00:08.999]
--! restart
--< bids {"item": "b", "ts": "2026-01-01 00:00:04"}
--> +I[b, 2025-12-31T23:59:59, 2026-01-01T00:00:09, 2026-01-01T00:00:08.999]
--> +I[b, 2026-01-01T00:00:04, 2026-01-01T00:00:14, 2026-01-01T00:00:13.999]
