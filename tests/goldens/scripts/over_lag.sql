-- The price before, and that two bids before, NULLs too; for lack of one what is given for it.
CREATE TABLE bids (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, price INT, ts TIMESTAMP(3), change INT, former INT, older INT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT item, price, ts, price - LAG(price) OVER w, LAG(price, 2) OVER w, LAG(price, 2, -1) OVER w
FROM bids WINDOW w AS (PARTITION BY item ORDER BY ts);
--= Sink(table=[default_catalog.default_database.answers], fields=[item, price, ts, change, former, older], changelogMode=[I])
--= +- Calc(select=[item, price, ts, (price - $over0) AS change, $over1 AS former, $over2 AS older], changelogMode=[I])
--=    +- OverAggregate(partitionBy=[item], orderBy=[ts ASC], window=[ RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW], select=[LAG(price) AS $over0, LAG(price, 2) AS $over1, LAG(price, 2, -1) AS $over2], changelogMode=[I])
--=       +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '2' SECOND)], changelogMode=[I])
--=          +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price, ts], changelogMode=[I])
--< bids {"item": "a", "price": 7, "ts": "2026-01-01 00:00:03"}
--< bids {"item": "a", "price": 3, "ts": "2026-01-01 00:00:01.500"}
--< bids {"item": "a", "price": null, "ts": "2026-01-01 00:00:04"}
--< bids {"item": null, "price": 1, "ts": "2026-01-01 00:00:05"}
--> +I[a, 3, 2026-01-01T00:00:01.500, null, null, -1]
--> +I[a, 7, 2026-01-01T00:00:03, 4, null, -1]
--! restart
--< bids {"item": "a", "price": 8, "ts": "2026-01-01 00:00:07"}
--> +I[a, null, 2026-01-01T00:00:04, null, 3, 3]
--> +I[null, 1, 2026-01-01T00:00:05, null, null, -1]
--<late bids {"item": "a", "price": 100, "ts": "2026-01-01 00:00:05"}
--! end
--> +I[a, 8, 2026-01-01T00:00:07, null, 7, 7]
