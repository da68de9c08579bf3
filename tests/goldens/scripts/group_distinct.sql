-- DISTINCT in an aggregate that is updated as rows come: several arguments, conditions, NULLs, a restart; a value that is known brings nothing.
CREATE TABLE bids (channel STRING, bidder BIGINT, auction STRING, price INT) WITH (
    'connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE counts (
    channel STRING, bids BIGINT, high BIGINT, bidders BIGINT, high_bidders BIGINT, auctions BIGINT, prices BIGINT, mean DOUBLE, lowest INT
) WITH ('connector' = 'print');
INSERT INTO counts
SELECT
    channel,
    COUNT(*) AS bids,
    COUNT(*) FILTER (WHERE price >= 100) AS high,
    COUNT(DISTINCT bidder) AS bidders,
    COUNT(DISTINCT bidder) FILTER (WHERE price >= 100) AS high_bidders,
    COUNT(DISTINCT auction) AS auctions,
    SUM(DISTINCT CAST(price AS BIGINT)) AS prices,
    AVG(DISTINCT CAST(price AS DOUBLE)) AS mean,
    MIN(DISTINCT price) AS lowest
FROM bids
GROUP BY channel;
--= Sink(table=[default_catalog.default_database.counts], fields=[channel, bids, high, bidders, high_bidders, auctions, prices, mean, lowest], changelogMode=[I,UB,UA])
--= +- GroupAggregate(groupBy=[channel], select=[channel, COUNT(*) AS bids, COUNT(*) FILTER (WHERE $f0) AS high, COUNT(DISTINCT bidder) AS bidders, COUNT(DISTINCT bidder) FILTER (WHERE $f0) AS high_bidders, COUNT(DISTINCT auction) AS auctions, SUM(DISTINCT $f1) AS prices, AVG(DISTINCT $f2) AS mean, MIN(DISTINCT price) AS lowest], changelogMode=[I,UB,UA])
--=    +- Calc(select=[channel, (price >= 100) AS $f0, bidder, auction, CAST(price AS BIGINT) AS $f1, CAST(price AS DOUBLE) AS $f2, price], changelogMode=[I])
--=       +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[channel, bidder, auction, price], changelogMode=[I])
--< bids {"channel": "a", "bidder": 1, "auction": "x", "price": 10}
--> +I[a, 1, 0, 1, 0, 1, 10, 10.0, 10]
--< bids {"channel": "a", "bidder": 1, "auction": "y", "price": 100}
--> -U[a, 1, 0, 1, 0, 1, 10, 10.0, 10] +U[a, 2, 1, 1, 1, 2, 110, 55.0, 10]
--< bids {"channel": "a", "bidder": null, "auction": null, "price": null}
--> -U[a, 2, 1, 1, 1, 2, 110, 55.0, 10] +U[a, 3, 1, 1, 1, 2, 110, 55.0, 10]
--< bids {"channel": "a", "bidder": 1, "auction": "y", "price": 100}
--> -U[a, 3, 1, 1, 1, 2, 110, 55.0, 10] +U[a, 4, 2, 1, 1, 2, 110, 55.0, 10]
--< bids {"channel": null, "bidder": 1, "auction": "x", "price": 100}
--> +I[null, 1, 1, 1, 1, 1, 100, 100.0, 100]
--< bids {"channel": "a", "bidder": 2, "auction": "x", "price": 4}
--> -U[a, 4, 2, 1, 1, 2, 110, 55.0, 10] +U[a, 5, 2, 2, 1, 2, 114, 38.0, 4]
