-- The two dearest bids of each item in each window, of equal ones that of the name first in the alphabet, ranks shown; NULL is least.
CREATE TABLE bids (item STRING, bidder STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (window_end TIMESTAMP(3), item STRING, bidder STRING, price INT, n BIGINT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT window_end, item, bidder, price, n FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, item ORDER BY price DESC, bidder ASC) AS n
  FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' SECOND))
) WHERE n <= 2;
--! any order
--= Sink(table=[default_catalog.default_database.answers], fields=[window_end, item, bidder, price, n], changelogMode=[I])
--= +- Calc(select=[window_end, item, bidder, price, $over0 AS n], changelogMode=[I])
--=    +- WindowRank(window=[TUMBLE(time_col=[ts], size=[10 s])], rankRange=[rankStart=1, rankEnd=2], partitionBy=[item], orderBy=[price DESC, bidder ASC], changelogMode=[I])
--=       +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[10 s])], changelogMode=[I])
--=          +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '1' SECOND)], changelogMode=[I])
--=             +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, bidder, price, ts], changelogMode=[I])
--< bids {"item": "a", "bidder": "x", "price": 3, "ts": "2026-01-01 00:00:01"}
--< bids {"item": "a", "bidder": "z", "price": 7, "ts": "2026-01-01 00:00:02"}
--< bids {"item": "b", "bidder": "x", "price": null, "ts": "2026-01-01 00:00:03"}
--< bids {"item": "b", "bidder": "ž", "price": -1, "ts": "2026-01-01 00:00:04"}
--! restart
--< bids {"item": "a", "bidder": "y", "price": 7, "ts": "2026-01-01 00:00:05"}
--< bids {"item": "a", "bidder": "w", "price": 1, "ts": "2026-01-01 00:00:06"}
--< bids {"item": null, "bidder": "x", "price": 1, "ts": "2026-01-01 00:00:10.500"}
--< bids {"item": "a", "bidder": "x", "price": 3, "ts": "2026-01-01 00:00:11"}
--> +I[2026-01-01T00:00:10, a, y, 7, 1]
--> +I[2026-01-01T00:00:10, a, z, 7, 2]
--> +I[2026-01-01T00:00:10, b, ž, -1, 1]
--> +I[2026-01-01T00:00:10, b, x, null, 2]
--<late bids {"item": "a", "bidder": "late", "price": 100, "ts": "2026-01-01 00:00:09"}
--! end
--> +I[2026-01-01T00:00:20, a, x, 3, 1]
--> +I[2026-01-01T00:00:20, null, x, 1, 1]
