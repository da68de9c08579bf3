-- The last three bids of an item, in the order of their times, each as the watermark passes it; a restart keeps them. NULL is an item as others are.
CREATE TABLE bids (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, ts TIMESTAMP(3), total INT, bids BIGINT, prices BIGINT, least INT, most INT, mean INT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT item, ts, SUM(price) OVER w, COUNT(*) OVER w, COUNT(price) OVER w, MIN(price) OVER w, MAX(price) OVER w, AVG(price) OVER w
FROM bids WINDOW w AS (PARTITION BY item ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW);
--! any order
--= Sink(table=[default_catalog.default_database.answers], fields=[item, ts, total, bids, prices, least, most, mean], changelogMode=[I])
--= +- Calc(select=[item, ts, $over0 AS total, $over1 AS bids, $over2 AS prices, $over3 AS least, $over4 AS most, $over5 AS mean], changelogMode=[I])
--=    +- OverAggregate(partitionBy=[item], orderBy=[ts ASC], window=[ ROWS BETWEEN 2 PRECEDING AND CURRENT ROW], select=[SUM(price) AS $over0, COUNT(*) AS $over1, COUNT(price) AS $over2, MIN(price) AS $over3, MAX(price) AS $over4, AVG(price) AS $over5], changelogMode=[I])
--=       +- Calc(select=[item, ts, price], changelogMode=[I])
--=          +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '2' SECOND)], changelogMode=[I])
--=             +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price, ts], changelogMode=[I])
--< bids {"item": "a", "price": 7, "ts": "2026-01-01 00:00:03"}
--< bids {"item": "a", "price": 3, "ts": "2026-01-01 00:00:01.500"}
--< bids {"item": null, "price": 1, "ts": "2026-01-01 00:00:02"}
--< bids {"item": "a", "price": null, "ts": "2026-01-01 00:00:05"}
--> +I[a, 2026-01-01T00:00:01.500, 3, 1, 1, 3, 3, 3]
--> +I[a, 2026-01-01T00:00:03, 10, 2, 2, 3, 7, 5]
--> +I[null, 2026-01-01T00:00:02, 1, 1, 1, 1, 1, 1]
--! restart
--< bids {"item": "a", "price": 5, "ts": "2026-01-01 00:00:06"}
--< bids {"item": null, "price": null, "ts": "2026-01-01 00:00:09"}
--> +I[a, 2026-01-01T00:00:05, 10, 3, 2, 3, 7, 5]
--> +I[a, 2026-01-01T00:00:06, 12, 3, 2, 5, 7, 6]
--<late bids {"item": "a", "price": 100, "ts": "2026-01-01 00:00:06"}
--< bids {"item": "a", "price": 1, "ts": "2026-01-01 00:00:08"}
--! end
--> +I[a, 2026-01-01T00:00:08, 6, 3, 2, 1, 5, 3]
--> +I[null, 2026-01-01T00:00:09, 1, 2, 1, 1, 1, 1]
