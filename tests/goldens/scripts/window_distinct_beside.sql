-- Beside DISTINCT stand functions that fail at what they are not given: a name that is NULL, a name twice.
CREATE TABLE bids (item STRING, bidder INT, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (window_end TIMESTAMP(3), item STRING, bidders BIGINT, prices INT, by_bidder STRING, dear STRING, all_prices ARRAY<INT>) WITH ('connector' = 'print');
INSERT INTO answers
SELECT window_end, item, COUNT(DISTINCT bidder), SUM(DISTINCT price),
  JSON_OBJECTAGG(KEY COALESCE(CAST(bidder AS STRING), 'none') VALUE price), LISTAGG(CAST(price AS STRING)) FILTER (WHERE bidder > 0), ARRAY_AGG(price)
FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, item;
--< bids {"item": "a", "bidder": 1, "price": 3, "ts": "2026-01-01 00:00:01"}
--< bids {"item": "a", "bidder": 2, "price": 7, "ts": "2026-01-01 00:00:02"}
--! restart
--< bids {"item": "a", "bidder": null, "price": 7, "ts": "2026-01-01 00:00:04"}
--< bids {"item": "b", "bidder": 1, "price": null, "ts": "2026-01-01 00:00:10"}
--> +I[2026-01-01T00:00:10, a, 2, 10, {"1":3,"2":7,"none":7}, 3,7, [3, 7, 7]]
--! end
--> +I[2026-01-01T00:00:20, b, 1, null, {"1":null}, null, [null]]
--= Sink(table=[default_catalog.default_database.answers], fields=[window_end, item, bidders, prices, by_bidder, dear, all_prices], changelogMode=[I])
--= +- Calc(select=[window_end, item, EXPR$2 AS bidders, EXPR$3 AS prices, EXPR$4 AS by_bidder, EXPR$5 AS dear, EXPR$6 AS all_prices], changelogMode=[I])
--=    +- WindowAggregate(groupBy=[item], window=[TUMBLE(time_col=[ts], size=[10 s])], select=[window_start, window_end, item, COUNT($v1) AS EXPR$2, SUM($v2) AS EXPR$3, FIRST_VALUE(EXPR$4) FILTER (WHERE $plain) AS EXPR$4, FIRST_VALUE(EXPR$5) FILTER (WHERE $plain) AS EXPR$5, FIRST_VALUE(EXPR$6) FILTER (WHERE $plain) AS EXPR$6], changelogMode=[I])
--=       +- Calc(select=[window_start, window_end, item, window_time, EXPR$4, EXPR$5, EXPR$6, ($group = 0) AS $plain, CASE WHEN ($group = 1) THEN $d0 ELSE NULL END AS $v1, CASE WHEN ($group = 2) THEN $d1 ELSE NULL END AS $v2], changelogMode=[I])
--=          +- WindowAggregate(groupBy=[item, $group, $d0, $d1], window=[TUMBLE(time_col=[ts], size=[10 s])], select=[window_start, window_end, item, window_time, $group, $d0, $d1, JSON_OBJECTAGG($f0, $f1) FILTER (WHERE ($group = 0)) AS EXPR$4, LISTAGG($f2) FILTER (WHERE ($f3 AND ($group = 0))) AS EXPR$5, ARRAY_AGG(price) FILTER (WHERE ($group = 0)) AS EXPR$6], changelogMode=[I])
--=             +- Expand(projects=[{window_start, window_end, item, window_time, 0 AS $group, $f0, $f1, $f2, $f3, price, NULL AS $d0, NULL AS $d1}, {window_start, window_end, item, window_time, 1 AS $group, NULL AS $f0, NULL AS $f1, NULL AS $f2, NULL AS $f3, NULL AS price, bidder AS $d0, NULL AS $d1}, {window_start, window_end, item, window_time, 2 AS $group, NULL AS $f0, NULL AS $f1, NULL AS $f2, NULL AS $f3, NULL AS price, NULL AS $d0, price AS $d1}], changelogMode=[I])
--=                +- Calc(select=[window_start, window_end, item, bidder, price, COALESCE(CAST(bidder AS STRING), 'none') AS $f0, JSON_STRING(price) AS $f1, CAST(price AS STRING) AS $f2, (bidder > 0) AS $f3, window_time], changelogMode=[I])
--=                   +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[10 s])], changelogMode=[I])
--=                      +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=                         +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, bidder, price, ts], changelogMode=[I])
