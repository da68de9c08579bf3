--! ordered
-- By the time at which rows come: each row at once, with those before it.
CREATE TABLE bids (item STRING, price INT, at_ AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, price INT, total INT, before INT, distinct_prices BIGINT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT item, price, total, before, COUNT(DISTINCT price) OVER (PARTITION BY item ORDER BY at_ ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
FROM (SELECT *, SUM(price) OVER w AS total, LAG(price) OVER w AS before FROM bids WINDOW w AS (PARTITION BY item ORDER BY at_));
--= Sink(table=[default_catalog.default_database.answers], fields=[item, price, total, before, distinct_prices], changelogMode=[I])
--= +- Calc(select=[item, price, total, before, $over0 AS distinct_prices], changelogMode=[I])
--=    +- OverAggregate(partitionBy=[item], orderBy=[at_ ASC], window=[ ROWS BETWEEN 1 PRECEDING AND CURRENT ROW], select=[COUNT(DISTINCT price) AS $over0], changelogMode=[I])
--=       +- Calc(select=[item, price, $over0 AS total, $over1 AS before, at_], changelogMode=[I])
--=          +- OverAggregate(partitionBy=[item], orderBy=[at_ ASC], window=[ RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW], select=[SUM(price) AS $over0, LAG(price) AS $over1], changelogMode=[I])
--=             +- Calc(select=[item, price, PROCTIME() AS at_], changelogMode=[I])
--=                +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price], changelogMode=[I])
--< bids {"item": "a", "price": 7}
--< bids {"item": "a", "price": 3}
--< bids {"item": null, "price": 1}
--> +I[a, 7, 7, null, 1] +I[a, 3, 10, 7, 2] +I[null, 1, 1, null, 1]
--! restart
--< bids {"item": "a", "price": 3}
--< bids {"item": "a", "price": null}
--> +I[a, 3, 13, 3, 1] +I[a, null, 13, 3, 1]
