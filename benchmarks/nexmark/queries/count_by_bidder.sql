-- Bids of each bidder in windows of ten seconds (no query of Nexmark's).
CREATE TABLE count_by_bidder (
    bidder BIGINT, window_start TIMESTAMP(3), window_end TIMESTAMP(3), bids BIGINT
) WITH (${SINK});

INSERT INTO count_by_bidder
SELECT bidder, window_start, window_end, COUNT(*) AS bids
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
GROUP BY bidder, window_start, window_end;
