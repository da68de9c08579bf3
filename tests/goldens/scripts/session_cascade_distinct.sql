-- DISTINCT over sessions that an aggregate below has closed; sums of DECIMALs keep all of their digits.
CREATE TABLE bids (item STRING, price DECIMAL(10, 8), ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (s TIMESTAMP(3), e TIMESTAMP(3), n BIGINT, counts BIGINT, total DECIMAL(38, 8)) WITH ('connector' = 'print');
INSERT INTO answers
SELECT window_start, window_end, COUNT(*), COUNT(DISTINCT n), MAX(total)
FROM (
    SELECT item, window_start, window_end, window_time, COUNT(*) AS n, SUM(DISTINCT price) AS total
    FROM TABLE(SESSION(TABLE bids PARTITION BY item, DESCRIPTOR(ts), INTERVAL '10' SECOND))
    GROUP BY item, window_start, window_end, window_time
)
GROUP BY window_start, window_end;
--< bids {"item": "a", "price": 1.00000001, "ts": "2026-01-01 00:00:00"}
--< bids {"item": "b", "price": 2.00000001, "ts": "2026-01-01 00:00:00"}
--< bids {"item": "a", "price": 1.00000002, "ts": "2026-01-01 00:00:05"}
--< bids {"item": "b", "price": 1.00000001, "ts": "2026-01-01 00:00:05"}
--< bids {"item": "c", "price": 1.00000001, "ts": "2026-01-01 00:00:00"}
--< bids {"item": "c", "price": 1.00000001, "ts": "2026-01-01 00:00:01"}
--! end
--> +I[2026-01-01T00:00, 2026-01-01T00:00:15, 2, 1, 3.00000002] +I[2026-01-01T00:00, 2026-01-01T00:00:11, 1, 1, 1.00000001]
