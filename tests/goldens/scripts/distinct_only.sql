-- Only DISTINCT calls, over all rows, each under a condition of its own: a row that fits none of them makes the group nevertheless.
CREATE TABLE bids (bidder STRING, price INT) WITH (
    'connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE counts (low BIGINT, high BIGINT) WITH ('connector' = 'print');
INSERT INTO counts
SELECT
    COUNT(DISTINCT bidder) FILTER (WHERE price < 100) AS low,
    COUNT(DISTINCT bidder) FILTER (WHERE price >= 100) AS high
FROM bids;
--= Sink(table=[default_catalog.default_database.counts], fields=[low, high], changelogMode=[I,UB,UA])
--= +- GroupAggregate(select=[COUNT(DISTINCT bidder) FILTER (WHERE $f0) AS low, COUNT(DISTINCT bidder) FILTER (WHERE $f1) AS high], changelogMode=[I,UB,UA])
--=    +- Calc(select=[bidder, (price < 100) AS $f0, (price >= 100) AS $f1], changelogMode=[I])
--=       +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[bidder, price], changelogMode=[I])
--< bids {"bidder": "nobody", "price": null}
--> +I[0, 0]
--< bids {"bidder": "čau", "price": 1}
--> -U[0, 0] +U[1, 0]
--< bids {"bidder": "čau", "price": 100}
--> -U[1, 0] +U[1, 1]
--< bids {"bidder": "čau", "price": 1}
--< bids {"bidder": "čau", "price": 100}
--< bids {"bidder": "", "price": 1000}
--> -U[1, 1] +U[1, 2]
