-- MIN and MAX over rows that change find the next value when theirs goes; DISTINCT counts a value until its last row goes; FILTER; lists keep their order.
CREATE TABLE bids (auction INT, category STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (category STRING, least INT, most INT, odd INT, prices BIGINT, total INT, mean INT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT category, MIN(latest), MAX(latest), MAX(latest) FILTER (WHERE MOD(latest, 2) = 1), COUNT(DISTINCT latest), SUM(DISTINCT latest), AVG(DISTINCT latest)
FROM (SELECT auction, category, SUM(price) AS latest FROM bids GROUP BY auction, category) GROUP BY category;
--< bids {"auction": 1, "category": "a", "price": 5}
--< bids {"auction": 2, "category": "a", "price": 5}
--< bids {"auction": 3, "category": "a", "price": null}
--< bids {"auction": 4, "category": "b", "price": null}
--> +I[a, 5, 5, 5, 1, 5, 5] +I[b, null, null, null, 0, null, null]
--< bids {"auction": 3, "category": "a", "price": 8}
--< bids {"auction": 2, "category": "a", "price": -1}
--> -U[a, 5, 5, 5, 1, 5, 5] +U[a, 4, 8, 5, 3, 17, 5]
--! restart
--< bids {"auction": 1, "category": "a", "price": -2}
--< bids {"auction": 3, "category": "a", "price": -5}
--> -U[a, 4, 8, 5, 3, 17, 5] +U[a, 3, 4, 3, 2, 7, 3]
--< bids {"auction": 4, "category": "b", "price": 1}
--> -U[b, null, null, null, 0, null, null] +U[b, 1, 1, 1, 1, 1, 1]
--= Sink(table=[default_catalog.default_database.answers], fields=[category, least, most, odd, prices, total, mean], changelogMode=[I,UB,UA,D])
--= +- Calc(select=[category, EXPR$1 AS least, EXPR$2 AS most, EXPR$3 AS odd, EXPR$4 AS prices, EXPR$5 AS total, EXPR$6 AS mean], changelogMode=[I,UB,UA,D])
--=    +- GroupAggregate(groupBy=[category], select=[category, MIN(latest) AS EXPR$1, MAX(latest) AS EXPR$2, MAX(latest) FILTER (WHERE $f0) AS EXPR$3, COUNT(DISTINCT latest) AS EXPR$4, SUM(DISTINCT latest) AS EXPR$5, AVG(DISTINCT latest) AS EXPR$6], changelogMode=[I,UB,UA,D])
--=       +- Calc(select=[category, latest, (MOD(latest, 2) = 1) AS $f0], changelogMode=[I,UB,UA])
--=          +- GroupAggregate(groupBy=[auction, category], select=[auction, category, SUM(price) AS latest], changelogMode=[I,UB,UA])
--=             +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[auction, category, price], changelogMode=[I])
