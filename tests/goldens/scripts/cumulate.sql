-- A cumulating window: each row is in its own step's window and in those that come after it, up to the whole one; each of them fires.
CREATE TABLE bids (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3), bids BIGINT, total INT)
WITH ('connector' = 'print');
INSERT INTO answers
SELECT item, window_start, window_end, COUNT(*), SUM(price)
FROM TABLE(CUMULATE(TABLE bids, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '6' SECOND))
GROUP BY item, window_start, window_end;
--! ordered
--= Sink(table=[default_catalog.default_database.answers], fields=[item, window_start, window_end, bids, total], changelogMode=[I])
--= +- Calc(select=[item, window_start, window_end, EXPR$3 AS bids, EXPR$4 AS total], changelogMode=[I])
--=    +- WindowAggregate(groupBy=[item], window=[CUMULATE(time_col=[ts], max_size=[6 s], step=[2 s])], select=[item, window_start, window_end, COUNT(*) AS EXPR$3, SUM(price) AS EXPR$4], changelogMode=[I])
--=       +- Calc(select=[item, window_start, window_end, price, window_time], changelogMode=[I])
--=          +- WindowTableFunction(window=[CUMULATE(time_col=[ts], max_size=[6 s], step=[2 s])], changelogMode=[I])
--=             +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=                +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price, ts], changelogMode=[I])
--< bids {"item": "a", "price": 1, "ts": "2026-01-01 00:00:01"}
--< bids {"item": "b", "price": 2, "ts": "2026-01-01 00:00:02"}
--< bids {"item": "a", "price": 4, "ts": "2026-01-01 00:00:04.5"}
--> +I[a, 2026-01-01T00:00, 2026-01-01T00:00:02, 1, 1]
--> +I[a, 2026-01-01T00:00, 2026-01-01T00:00:04, 1, 1]
--> +I[b, 2026-01-01T00:00, 2026-01-01T00:00:04, 1, 2]
--! restart
--< bids {"item": "a", "price": 8, "ts": "2026-01-01 00:00:03"}
--< bids {"item": "c", "price": 16, "ts": "2026-01-01 00:00:06"}
--> +I[a, 2026-01-01T00:00, 2026-01-01T00:00:06, 3, 13]
--> +I[b, 2026-01-01T00:00, 2026-01-01T00:00:06, 1, 2]
--! end
--> +I[c, 2026-01-01T00:00:06, 2026-01-01T00:00:08, 1, 16]
--> +I[c, 2026-01-01T00:00:06, 2026-01-01T00:00:10, 1, 16]
--> +I[c, 2026-01-01T00:00:06, 2026-01-01T00:00:12, 1, 16]
