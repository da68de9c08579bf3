-- Beside DISTINCT stand functions that fail at what they are not given: a name that is NULL, a name twice.
CREATE TABLE bids (item STRING, bidder INT, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (window_end TIMESTAMP(3), item STRING, bidders BIGINT, prices INT, by_bidder STRING, dear STRING, all_prices ARRAY<INT>) WITH ('connector' = 'print');
INSERT INTO answers
SELECT window_end, item, COUNT(DISTINCT bidder), SUM(DISTINCT price),
  JSON_OBJECTAGG(KEY COALESCE(CAST(bidder AS STRING), 'none') VALUE price), LISTAGG(CAST(price AS STRING)) FILTER (WHERE bidder > 0), ARRAY_AGG(price)
FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, item;
--< bids {"item": "a", "bidder": 1, "price": 3, "ts": "2026-01-01 00:00:01"}
--< bids {"item": "a", "bidder": 2, "price": 7, "ts": "2026-01-01 00:00:02"}
--! restart
--< bids {"item": "a", "bidder": null, "price": 7, "ts": "2026-01-01 00:00:04"}
--< bids {"item": "b", "bidder": 1, "price": null, "ts": "2026-01-01 00:00:10"}
--> +I[2026-01-01T00:00:10, a, 2, 10, {"1":3,"2":7,"none":7}, 3,7, [3, 7, 7]]
--! end
--> +I[2026-01-01T00:00:20, b, 1, null, {"1":null}, null, [null]]
