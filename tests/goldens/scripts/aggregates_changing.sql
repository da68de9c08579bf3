-- Every aggregate over rows that change and go: plain, DISTINCT, with FILTER.
CREATE TABLE bids (auction INT, category STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (
    category STRING, n BIGINT, dn BIGINT, total INT, dtotal INT, average INT, least INT, most INT,
    pop INT, samp INT, vpop DOUBLE, vdist DOUBLE, vfilter DECIMAL(38, 6), names STRING, dnames STRING, half DOUBLE, halves ARRAY<DOUBLE>, listed ARRAY<INT>
) WITH ('connector' = 'print');
INSERT INTO answers
SELECT
    category, COUNT(x), COUNT(DISTINCT x) FILTER (WHERE x > 0), SUM(x) FILTER (WHERE x > 0), SUM(DISTINCT x), AVG(x), MIN(x) FILTER (WHERE x > 0), MAX(DISTINCT x),
    STDDEV_POP(x), STDDEV_SAMP(x), VAR_POP(CAST(x AS DOUBLE)), VAR_POP(DISTINCT CAST(x AS DOUBLE)), VAR_SAMP(CAST(x AS DECIMAL(10, 2))) FILTER (WHERE x > 0),
    LISTAGG(CAST(x AS STRING)), LISTAGG(DISTINCT CAST(x AS STRING), '|'), PERCENTILE(x, 0.5), PERCENTILE(x, ARRAY[0.0, 1.0]), ARRAY_AGG(x IGNORE NULLS)
FROM (SELECT auction, category, SUM(price) AS x FROM bids GROUP BY auction, category HAVING COALESCE(SUM(price), 1) > 0)
GROUP BY category;
--= Sink(table=[default_catalog.default_database.answers], fields=[category, n, dn, total, dtotal, average, least, most, pop, samp, vpop, vdist, vfilter, names, dnames, half, halves, listed], changelogMode=[I,UB,UA,D])
--= +- Calc(select=[category, EXPR$1 AS n, EXPR$2 AS dn, EXPR$3 AS total, EXPR$4 AS dtotal, EXPR$5 AS average, EXPR$6 AS least, EXPR$7 AS most, EXPR$8 AS pop, EXPR$9 AS samp, EXPR$10 AS vpop, EXPR$11 AS vdist, EXPR$12 AS vfilter, EXPR$13 AS names, EXPR$14 AS dnames, EXPR$15 AS half, EXPR$16 AS halves, EXPR$17 AS listed], changelogMode=[I,UB,UA,D])
--=    +- GroupAggregate(groupBy=[category], select=[category, COUNT(x) AS EXPR$1, COUNT(DISTINCT x) FILTER (WHERE $f0) AS EXPR$2, SUM(x) FILTER (WHERE $f0) AS EXPR$3, SUM(DISTINCT x) AS EXPR$4, AVG(x) AS EXPR$5, MIN(x) FILTER (WHERE $f0) AS EXPR$6, MAX(DISTINCT x) AS EXPR$7, STDDEV_POP(x) AS EXPR$8, STDDEV_SAMP(x) AS EXPR$9, VAR_POP($f1) AS EXPR$10, VAR_POP(DISTINCT $f1) AS EXPR$11, VAR_SAMP($f2) FILTER (WHERE $f0) AS EXPR$12, LISTAGG($f3) AS EXPR$13, LISTAGG(DISTINCT $f3, '|') AS EXPR$14, PERCENTILE(x, 0.5) AS EXPR$15, PERCENTILE(x, ARRAY(0.0, 1.0)) AS EXPR$16, ARRAY_AGG(x) FILTER (WHERE $f4) AS EXPR$17], changelogMode=[I,UB,UA,D])
--=       +- Calc(select=[category, x, (x > 0) AS $f0, CAST(x AS DOUBLE) AS $f1, CAST(x AS DECIMAL(10, 2)) AS $f2, CAST(x AS STRING) AS $f3, NOT(x IS NULL) AS $f4], changelogMode=[I,UB,UA])
--=          +- Calc(where=[(COALESCE(x, 1) > 0)], changelogMode=[I,UB,UA])
--=             +- GroupAggregate(groupBy=[auction, category], select=[auction, category, SUM(price) AS x], changelogMode=[I,UB,UA])
--=                +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[auction, category, price], changelogMode=[I])
--< bids {"auction": 1, "category": "a", "price": 4}
--< bids {"auction": 2, "category": "b", "price": null}
--> +I[a, 1, 1, 4, 4, 4, 4, 4, 0, null, 0.0, 0.0, null, 4, 4, 4.0, [4.0, 4.0], [4]]
--> +I[b, 0, 0, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null]
--< bids {"auction": 2, "category": "a", "price": 8}
--> -U[a, 1, 1, 4, 4, 4, 4, 4, 0, null, 0.0, 0.0, null, 4, 4, 4.0, [4.0, 4.0], [4]]
--> +U[a, 2, 2, 12, 12, 6, 4, 8, 2, 2, 4.0, 4.0, 8.000000, 4,8, 4|8, 6.0, [4.0, 8.0], [4, 8]]
--< bids {"auction": 3, "category": "a", "price": 8}
--> -U[a, 2, 2, 12, 12, 6, 4, 8, 2, 2, 4.0, 4.0, 8.000000, 4,8, 4|8, 6.0, [4.0, 8.0], [4, 8]]
--> +U[a, 3, 2, 20, 12, 6, 4, 8, 1, 2, 3.555555555555556, 4.0, 5.333333, 4,8,8, 4|8, 8.0, [4.0, 8.0], [4, 8, 8]]
--! restart
--< bids {"auction": 3, "category": "a", "price": -9}
--< bids {"auction": 2, "category": "b", "price": -9}
--> -U[a, 3, 2, 20, 12, 6, 4, 8, 1, 2, 3.555555555555556, 4.0, 5.333333, 4,8,8, 4|8, 8.0, [4.0, 8.0], [4, 8, 8]]
--> +U[a, 2, 2, 12, 12, 6, 4, 8, 2, 2, 4.0, 4.0, 8.000000, 4,8, 4|8, 6.0, [4.0, 8.0], [4, 8]]
--> -D[b, 0, 0, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null]
--< bids {"auction": 1, "category": "a", "price": 2}
--> -U[a, 2, 2, 12, 12, 6, 4, 8, 2, 2, 4.0, 4.0, 8.000000, 4,8, 4|8, 6.0, [4.0, 8.0], [4, 8]]
--> +U[a, 2, 2, 14, 14, 7, 6, 8, 1, 1, 1.0, 1.0, 2.000000, 8,6, 8|6, 7.0, [6.0, 8.0], [8, 6]]
