-- A tumbling window a key: a row comes out when the watermark passes the window's end - 1 ms; a late row is dropped.
CREATE TABLE bids (item STRING, price DECIMAL(10, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (window_start TIMESTAMP(3), window_end TIMESTAMP(3), item STRING, bids BIGINT, total DECIMAL(38, 2))
WITH ('connector' = 'print');
INSERT INTO answers
SELECT window_start, window_end, item, COUNT(*), SUM(price)
FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, item;
--! any order
--= Sink(table=[default_catalog.default_database.answers], fields=[window_start, window_end, item, bids, total], changelogMode=[I])
--= +- Calc(select=[window_start, window_end, item, EXPR$3 AS bids, EXPR$4 AS total], changelogMode=[I])
--=    +- WindowAggregate(groupBy=[item], window=[TUMBLE(time_col=[ts], size=[10 s])], select=[window_start, window_end, item, COUNT(*) AS EXPR$3, SUM(price) AS EXPR$4], changelogMode=[I])
--=       +- Calc(select=[window_start, window_end, item, price, window_time], changelogMode=[I])
--=          +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[10 s])], changelogMode=[I])
--=             +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=                +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price, ts], changelogMode=[I])
--< bids {"item": "a", "price": 1.50, "ts": "2026-01-01 00:00:01.000"}
--< bids {"item": "b", "price": 2.00, "ts": "2026-01-01 00:00:03.000"}
--< bids {"item": "a", "price": 3.25, "ts": "2026-01-01 00:00:09.999"}
--< bids {"item": "a", "price": 9.00, "ts": "2026-01-01 00:00:10.000"}
--! restart
--< bids {"item": "b", "price": 4.00, "ts": "2026-01-01 00:00:14.999"}
--> +I[2026-01-01T00:00, 2026-01-01T00:00:10, a, 2, 4.75]
--> +I[2026-01-01T00:00, 2026-01-01T00:00:10, b, 1, 2.00]
--! end
--> +I[2026-01-01T00:00:10, 2026-01-01T00:00:20, a, 1, 9.00]
--> +I[2026-01-01T00:00:10, 2026-01-01T00:00:20, b, 1, 4.00]
