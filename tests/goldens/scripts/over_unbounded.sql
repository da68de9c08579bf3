-- All bids up to each bid; a window that is not written ends with the last row of the same time. An OVER of an OVER goes on in time.
CREATE TABLE bids (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, price INT, ts TIMESTAMP(3), total INT, n BIGINT, first_price INT, latest INT, spread INT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT item, price, ts, total, ROW_NUMBER() OVER (ORDER BY ts), first_price, latest, most - total FROM (
  SELECT item, price, ts, SUM(price) OVER w AS total, FIRST_VALUE(price) OVER w AS first_price, LAST_VALUE(price) OVER w AS latest,
    MAX(price) OVER (PARTITION BY item ORDER BY ts) AS most
  FROM bids WINDOW w AS (PARTITION BY item ORDER BY ts)
);
--! any order
--= Sink(table=[default_catalog.default_database.answers], fields=[item, price, ts, total, n, first_price, latest, spread], changelogMode=[I])
--= +- Calc(select=[item, price, ts, total, $over0 AS n, first_price, latest, EXPR$7 AS spread], changelogMode=[I])
--=    +- OverAggregate(orderBy=[ts ASC], window=[ ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW], select=[ROW_NUMBER(*) AS $over0], changelogMode=[I])
--=       +- Calc(select=[item, price, ts, $over0 AS total, $over1 AS first_price, $over2 AS latest, ($over3 - $over0) AS EXPR$7], changelogMode=[I])
--=          +- OverAggregate(partitionBy=[item], orderBy=[ts ASC], window=[ RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW], select=[SUM(price) AS $over0, FIRST_VALUE(price) AS $over1, LAST_VALUE(price) AS $over2, MAX(price) AS $over3], changelogMode=[I])
--=             +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '2' SECOND)], changelogMode=[I])
--=                +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price, ts], changelogMode=[I])
--< bids {"item": "a", "price": 7, "ts": "2026-01-01 00:00:03"}
--< bids {"item": "a", "price": 3, "ts": "2026-01-01 00:00:01.500"}
--< bids {"item": null, "price": 1, "ts": "2026-01-01 00:00:02.500"}
--< bids {"item": "a", "price": null, "ts": "2026-01-01 00:00:04"}
--> +I[a, 3, 2026-01-01T00:00:01.500, 3, 1, 3, 3, 0]
--! restart
--< bids {"item": "b", "price": 9, "ts": "2026-01-01 00:00:05.500"}
--> +I[null, 1, 2026-01-01T00:00:02.500, 1, 2, 1, 1, 0]
--> +I[a, 7, 2026-01-01T00:00:03, 10, 3, 3, 7, -3]
--<late bids {"item": "a", "price": 100, "ts": "2026-01-01 00:00:03.500"}
--< bids {"item": null, "price": 2, "ts": "2026-01-01 00:00:05"}
--! end
--> +I[a, null, 2026-01-01T00:00:04, 10, 4, 3, 7, -3]
--> +I[null, 2, 2026-01-01T00:00:05, 3, 5, 1, 2, -1]
--> +I[b, 9, 2026-01-01T00:00:05.500, 9, 6, 9, 9, 0]
