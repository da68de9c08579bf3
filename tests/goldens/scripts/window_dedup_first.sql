-- The first bid of each item in a window, by time; of those of one time the one that came first.
CREATE TABLE bids (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, price INT, ts TIMESTAMP(3), window_end TIMESTAMP(3)) WITH ('connector' = 'print');
INSERT INTO answers
SELECT item, price, ts, window_end FROM (
  SELECT item, price, ts, window_start, window_end,
    ROW_NUMBER() OVER (PARTITION BY window_start, window_end, item ORDER BY ts ASC) AS n
  FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' SECOND))
) WHERE n = 1;
--! ordered
--= Sink(table=[default_catalog.default_database.answers], fields=[item, price, ts, window_end], changelogMode=[I])
--= +- Calc(select=[item, price, ts, window_end], changelogMode=[I])
--=    +- WindowRank(window=[TUMBLE(time_col=[ts], size=[10 s])], rankRange=[rankStart=1, rankEnd=1], partitionBy=[item], orderBy=[ts ASC], changelogMode=[I])
--=       +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[10 s])], changelogMode=[I])
--=          +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=             +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price, ts], changelogMode=[I])
--< bids {"item": "a", "price": 1, "ts": "2026-01-01 00:00:03"}
--< bids {"item": "a", "price": 2, "ts": "2026-01-01 00:00:03"}
--! restart
--< bids {"item": "a", "price": 3, "ts": "2026-01-01 00:00:03"}
--< bids {"item": "b", "price": 4, "ts": "2026-01-01 00:00:09.999"}
--> +I[a, 1, 2026-01-01T00:00:03, 2026-01-01T00:00:10]
--> +I[b, 4, 2026-01-01T00:00:09.999, 2026-01-01T00:00:10]
--<late bids {"item": "b", "price": 5, "ts": "2026-01-01 00:00:09.999"}
--< bids {"item": "c", "price": 6, "ts": "2026-01-01 00:00:12"}
--! end
--> +I[c, 6, 2026-01-01T00:00:12, 2026-01-01T00:00:20]
