-- Grouping sets over windows: a key that is also aggregated keeps its values there; GROUPING tells a set's NULL from one of the data.
CREATE TABLE bids (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (window_end TIMESTAMP(3), item STRING, price INT, n BIGINT, total INT, g BIGINT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT window_end, item, price, COUNT(*), SUM(price), GROUPING(item, price)
FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, GROUPING SETS ((item), (item, price), ());
--= WindowAggregate(groupBy=[$k
--= Expand(
--< bids {"item": "a", "price": 3, "ts": "2026-01-01 00:00:01"}
--< bids {"item": "a", "price": 7, "ts": "2026-01-01 00:00:02"}
--< bids {"item": null, "price": 7, "ts": "2026-01-01 00:00:03"}
--< bids {"item": "b", "price": 1, "ts": "2026-01-01 00:00:10"}
--> +I[2026-01-01T00:00:10, a, 3, 1, 3, 0]
--> +I[2026-01-01T00:00:10, a, 7, 1, 7, 0]
--> +I[2026-01-01T00:00:10, null, 7, 1, 7, 0]
--> +I[2026-01-01T00:00:10, a, null, 2, 10, 1]
--> +I[2026-01-01T00:00:10, null, null, 1, 7, 1]
--> +I[2026-01-01T00:00:10, null, null, 3, 17, 3]
--! end
--> +I[2026-01-01T00:00:20, b, 1, 1, 1, 0]
--> +I[2026-01-01T00:00:20, b, null, 1, 1, 1]
--> +I[2026-01-01T00:00:20, null, null, 1, 1, 3]
