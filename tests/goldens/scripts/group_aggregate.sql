-- A group aggregate without a window updates its result: -U takes the earlier row of the key back, +U gives the new one.
CREATE TABLE bids (item STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, bids BIGINT, total INT) WITH ('connector' = 'print');
INSERT INTO answers SELECT item, COUNT(price), SUM(price) FROM bids GROUP BY item;
--= Sink(table=[default_catalog.default_database.answers], fields=[item, bids, total], changelogMode=[I,UB,UA])
--= +- Calc(select=[item, EXPR$1 AS bids, EXPR$2 AS total], changelogMode=[I,UB,UA])
--=    +- GroupAggregate(groupBy=[item], select=[item, COUNT(price) AS EXPR$1, SUM(price) AS EXPR$2], changelogMode=[I,UB,UA])
--=       +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price], changelogMode=[I])
--< bids {"item": "a", "price": 6}
--< bids {"item": null, "price": 1}
--> +I[a, 1, 6] +I[null, 1, 1]
--< bids {"item": "a", "price": null}
--< bids {"item": "a", "price": 2}
--> -U[a, 1, 6] +U[a, 2, 8]
--! restart
--< bids {"item": "a", "price": 1}
--> -U[a, 2, 8] +U[a, 3, 9]
