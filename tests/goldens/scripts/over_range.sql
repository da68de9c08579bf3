-- The bids of the two seconds up to each bid: those of one time share the result, in which they all are. A row is late behind one of its item that
-- has come out, not behind the watermark.
CREATE TABLE bids (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, price INT, ts TIMESTAMP(3), total INT, bids BIGINT, most INT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT item, price, ts, SUM(price) OVER w * 2, COUNT(*) OVER w, MAX(price) OVER w
FROM bids WINDOW w AS (PARTITION BY item ORDER BY ts RANGE BETWEEN INTERVAL '2' SECOND PRECEDING AND CURRENT ROW);
--! any order
--= Sink(table=[default_catalog.default_database.answers], fields=[item, price, ts, total, bids, most], changelogMode=[I])
--= +- Calc(select=[item, price, ts, ($over0 * 2) AS total, $over1 AS bids, $over2 AS most], changelogMode=[I])
--=    +- OverAggregate(partitionBy=[item], orderBy=[ts ASC], window=[ RANGE BETWEEN 2000 PRECEDING AND CURRENT ROW], select=[SUM(price) AS $over0, COUNT(*) AS $over1, MAX(price) AS $over2], changelogMode=[I])
--=       +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '2' SECOND)], changelogMode=[I])
--=          +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price, ts], changelogMode=[I])
--< bids {"item": "a", "price": 7, "ts": "2026-01-01 00:00:03"}
--< bids {"item": "a", "price": 3, "ts": "2026-01-01 00:00:01.500"}
--< bids {"item": "a", "price": 1, "ts": "2026-01-01 00:00:03"}
--< bids {"item": null, "price": 1, "ts": "2026-01-01 00:00:04"}
--> +I[a, 3, 2026-01-01T00:00:01.500, 6, 1, 3]
--! restart
--< bids {"item": "b", "price": 9, "ts": "2026-01-01 00:00:07.100"}
--> +I[a, 1, 2026-01-01T00:00:03, 22, 3, 7]
--> +I[a, 7, 2026-01-01T00:00:03, 22, 3, 7]
--> +I[null, 1, 2026-01-01T00:00:04, 2, 1, 1]
--<late bids {"item": "a", "price": 100, "ts": "2026-01-01 00:00:03"}
--< bids {"item": "a", "price": null, "ts": "2026-01-01 00:00:05.101"}
--< bids {"item": null, "price": 2, "ts": "2026-01-01 00:00:04.500"}
--> +I[null, 2, 2026-01-01T00:00:04.500, 6, 2, 2]
--< bids {"item": null, "price": null, "ts": "2026-01-01 00:00:07"}
--! end
--> +I[a, null, 2026-01-01T00:00:05.101, null, 1, null]
--> +I[b, 9, 2026-01-01T00:00:07.100, 18, 1, 9]
--> +I[null, null, 2026-01-01T00:00:07, null, 1, null]
