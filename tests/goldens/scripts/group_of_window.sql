-- An aggregate that updates over one of windows, which comes when they close.
CREATE TABLE bids (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, windows BIGINT, most INT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT item, COUNT(*), MAX(total) FROM (
  SELECT item, window_start, window_end, SUM(price) AS total FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' SECOND))
  GROUP BY item, window_start, window_end)
GROUP BY item;
--= Sink(table=[default_catalog.default_database.answers], fields=[item, windows, most], changelogMode=[I,UB,UA])
--= +- Calc(select=[item, EXPR$1 AS windows, EXPR$2 AS most], changelogMode=[I,UB,UA])
--=    +- GroupAggregate(groupBy=[item], select=[item, COUNT(*) AS EXPR$1, MAX(total) AS EXPR$2], changelogMode=[I,UB,UA])
--=       +- Calc(select=[item, total], changelogMode=[I])
--=          +- WindowAggregate(groupBy=[item], window=[TUMBLE(time_col=[ts], size=[10 s])], select=[item, window_start, window_end, SUM(price) AS total], changelogMode=[I])
--=             +- Calc(select=[item, window_start, window_end, price, window_time], changelogMode=[I])
--=                +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[10 s])], changelogMode=[I])
--=                   +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '1' SECOND)], changelogMode=[I])
--=                      +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price, ts], changelogMode=[I])
--< bids {"item": "a", "price": 5, "ts": "2024-01-01 00:00:01"}
--< bids {"item": "a", "price": 5, "ts": "2024-01-01 00:00:12"}
--> +I[a, 1, 5]
--! restart
--< bids {"item": "b", "price": 1, "ts": "2024-01-01 00:00:31"}
--> -U[a, 1, 5] +U[a, 2, 5]
--! end
--> +I[b, 1, 1]
