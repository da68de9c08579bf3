-- Every aggregate over rows that only come: plain, DISTINCT, with FILTER, over NULLs only, with sums that wrap.
CREATE TABLE bids (item STRING, price INT, small TINYINT, big BIGINT, amount DECIMAL(10, 2), rate DOUBLE)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (
    item STRING, smalls TINYINT, bigs BIGINT, mean_big BIGINT, mean_amount DECIMAL(38, 6), pop INT, samp INT, v_small TINYINT, v_amount DECIMAL(38, 6), s_rate DOUBLE, v_distinct INT,
    prices STRING, distinct_prices STRING, half DOUBLE, weighted DOUBLE, listed ARRAY<INT>, present ARRAY<INT>, distinct_listed ARRAY<INT>, first_price INT, last_price INT
) WITH ('connector' = 'print');
INSERT INTO answers
SELECT
    item, SUM(small), SUM(big), AVG(big), AVG(amount), STDDEV_POP(price), STDDEV(price), VAR_POP(small), VARIANCE(amount), STDDEV_SAMP(rate), VAR_POP(DISTINCT price),
    LISTAGG(CAST(price AS STRING), ';'), LISTAGG(DISTINCT CAST(price AS STRING)) FILTER (WHERE price > 1), PERCENTILE(price, 0.5), PERCENTILE(price, 0.5, small),
    ARRAY_AGG(price), ARRAY_AGG(price) IGNORE NULLS, ARRAY_AGG(DISTINCT price), FIRST_VALUE(price), LAST_VALUE(price) FILTER (WHERE price > 1)
FROM bids
GROUP BY item;
--= Sink(table=[default_catalog.default_database.answers], fields=[item, smalls, bigs, mean_big, mean_amount, pop, samp, v_small, v_amount, s_rate, v_distinct, prices, distinct_prices, half, weighted, listed, present, distinct_listed, first_price, last_price], changelogMode=[I,UB,UA])
--= +- Calc(select=[item, EXPR$1 AS smalls, EXPR$2 AS bigs, EXPR$3 AS mean_big, EXPR$4 AS mean_amount, EXPR$5 AS pop, EXPR$6 AS samp, EXPR$7 AS v_small, EXPR$8 AS v_amount, EXPR$9 AS s_rate, EXPR$10 AS v_distinct, EXPR$11 AS prices, EXPR$12 AS distinct_prices, EXPR$13 AS half, EXPR$14 AS weighted, EXPR$15 AS listed, EXPR$16 AS present, EXPR$17 AS distinct_listed, EXPR$18 AS first_price, EXPR$19 AS last_price], changelogMode=[I,UB,UA])
--=    +- GroupAggregate(groupBy=[item], select=[item, SUM(small) AS EXPR$1, SUM(big) AS EXPR$2, AVG(big) AS EXPR$3, AVG(amount) AS EXPR$4, STDDEV_POP(price) AS EXPR$5, STDDEV(price) AS EXPR$6, VAR_POP(small) AS EXPR$7, VARIANCE(amount) AS EXPR$8, STDDEV_SAMP(rate) AS EXPR$9, VAR_POP(DISTINCT price) AS EXPR$10, LISTAGG($f0, ';') AS EXPR$11, LISTAGG(DISTINCT $f0) FILTER (WHERE $f1) AS EXPR$12, PERCENTILE(price, 0.5) AS EXPR$13, PERCENTILE(price, 0.5, small) AS EXPR$14, ARRAY_AGG(price) AS EXPR$15, ARRAY_AGG(price) FILTER (WHERE $f2) AS EXPR$16, ARRAY_AGG(DISTINCT price) AS EXPR$17, FIRST_VALUE(price) AS EXPR$18, LAST_VALUE(price) FILTER (WHERE $f1) AS EXPR$19], changelogMode=[I,UB,UA])
--=       +- Calc(select=[item, small, big, amount, price, rate, CAST(price AS STRING) AS $f0, (price > 1) AS $f1, NOT(price IS NULL) AS $f2], changelogMode=[I])
--=          +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price, small, big, amount, rate], changelogMode=[I])
--< bids {"item": "a", "price": 1, "small": 100, "big": 9223372036854775807, "amount": 1.25, "rate": 0.5}
--< bids {"item": "b", "price": null, "small": null, "big": null, "amount": null, "rate": null}
--> +I[a, 100, 9223372036854775807, 9223372036854775807, 1.250000, 0, null, 0, null, null, 0, 1, null, 1.0, 1.0, [1], [1], [1], 1, null]
--> +I[b, null, null, null, null, null, null, null, null, null, null, null, null, null, null, [null], null, [null], null, null]
--! restart
--< bids {"item": "a", "price": null, "small": 100, "big": 5, "amount": 2.50, "rate": 1.5}
--< bids {"item": "a", "price": 4, "small": 1, "big": 3, "amount": 8.00, "rate": 3.5}
--< bids {"item": "a", "price": 4, "small": 2, "big": 3, "amount": 8.00, "rate": 3.5}
--> -U[a, 100, 9223372036854775807, 9223372036854775807, 1.250000, 0, null, 0, null, null, 0, 1, null, 1.0, 1.0, [1], [1], [1], 1, null]
--> +U[a, -53, -9223372036854775798, -2305843009213693949, 4.937500, 1, 1, 121, 12.765625, 1.4999999999999998, 2, 1;4;4, 4, 4.0, 1.0, [1, null, 4, 4], [1, 4, 4], [1, null, 4], 1, 4]
