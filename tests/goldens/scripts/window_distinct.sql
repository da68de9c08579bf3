-- DISTINCT of several columns, with conditions, beside plain aggregates.
CREATE TABLE bids (item STRING, bidder INT, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (window_end TIMESTAMP(3), item STRING, n BIGINT, bidders BIGINT, cheap BIGINT, prices INT, average INT, highest INT)
WITH ('connector' = 'print');
INSERT INTO answers
SELECT window_end, item, COUNT(*), COUNT(DISTINCT bidder), COUNT(DISTINCT bidder) FILTER (WHERE price < 5), SUM(DISTINCT price), AVG(DISTINCT price), MAX(DISTINCT price)
FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, item;
--= WindowAggregate(groupBy=[item], window=[TUMBLE(time_col=[ts], size=[10 s])]
--= WindowAggregate(groupBy=[item, $group, $d0, $d1, $d2], window=[TUMBLE(time_col=[ts], size=[10 s])]
--= Expand(
--< bids {"item": "a", "bidder": 1, "price": 3, "ts": "2026-01-01 00:00:01"}
--< bids {"item": "a", "bidder": 1, "price": 7, "ts": "2026-01-01 00:00:02"}
--< bids {"item": "a", "bidder": 2, "price": 7, "ts": "2026-01-01 00:00:03"}
--! restart
--< bids {"item": "a", "bidder": null, "price": 3, "ts": "2026-01-01 00:00:04"}
--< bids {"item": null, "bidder": null, "price": null, "ts": "2026-01-01 00:00:05"}
--< bids {"item": "b", "bidder": 1, "price": 1, "ts": "2026-01-01 00:00:10"}
--> +I[2026-01-01T00:00:10, a, 4, 2, 1, 10, 5, 7]
--> +I[2026-01-01T00:00:10, null, 1, 0, 0, null, null, null]
--! end
--> +I[2026-01-01T00:00:20, b, 1, 1, 1, 1, 1, 1]
