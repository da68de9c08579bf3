-- Top-N outside of windows with the rank: a row that comes in moves those behind it. Of equal rows the earlier is first; NULL is least.
CREATE TABLE bids (item STRING, bidder STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, place BIGINT, bidder STRING, price INT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT item, place, bidder, price FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY price DESC) AS place FROM bids) WHERE place <= 2;
--= Sink(table=[default_catalog.default_database.answers], fields=[item, place, bidder, price], changelogMode=[I,UB,UA,D])
--= +- Calc(select=[item, $over0 AS place, bidder, price], changelogMode=[I,UB,UA,D])
--=    +- Rank(rankRange=[rankStart=1, rankEnd=2], partitionBy=[item], orderBy=[price DESC], changelogMode=[I,UB,UA,D])
--=       +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, bidder, price], changelogMode=[I])
--< bids {"item": "a", "bidder": "x", "price": 5}
--< bids {"item": "a", "bidder": "y", "price": null}
--< bids {"item": null, "bidder": "x", "price": 1}
--> +I[a, 1, x, 5] +I[a, 2, y, null] +I[null, 1, x, 1]
--< bids {"item": "a", "bidder": "z", "price": 7}
--> -U[a, 1, x, 5] +U[a, 1, z, 7] -U[a, 2, y, null] +U[a, 2, x, 5]
--! restart
--< bids {"item": "a", "bidder": "w", "price": 5}
--< bids {"item": "a", "bidder": "w", "price": 4}
--< bids {"item": "a", "bidder": "v", "price": 7}
--> -U[a, 2, x, 5] +U[a, 2, v, 7]
