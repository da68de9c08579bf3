-- An aggregate over an aggregate: what a group below was is taken away from its group above, which goes with its last row.
CREATE TABLE bids (auction INT, category STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (best INT, auctions BIGINT, total INT, average INT, spread DOUBLE) WITH ('connector' = 'print');
INSERT INTO answers
SELECT best, COUNT(*), SUM(auction), AVG(auction), VAR_POP(CAST(auction AS DOUBLE)) FROM (SELECT auction, MAX(price) AS best FROM bids GROUP BY auction) GROUP BY best;
--= Sink(table=[default_catalog.default_database.answers], fields=[best, auctions, total, average, spread], changelogMode=[I,UB,UA,D])
--= +- Calc(select=[best, EXPR$1 AS auctions, EXPR$2 AS total, EXPR$3 AS average, EXPR$4 AS spread], changelogMode=[I,UB,UA,D])
--=    +- GroupAggregate(groupBy=[best], select=[best, COUNT(*) AS EXPR$1, SUM(auction) AS EXPR$2, AVG(auction) AS EXPR$3, VAR_POP($f0) AS EXPR$4], changelogMode=[I,UB,UA,D])
--=       +- Calc(select=[best, auction, CAST(auction AS DOUBLE) AS $f0], changelogMode=[I,UB,UA])
--=          +- GroupAggregate(groupBy=[auction], select=[auction, MAX(price) AS best], changelogMode=[I,UB,UA])
--=             +- Calc(select=[auction, price], changelogMode=[I])
--=                +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[auction, category, price], changelogMode=[I])
--< bids {"auction": 1, "price": 5}
--< bids {"auction": 2, "price": 5}
--< bids {"auction": 3, "price": null}
--> +I[5, 2, 3, 1, 0.25] +I[null, 1, 3, 3, 0.0]
--< bids {"auction": 2, "price": 7}
--> -U[5, 2, 3, 1, 0.25] +U[5, 1, 1, 1, 0.0] +I[7, 1, 2, 2, 0.0]
--! restart
--< bids {"auction": 1, "price": 7}
--< bids {"auction": 3, "price": 7}
--> -D[5, 1, 1, 1, 0.0] -D[null, 1, 3, 3, 0.0] -U[7, 1, 2, 2, 0.0] +U[7, 3, 6, 2, 0.6666666666666666]
--< bids {"auction": 1, "price": 3}
