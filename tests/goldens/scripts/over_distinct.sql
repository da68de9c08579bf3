-- Each price once: in a window that rows leave, and among all of them.
CREATE TABLE bids (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, price INT, ts TIMESTAMP(3), prices BIGINT, total INT, mean INT, bids BIGINT, so_far BIGINT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT item, price, ts, prices, total, mean, bids, COUNT(DISTINCT price) OVER (PARTITION BY item ORDER BY ts) FROM (
  SELECT item, price, ts, COUNT(DISTINCT price) OVER w AS prices, SUM(DISTINCT price) OVER w AS total, AVG(DISTINCT price) OVER w AS mean,
    COUNT(price) OVER w AS bids
  FROM bids WINDOW w AS (PARTITION BY item ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)
);
--< bids {"item": "a", "price": 7, "ts": "2026-01-01 00:00:01"}
--< bids {"item": "a", "price": 3, "ts": "2026-01-01 00:00:02"}
--< bids {"item": "a", "price": 7, "ts": "2026-01-01 00:00:03"}
--< bids {"item": null, "price": null, "ts": "2026-01-01 00:00:05"}
--> +I[a, 7, 2026-01-01T00:00:01, 1, 7, 7, 1, 1]
--> +I[a, 3, 2026-01-01T00:00:02, 2, 10, 5, 2, 2]
--> +I[a, 7, 2026-01-01T00:00:03, 2, 10, 5, 3, 2]
--! restart
--< bids {"item": "a", "price": 7, "ts": "2026-01-01 00:00:04"}
--< bids {"item": "a", "price": null, "ts": "2026-01-01 00:00:06"}
--< bids {"item": "a", "price": 5, "ts": "2026-01-01 00:00:09"}
--> +I[a, 7, 2026-01-01T00:00:04, 2, 10, 5, 3, 2]
--> +I[null, null, 2026-01-01T00:00:05, 0, null, null, 0, 0]
--> +I[a, null, 2026-01-01T00:00:06, 1, 7, 7, 2, 2]
--<late bids {"item": "a", "price": 100, "ts": "2026-01-01 00:00:06"}
--! end
--> +I[a, 5, 2026-01-01T00:00:09, 2, 12, 6, 2, 3]
--= Sink(table=[default_catalog.default_database.answers], fields=[item, price, ts, prices, total, mean, bids, so_far], changelogMode=[I])
--= +- Calc(select=[item, price, ts, prices, total, mean, bids, $over0 AS so_far], changelogMode=[I])
--=    +- OverAggregate(partitionBy=[item], orderBy=[ts ASC], window=[ RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW], select=[COUNT(DISTINCT price) AS $over0], changelogMode=[I])
--=       +- Calc(select=[item, price, ts, $over0 AS prices, $over1 AS total, $over2 AS mean, $over3 AS bids], changelogMode=[I])
--=          +- OverAggregate(partitionBy=[item], orderBy=[ts ASC], window=[ ROWS BETWEEN 2 PRECEDING AND CURRENT ROW], select=[COUNT(DISTINCT price) AS $over0, SUM(DISTINCT price) AS $over1, AVG(DISTINCT price) AS $over2, COUNT(price) AS $over3], changelogMode=[I])
--=             +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '2' SECOND)], changelogMode=[I])
--=                +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price, ts], changelogMode=[I])
