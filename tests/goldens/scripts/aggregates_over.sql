-- Aggregates over frames that rows leave: spreads, percentiles, lists, DISTINCT.
CREATE TABLE bids (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, price INT, pop INT, samp DOUBLE, spread DOUBLE, names STRING, listed ARRAY<INT>) WITH ('connector' = 'print');
INSERT INTO answers
SELECT
    item, price, STDDEV_POP(price) OVER w, ROUND(STDDEV(CAST(price AS DOUBLE)) OVER w, 6), VAR_POP(DISTINCT CAST(price AS DOUBLE)) OVER w,
    LISTAGG(CAST(price AS STRING)) OVER w, ARRAY_AGG(price) OVER w
FROM bids WINDOW w AS (PARTITION BY item ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW);
--< bids {"item": "a", "price": 2, "ts": "2026-01-01 00:00:01"}
--< bids {"item": "a", "price": 6, "ts": "2026-01-01 00:00:02"}
--< bids {"item": "a", "price": 6, "ts": "2026-01-01 00:00:05"}
--> +I[a, 2, 0, null, 0.0, 2, [2]]
--> +I[a, 6, 2, 2.828427, 4.0, 2,6, [2, 6]]
--! restart
--< bids {"item": "a", "price": null, "ts": "2026-01-01 00:00:06"}
--! end
--> +I[a, 6, 1, 2.309401, 4.0, 2,6,6, [2, 6, 6]]
--> +I[a, null, 0, 0.0, 0.0, 6,6, [6, 6, null]]
--= Sink(table=[default_catalog.default_database.answers], fields=[item, price, pop, samp, spread, names, listed], changelogMode=[I])
--= +- Calc(select=[item, price, $over0 AS pop, ROUND($over1, 6) AS samp, $over2 AS spread, $over3 AS names, $over4 AS listed], changelogMode=[I])
--=    +- OverAggregate(partitionBy=[item], orderBy=[ts ASC], window=[ ROWS BETWEEN 2 PRECEDING AND CURRENT ROW], select=[STDDEV_POP(price) AS $over0, STDDEV($o1) AS $over1, VAR_POP(DISTINCT $o1) AS $over2, LISTAGG($o2) AS $over3, ARRAY_AGG(price) AS $over4], changelogMode=[I])
--=       +- Calc(select=[item, price, ts, CAST(price AS DOUBLE) AS $o1, CAST(price AS STRING) AS $o2], changelogMode=[I])
--=          +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '2' SECOND)], changelogMode=[I])
--=             +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price, ts], changelogMode=[I])
