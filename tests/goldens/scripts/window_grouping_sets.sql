-- Grouping sets over windows: a key that is also aggregated keeps its values there; GROUPING tells a set's NULL from one of the data.
CREATE TABLE bids (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (window_end TIMESTAMP(3), item STRING, price INT, n BIGINT, total INT, g BIGINT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT window_end, item, price, COUNT(*), SUM(price), GROUPING(item, price)
FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, GROUPING SETS ((item), (item, price), ());
--= Sink(table=[default_catalog.default_database.answers], fields=[window_end, item, price, n, total, g], changelogMode=[I])
--= +- Calc(select=[window_end, $k1 AS item, $k2 AS price, EXPR$3 AS n, EXPR$4 AS total, CASE WHEN ($e0 = 0) THEN 1 WHEN ($e0 = 1) THEN 0 ELSE 3 END AS g], changelogMode=[I])
--=    +- WindowAggregate(groupBy=[$k1, $k2, $e0], window=[TUMBLE(time_col=[ts], size=[10 s])], select=[window_start, window_end, $k1, $k2, $e0, COUNT(*) AS EXPR$3, SUM(price) AS EXPR$4], changelogMode=[I])
--=       +- Expand(projects=[{window_start, window_end, item, price, item AS $k1, NULL AS $k2, 0 AS $e0, window_time}, {window_start, window_end, item, price, item AS $k1, price AS $k2, 1 AS $e0, window_time}, {window_start, window_end, item, price, NULL AS $k1, NULL AS $k2, 2 AS $e0, window_time}], changelogMode=[I])
--=          +- Calc(select=[window_start, window_end, item, price, window_time], changelogMode=[I])
--=             +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[10 s])], changelogMode=[I])
--=                +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=                   +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price, ts], changelogMode=[I])
--< bids {"item": "a", "price": 3, "ts": "2026-01-01 00:00:01"}
--< bids {"item": "a", "price": 7, "ts": "2026-01-01 00:00:02"}
--< bids {"item": null, "price": 7, "ts": "2026-01-01 00:00:03"}
--< bids {"item": "b", "price": 1, "ts": "2026-01-01 00:00:10"}
--> +I[2026-01-01T00:00:10, a, 3, 1, 3, 0]
--> +I[2026-01-01T00:00:10, a, 7, 1, 7, 0]
--> +I[2026-01-01T00:00:10, null, 7, 1, 7, 0]
--> +I[2026-01-01T00:00:10, a, null, 2, 10, 1]
--> +I[2026-01-01T00:00:10, null, null, 1, 7, 1]
--> +I[2026-01-01T00:00:10, null, null, 3, 17, 3]
--! end
--> +I[2026-01-01T00:00:20, b, 1, 1, 1, 0]
--> +I[2026-01-01T00:00:20, b, null, 1, 1, 1]
--> +I[2026-01-01T00:00:20, null, null, 1, 1, 3]
