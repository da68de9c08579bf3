-- DISTINCT of several columns, with conditions, beside plain aggregates.
CREATE TABLE bids (item STRING, bidder INT, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (window_end TIMESTAMP(3), item STRING, n BIGINT, bidders BIGINT, cheap BIGINT, prices INT, average INT, highest INT)
WITH ('connector' = 'print');
INSERT INTO answers
SELECT window_end, item, COUNT(*), COUNT(DISTINCT bidder), COUNT(DISTINCT bidder) FILTER (WHERE price < 5), SUM(DISTINCT price), AVG(DISTINCT price), MAX(DISTINCT price)
FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, item;
--= Sink(table=[default_catalog.default_database.answers], fields=[window_end, item, n, bidders, cheap, prices, average, highest], changelogMode=[I])
--= +- Calc(select=[window_end, item, EXPR$2 AS n, EXPR$3 AS bidders, EXPR$4 AS cheap, EXPR$5 AS prices, EXPR$6 AS average, EXPR$7 AS highest], changelogMode=[I])
--=    +- WindowAggregate(groupBy=[item], window=[TUMBLE(time_col=[ts], size=[10 s])], select=[window_start, window_end, item, FIRST_VALUE(EXPR$2) FILTER (WHERE $plain) AS EXPR$2, COUNT($v1) AS EXPR$3, COUNT($v2) AS EXPR$4, SUM($v3) AS EXPR$5, AVG($v3) AS EXPR$6, FIRST_VALUE(EXPR$7) FILTER (WHERE $plain) AS EXPR$7], changelogMode=[I])
--=       +- Calc(select=[window_start, window_end, item, window_time, EXPR$2, EXPR$7, ($group = 0) AS $plain, CASE WHEN ($group = 1) THEN $d0 ELSE NULL END AS $v1, CASE WHEN ($group = 2) THEN $d1 ELSE NULL END AS $v2, CASE WHEN ($group = 3) THEN $d2 ELSE NULL END AS $v3], changelogMode=[I])
--=          +- WindowAggregate(groupBy=[item, $group, $d0, $d1, $d2], window=[TUMBLE(time_col=[ts], size=[10 s])], select=[window_start, window_end, item, window_time, $group, $d0, $d1, $d2, COUNT(*) AS EXPR$2, MAX(price) AS EXPR$7], changelogMode=[I])
--=             +- Expand(projects=[{window_start, window_end, item, window_time, 0 AS $group, price, NULL AS $d0, NULL AS $d1, NULL AS $d2}, {window_start, window_end, item, window_time, 1 AS $group, NULL AS price, bidder AS $d0, NULL AS $d1, NULL AS $d2}, {window_start, window_end, item, window_time, 2 AS $group, NULL AS price, NULL AS $d0, CASE WHEN $f0 THEN bidder ELSE NULL END AS $d1, NULL AS $d2}, {window_start, window_end, item, window_time, 3 AS $group, NULL AS price, NULL AS $d0, NULL AS $d1, price AS $d2}], changelogMode=[I])
--=                +- Calc(select=[window_start, window_end, item, bidder, (price < 5) AS $f0, price, window_time], changelogMode=[I])
--=                   +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[10 s])], changelogMode=[I])
--=                      +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=                         +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, bidder, price, ts], changelogMode=[I])
--< bids {"item": "a", "bidder": 1, "price": 3, "ts": "2026-01-01 00:00:01"}
--< bids {"item": "a", "bidder": 1, "price": 7, "ts": "2026-01-01 00:00:02"}
--< bids {"item": "a", "bidder": 2, "price": 7, "ts": "2026-01-01 00:00:03"}
--! restart
--< bids {"item": "a", "bidder": null, "price": 3, "ts": "2026-01-01 00:00:04"}
--< bids {"item": null, "bidder": null, "price": null, "ts": "2026-01-01 00:00:05"}
--< bids {"item": "b", "bidder": 1, "price": 1, "ts": "2026-01-01 00:00:10"}
--> +I[2026-01-01T00:00:10, a, 4, 2, 1, 10, 5, 7]
--> +I[2026-01-01T00:00:10, null, 1, 0, 0, null, null, null]
--! end
--> +I[2026-01-01T00:00:20, b, 1, 1, 1, 1, 1, 1]
