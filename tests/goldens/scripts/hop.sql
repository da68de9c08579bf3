-- A hopping window: each row is in size / slide windows.
CREATE TABLE bids (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (window_start TIMESTAMP(3), window_end TIMESTAMP(3), bids BIGINT, highest INT, average INT)
WITH ('connector' = 'print');
INSERT INTO answers
SELECT window_start, window_end, COUNT(*), MAX(price), AVG(price)
FROM TABLE(HOP(TABLE bids, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))
GROUP BY window_start, window_end;
--! any order
--= Sink(table=[default_catalog.default_database.answers], fields=[window_start, window_end, bids, highest, average], changelogMode=[I])
--= +- Calc(select=[window_start, window_end, EXPR$2 AS bids, EXPR$3 AS highest, EXPR$4 AS average], changelogMode=[I])
--=    +- WindowAggregate(window=[HOP(time_col=[ts], size=[10 s], slide=[5 s])], select=[window_start, window_end, COUNT(*) AS EXPR$2, MAX(price) AS EXPR$3, AVG(price) AS EXPR$4], changelogMode=[I])
--=       +- Calc(select=[window_start, window_end, price, window_time], changelogMode=[I])
--=          +- WindowTableFunction(window=[HOP(time_col=[ts], size=[10 s], slide=[5 s])], changelogMode=[I])
--=             +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=                +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price, ts], changelogMode=[I])
--< bids {"item": "a", "price": 1, "ts": "2026-01-01 00:00:01"}
--< bids {"item": "b", "price": 2, "ts": "2026-01-01 00:00:06"}
--< bids {"item": "a", "price": 4, "ts": "2026-01-01 00:00:09.999"}
--> +I[2025-12-31T23:59:55, 2026-01-01T00:00:05, 1, 1, 1]
--> +I[2026-01-01T00:00, 2026-01-01T00:00:10, 3, 4, 2]
--! restart
--< bids {"item": "c", "price": null, "ts": "2026-01-01 00:00:16"}
--> +I[2026-01-01T00:00:05, 2026-01-01T00:00:15, 2, 4, 3]
--! end
--> +I[2026-01-01T00:00:10, 2026-01-01T00:00:20, 1, null, null]
--> +I[2026-01-01T00:00:15, 2026-01-01T00:00:25, 1, null, null]
