-- The older form of a tumbling window, its bounds and its rowtime, with a filter of groups.
CREATE TABLE bids (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, s TIMESTAMP(3), e TIMESTAMP(3), r TIMESTAMP(3), bids BIGINT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT item, TUMBLE_START(ts, INTERVAL '10' SECOND), TUMBLE_END(ts, INTERVAL '10' SECOND), CAST(TUMBLE_ROWTIME(ts, INTERVAL '10' SECOND) AS TIMESTAMP(3)), COUNT(*)
FROM bids WHERE price > 0 GROUP BY TUMBLE(ts, INTERVAL '10' SECOND), item HAVING COUNT(*) > 1;
--= Sink(table=[default_catalog.default_database.answers], fields=[item, s, e, r, bids], changelogMode=[I])
--= +- Calc(select=[item, window_start AS s, window_end AS e, CAST(window_time AS TIMESTAMP(3)) AS r, EXPR$4 AS bids], changelogMode=[I])
--=    +- Calc(where=[(EXPR$4 > 1)], changelogMode=[I])
--=       +- WindowAggregate(groupBy=[item], window=[TUMBLE(time_col=[ts], size=[10 s])], select=[item, window_start, window_end, window_time, COUNT(*) AS EXPR$4], changelogMode=[I])
--=          +- Calc(select=[item, window_start, window_end, window_time], changelogMode=[I])
--=             +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[10 s])], changelogMode=[I])
--=                +- Calc(where=[(price > 0)], changelogMode=[I])
--=                   +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '2' SECOND)], changelogMode=[I])
--=                      +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price, ts], changelogMode=[I])
--< bids {"item": "a", "price": 1, "ts": "2026-01-01 00:00:01"}
--< bids {"item": "a", "price": 2, "ts": "2026-01-01 00:00:09"}
--< bids {"item": "b", "price": 2, "ts": "2026-01-01 00:00:03"}
--< bids {"item": "b", "price": 0, "ts": "2026-01-01 00:00:04"}
--< bids {"item": "a", "price": 2, "ts": "2026-01-01 00:00:11"}
--! restart
--< bids {"item": "c", "price": 2, "ts": "2026-01-01 00:00:12"}
--> +I[a, 2026-01-01T00:00, 2026-01-01T00:00:10, 2026-01-01T00:00:09.999, 2]
--< bids {"item": "a", "price": 7, "ts": "2026-01-01 00:00:10.500"}
--! end
--> +I[a, 2026-01-01T00:00:10, 2026-01-01T00:00:20, 2026-01-01T00:00:19.999, 2]
