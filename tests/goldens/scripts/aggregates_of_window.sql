-- Aggregates of windows: spreads, percentiles, lists, with DISTINCT and FILTER.
CREATE TABLE bids (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (
    item STRING, window_start TIMESTAMP(3), pop INT, samp DOUBLE, spread DOUBLE, half DOUBLE, names STRING, distinct_names STRING, listed ARRAY<INT>, copies BIGINT
) WITH ('connector' = 'print');
INSERT INTO answers
SELECT
    item, window_start, STDDEV_POP(price), STDDEV(CAST(price AS DOUBLE)) FILTER (WHERE price > 2), VAR_POP(DISTINCT CAST(price AS DOUBLE)), PERCENTILE(price, 0.5),
    LISTAGG(CAST(price AS STRING), '|'), LISTAGG(DISTINCT CAST(price AS STRING)), ARRAY_AGG(price), COUNT(DISTINCT price)
FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY item, window_start, window_end;
--< bids {"item": "a", "price": 2, "ts": "2026-01-01 00:00:01"}
--< bids {"item": "a", "price": 6, "ts": "2026-01-01 00:00:02"}
--< bids {"item": "a", "price": 6, "ts": "2026-01-01 00:00:05"}
--< bids {"item": "b", "price": null, "ts": "2026-01-01 00:00:05"}
--! restart
--< bids {"item": "a", "price": 1, "ts": "2026-01-01 00:00:22"}
--> +I[a, 2026-01-01T00:00, 1, 0.0, 4.0, 6.0, 2|6|6, 2,6, [2, 6, 6], 2]
--> +I[b, 2026-01-01T00:00, null, null, null, null, null, null, [null], 0]
--<late bids {"item": "a", "price": 100, "ts": "2026-01-01 00:00:03"}
--! end
--> +I[a, 2026-01-01T00:00:20, 0, null, 0.0, 1.0, 1, 1, [1], 1]
