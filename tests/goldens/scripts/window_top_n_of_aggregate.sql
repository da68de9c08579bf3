-- Second and third best sellers of each window: a Top-N of a window aggregate, whose order is an aggregate; the rank is not shown.
CREATE TABLE bids (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (window_start TIMESTAMP(3), item STRING, total INT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT window_start, item, total FROM (
  SELECT window_start, window_end, item, SUM(price) AS total,
    ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY SUM(price) DESC) AS n
  FROM TABLE(HOP(TABLE bids, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))
  GROUP BY window_start, window_end, item
) WHERE n BETWEEN 2 AND 3;
--= Sink(table=[default_catalog.default_database.answers], fields=[window_start, item, total], changelogMode=[I])
--= +- Calc(select=[window_start, item, total], changelogMode=[I])
--=    +- WindowRank(window=[HOP(time_col=[ts], size=[10 s], slide=[5 s])], rankRange=[rankStart=2, rankEnd=3], partitionBy=[], orderBy=[total DESC], changelogMode=[I])
--=       +- Calc(select=[window_start, window_end, item, total, window_time], changelogMode=[I])
--=          +- WindowAggregate(groupBy=[item], window=[HOP(time_col=[ts], size=[10 s], slide=[5 s])], select=[window_start, window_end, item, window_time, SUM(price) AS total], changelogMode=[I])
--=             +- Calc(select=[window_start, window_end, item, price, window_time], changelogMode=[I])
--=                +- WindowTableFunction(window=[HOP(time_col=[ts], size=[10 s], slide=[5 s])], changelogMode=[I])
--=                   +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=                      +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price, ts], changelogMode=[I])
--< bids {"item": "a", "price": 1, "ts": "2026-01-01 00:00:06"}
--< bids {"item": "b", "price": 2, "ts": "2026-01-01 00:00:06"}
--< bids {"item": "c", "price": 4, "ts": "2026-01-01 00:00:06"}
--< bids {"item": "d", "price": 8, "ts": "2026-01-01 00:00:06"}
--! restart
--< bids {"item": "a", "price": 16, "ts": "2026-01-01 00:00:12"}
--> +I[2026-01-01T00:00, c, 4]
--> +I[2026-01-01T00:00, b, 2]
--< bids {"item": "a", "price": 32, "ts": "2026-01-01 00:00:15"}
--> +I[2026-01-01T00:00:05, d, 8]
--> +I[2026-01-01T00:00:05, c, 4]
--! end
