-- Aggregates of windows: spreads, percentiles, lists, with DISTINCT and FILTER.
CREATE TABLE bids (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (
    item STRING, window_start TIMESTAMP(3), pop INT, samp DOUBLE, spread DOUBLE, half DOUBLE, names STRING, distinct_names STRING, listed ARRAY<INT>, copies BIGINT
) WITH ('connector' = 'print');
INSERT INTO answers
SELECT
    item, window_start, STDDEV_POP(price), STDDEV(CAST(price AS DOUBLE)) FILTER (WHERE price > 2), VAR_POP(DISTINCT CAST(price AS DOUBLE)), PERCENTILE(price, 0.5),
    LISTAGG(CAST(price AS STRING), '|'), LISTAGG(DISTINCT CAST(price AS STRING)), ARRAY_AGG(price), COUNT(DISTINCT price)
FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY item, window_start, window_end;
--< bids {"item": "a", "price": 2, "ts": "2026-01-01 00:00:01"}
--< bids {"item": "a", "price": 6, "ts": "2026-01-01 00:00:02"}
--< bids {"item": "a", "price": 6, "ts": "2026-01-01 00:00:05"}
--< bids {"item": "b", "price": null, "ts": "2026-01-01 00:00:05"}
--! restart
--< bids {"item": "a", "price": 1, "ts": "2026-01-01 00:00:22"}
--> +I[a, 2026-01-01T00:00, 1, 0.0, 4.0, 6.0, 2|6|6, 2,6, [2, 6, 6], 2]
--> +I[b, 2026-01-01T00:00, null, null, null, null, null, null, [null], 0]
--<late bids {"item": "a", "price": 100, "ts": "2026-01-01 00:00:03"}
--! end
--> +I[a, 2026-01-01T00:00:20, 0, null, 0.0, 1.0, 1, 1, [1], 1]
--= Sink(table=[default_catalog.default_database.answers], fields=[item, window_start, pop, samp, spread, half, names, distinct_names, listed, copies], changelogMode=[I])
--= +- Calc(select=[item, window_start, EXPR$2 AS pop, EXPR$3 AS samp, EXPR$4 AS spread, EXPR$5 AS half, EXPR$6 AS names, EXPR$7 AS distinct_names, EXPR$8 AS listed, EXPR$9 AS copies], changelogMode=[I])
--=    +- WindowAggregate(groupBy=[item], window=[TUMBLE(time_col=[ts], size=[10 s])], select=[item, window_start, window_end, FIRST_VALUE(EXPR$2) FILTER (WHERE $plain) AS EXPR$2, FIRST_VALUE(EXPR$3) FILTER (WHERE $plain) AS EXPR$3, VAR_POP($v1) AS EXPR$4, FIRST_VALUE(EXPR$5) FILTER (WHERE $plain) AS EXPR$5, FIRST_VALUE(EXPR$6) FILTER (WHERE $plain) AS EXPR$6, FIRST_VALUE(EXPR$7) FILTER (WHERE $plain) AS EXPR$7, FIRST_VALUE(EXPR$8) FILTER (WHERE $plain) AS EXPR$8, COUNT($v2) AS EXPR$9], changelogMode=[I])
--=       +- Calc(select=[item, window_start, window_end, window_time, EXPR$2, EXPR$3, EXPR$5, EXPR$6, EXPR$7, EXPR$8, ($group = 0) AS $plain, CASE WHEN ($group = 1) THEN $d0 ELSE NULL END AS $v1, CASE WHEN ($group = 2) THEN $d1 ELSE NULL END AS $v2], changelogMode=[I])
--=          +- WindowAggregate(groupBy=[item, $group, $d0, $d1], window=[TUMBLE(time_col=[ts], size=[10 s])], select=[item, window_start, window_end, window_time, $group, $d0, $d1, STDDEV_POP(price) AS EXPR$2, STDDEV($f0) FILTER (WHERE $f1) AS EXPR$3, PERCENTILE(price, 0.5) FILTER (WHERE ($group = 0)) AS EXPR$5, LISTAGG($f2, '|') FILTER (WHERE ($group = 0)) AS EXPR$6, LISTAGG(DISTINCT $f2) FILTER (WHERE ($group = 0)) AS EXPR$7, ARRAY_AGG(price) FILTER (WHERE ($group = 0)) AS EXPR$8], changelogMode=[I])
--=             +- Expand(projects=[{item, window_start, window_end, window_time, 0 AS $group, price, $f0, $f1, $f2, NULL AS $d0, NULL AS $d1}, {item, window_start, window_end, window_time, 1 AS $group, NULL AS price, NULL AS $f0, NULL AS $f1, NULL AS $f2, $f0 AS $d0, NULL AS $d1}, {item, window_start, window_end, window_time, 2 AS $group, NULL AS price, NULL AS $f0, NULL AS $f1, NULL AS $f2, NULL AS $d0, price AS $d1}], changelogMode=[I])
--=                +- Calc(select=[item, window_start, window_end, price, CAST(price AS DOUBLE) AS $f0, (price > 2) AS $f1, CAST(price AS STRING) AS $f2, window_time], changelogMode=[I])
--=                   +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[10 s])], changelogMode=[I])
--=                      +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '2' SECOND)], changelogMode=[I])
--=                         +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price, ts], changelogMode=[I])
