-- Sessions of each item: rows closer than the gap, touching ones too, are of one; a row that comes after the watermark has passed its own
-- time still counts where it joins a session that is open, and is late where it would be one of its own.
CREATE TABLE bids (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, s TIMESTAMP(3), e TIMESTAMP(3), bids BIGINT, total INT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT item, window_start, window_end, COUNT(*), SUM(price)
FROM TABLE(SESSION(TABLE bids PARTITION BY item, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY item, window_start, window_end;
--! any order
--= Sink(table=[default_catalog.default_database.answers], fields=[item, s, e, bids, total], changelogMode=[I])
--= +- Calc(select=[item, window_start AS s, window_end AS e, EXPR$3 AS bids, EXPR$4 AS total], changelogMode=[I])
--=    +- WindowAggregate(groupBy=[item], window=[SESSION(time_col=[ts], gap=[10 s], partition keys=[item])], select=[item, window_start, window_end, COUNT(*) AS EXPR$3, SUM(price) AS EXPR$4], changelogMode=[I])
--=       +- Calc(select=[item, window_start, window_end, price, window_time], changelogMode=[I])
--=          +- WindowTableFunction(window=[SESSION(time_col=[ts], gap=[10 s], partition keys=[item])], changelogMode=[I])
--=             +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=                +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price, ts], changelogMode=[I])
--< bids {"item": "a", "price": 1, "ts": "2026-01-01 00:00:00"}
--< bids {"item": "a", "price": 2, "ts": "2026-01-01 00:00:09"}
--< bids {"item": "b", "price": 2, "ts": "2026-01-01 00:00:05"}
--< bids {"item": "a", "price": 4, "ts": "2026-01-01 00:00:19"}
--> +I[b, 2026-01-01T00:00:05, 2026-01-01T00:00:15, 1, 2]
--! restart
--< bids {"item": "a", "price": 8, "ts": "2026-01-01 00:00:04"}
--<late bids {"item": "b", "price": 16, "ts": "2026-01-01 00:00:08"}
--< bids {"item": "b", "price": 32, "ts": "2026-01-01 00:00:28.999"}
--> +I[a, 2026-01-01T00:00, 2026-01-01T00:00:29, 4, 15]
--! end
--> +I[b, 2026-01-01T00:00:28.999, 2026-01-01T00:00:38.999, 1, 32]
