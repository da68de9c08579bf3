-- Bids of each of ten thousand keys in windows of ten seconds: no Nexmark query, but what a state with few keys costs.
CREATE TABLE count_by_10k (k BIGINT, window_start TIMESTAMP(3), window_end TIMESTAMP(3), bids BIGINT) WITH (${SINK});

INSERT INTO count_by_10k
SELECT MOD(price, 10000) AS k, window_start, window_end, COUNT(*) AS bids
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
GROUP BY MOD(price, 10000), window_start, window_end;
