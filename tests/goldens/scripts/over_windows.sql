-- A window aggregate of what OVER gives: its rows keep their time.
CREATE TABLE bids (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (window_end TIMESTAMP(3), item STRING, bids BIGINT, best INT) WITH ('connector' = 'print');
CREATE VIEW totals AS
SELECT item, ts, SUM(price) OVER (PARTITION BY item ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS total FROM bids;
INSERT INTO answers
SELECT window_end, item, COUNT(*), MAX(total) FROM TABLE(TUMBLE(TABLE totals, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, item;
--= Sink(table=[default_catalog.default_database.answers], fields=[window_end, item, bids, best], changelogMode=[I])
--= +- Calc(select=[window_end, item, EXPR$2 AS bids, EXPR$3 AS best], changelogMode=[I])
--=    +- WindowAggregate(groupBy=[item], window=[TUMBLE(time_col=[ts], size=[10 s])], select=[window_start, window_end, item, COUNT(*) AS EXPR$2, MAX(total) AS EXPR$3], changelogMode=[I])
--=       +- Calc(select=[window_start, window_end, item, total, window_time], changelogMode=[I])
--=          +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[10 s])], changelogMode=[I])
--=             +- Calc(select=[item, ts, $over0 AS total], changelogMode=[I])
--=                +- OverAggregate(partitionBy=[item], orderBy=[ts ASC], window=[ ROWS BETWEEN 1 PRECEDING AND CURRENT ROW], select=[SUM(price) AS $over0], changelogMode=[I])
--=                   +- Calc(select=[item, ts, price], changelogMode=[I])
--=                      +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '2' SECOND)], changelogMode=[I])
--=                         +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price, ts], changelogMode=[I])
--< bids {"item": "a", "price": 7, "ts": "2026-01-01 00:00:03"}
--< bids {"item": "a", "price": 3, "ts": "2026-01-01 00:00:01.500"}
--< bids {"item": null, "price": 3, "ts": "2026-01-01 00:00:04"}
--< bids {"item": "a", "price": 4, "ts": "2026-01-01 00:00:11"}
--! restart
--< bids {"item": "a", "price": 9, "ts": "2026-01-01 00:00:09.999"}
--< bids {"item": "b", "price": 1, "ts": "2026-01-01 00:00:13"}
--> +I[2026-01-01T00:00:10, a, 3, 16]
--> +I[2026-01-01T00:00:10, null, 1, 3]
--<late bids {"item": "a", "price": 100, "ts": "2026-01-01 00:00:08"}
--! end
--> +I[2026-01-01T00:00:20, a, 1, 13]
--> +I[2026-01-01T00:00:20, b, 1, 1]
