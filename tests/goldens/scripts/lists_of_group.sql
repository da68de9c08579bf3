-- Functions that no row can be taken away from are computed anew of what is left.
CREATE TABLE bids (auction INT, category STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (category STRING, firsts STRING, names STRING, auctions BIGINT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT category, FIRST_VALUE(name), LISTAGG(name), COUNT(*) FROM (SELECT auction, category, CAST(MAX(price) AS STRING) AS name FROM bids GROUP BY auction, category) GROUP BY category;
--< bids {"auction": 1, "category": "a", "price": 5}
--> +I[a, 5, 5, 1]
--< bids {"auction": 2, "category": "a", "price": 6}
--> -U[a, 5, 5, 1] +U[a, 5, 5,6, 2]
--! restart
--< bids {"auction": 1, "category": "a", "price": 7}
--> -U[a, 5, 5,6, 2] +U[a, 6, 6,7, 2]
--= Sink(table=[default_catalog.default_database.answers], fields=[category, firsts, names, auctions], changelogMode=[I,UB,UA,D])
--= +- Calc(select=[category, EXPR$1 AS firsts, EXPR$2 AS names, EXPR$3 AS auctions], changelogMode=[I,UB,UA,D])
--=    +- GroupAggregate(groupBy=[category], select=[category, FIRST_VALUE(name) AS EXPR$1, LISTAGG(name) AS EXPR$2, COUNT(*) AS EXPR$3], changelogMode=[I,UB,UA,D])
--=       +- Calc(select=[category, CAST($agg0 AS STRING) AS name], changelogMode=[I,UB,UA])
--=          +- GroupAggregate(groupBy=[auction, category], select=[auction, category, MAX(price) AS $agg0], changelogMode=[I,UB,UA])
--=             +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[auction, category, price], changelogMode=[I])
