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
--= GroupAggregate(groupBy=[item], select=[item, SUM(small) AS
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
