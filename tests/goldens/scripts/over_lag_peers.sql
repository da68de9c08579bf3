-- Rows of one time come together: each has the value before the last of them, with what that one gives for lack of such a value.
CREATE TABLE bids (item STRING, price INT, least INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (price INT, ts TIMESTAMP(3), former INT, older INT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT price, ts, LAG(price) OVER w, LAG(price, 2, least) OVER w
FROM bids WINDOW w AS (PARTITION BY item ORDER BY ts);
--! ordered
--< bids {"item": "a", "price": 2, "least": 10, "ts": "2026-01-01 00:00:01"}
--< bids {"item": "a", "price": 2, "least": 11, "ts": "2026-01-01 00:00:02"}
--< bids {"item": "a", "price": 5, "least": 12, "ts": "2026-01-01 00:00:02"}
--< bids {"item": "a", "price": 3, "least": 13, "ts": "2026-01-01 00:00:03"}
--< bids {"item": "a", "price": 2, "least": 14, "ts": "2026-01-01 00:00:03"}
--< bids {"item": "b", "price": 7, "least": 15, "ts": "2026-01-01 00:00:03"}
--< bids {"item": "b", "price": 8, "least": 16, "ts": "2026-01-01 00:00:03"}
--> +I[2, 2026-01-01T00:00:01, null, 10]
--! end
--> +I[2, 2026-01-01T00:00:02, 2, 2] +I[5, 2026-01-01T00:00:02, 2, 2]
--> +I[3, 2026-01-01T00:00:03, 3, 5] +I[2, 2026-01-01T00:00:03, 3, 5]
--> +I[7, 2026-01-01T00:00:03, 7, 16] +I[8, 2026-01-01T00:00:03, 7, 16]
--= Sink(table=[default_catalog.default_database.answers], fields=[price, ts, former, older], changelogMode=[I])
--= +- Calc(select=[price, ts, $over0 AS former, $over1 AS older], changelogMode=[I])
--=    +- OverAggregate(partitionBy=[item], orderBy=[ts ASC], window=[ RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW], select=[LAG(price) AS $over0, LAG(price, 2, least) AS $over1], changelogMode=[I])
--=       +- Calc(select=[price, ts, item, least], changelogMode=[I])
--=          +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '2' SECOND)], changelogMode=[I])
--=             +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price, least, ts], changelogMode=[I])
