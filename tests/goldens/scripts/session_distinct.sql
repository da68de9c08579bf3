-- DISTINCT over sessions: several arguments, a condition, NULLs, a value again after a restart; a session of NULLs only.
CREATE TABLE bids (item STRING, bidder STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, bids BIGINT, bidders BIGINT, high BIGINT, total INT, mean INT, exact DECIMAL(38, 6), least INT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT item, COUNT(*), COUNT(DISTINCT bidder), COUNT(DISTINCT bidder) FILTER (WHERE price > 2), SUM(DISTINCT price), AVG(DISTINCT price),
    AVG(DISTINCT CAST(price AS DECIMAL(10, 2))), MIN(DISTINCT price)
FROM TABLE(SESSION(TABLE bids PARTITION BY item, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY item, window_start, window_end;
--! any order
--= Sink(table=[default_catalog.default_database.answers], fields=[item, bids, bidders, high, total, mean, exact, least], changelogMode=[I])
--= +- Calc(select=[item, EXPR$1 AS bids, EXPR$2 AS bidders, EXPR$3 AS high, EXPR$4 AS total, EXPR$5 AS mean, EXPR$6 AS exact, EXPR$7 AS least], changelogMode=[I])
--=    +- WindowAggregate(groupBy=[item], window=[SESSION(time_col=[ts], gap=[10 s], partition keys=[item])], select=[item, window_start, window_end, COUNT(*) AS EXPR$1, COUNT(DISTINCT bidder) AS EXPR$2, COUNT(DISTINCT bidder) FILTER (WHERE $f0) AS EXPR$3, SUM(DISTINCT price) AS EXPR$4, AVG(DISTINCT price) AS EXPR$5, AVG(DISTINCT $f1) AS EXPR$6, MIN(price) AS EXPR$7], changelogMode=[I])
--=       +- Calc(select=[item, window_start, window_end, bidder, (price > 2) AS $f0, price, CAST(price AS DECIMAL(10, 2)) AS $f1, window_time], changelogMode=[I])
--=          +- WindowTableFunction(window=[SESSION(time_col=[ts], gap=[10 s], partition keys=[item])], changelogMode=[I])
--=             +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=                +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, bidder, price, ts], changelogMode=[I])
--< bids {"item": "a", "bidder": "x", "price": 1, "ts": "2026-01-01 00:00:00"}
--< bids {"item": "a", "bidder": "x", "price": 4, "ts": "2026-01-01 00:00:01"}
--< bids {"item": "b", "bidder": null, "price": null, "ts": "2026-01-01 00:00:02"}
--! restart
--< bids {"item": "a", "bidder": "x", "price": 4, "ts": "2026-01-01 00:00:03"}
--< bids {"item": "a", "bidder": "y", "price": 2, "ts": "2026-01-01 00:00:04"}
--< bids {"item": "c", "bidder": "z", "price": 9, "ts": "2026-01-01 00:00:20"}
--> +I[a, 4, 2, 1, 7, 2, 2.333333, 1] +I[b, 1, 0, 0, null, null, null, null]
--! end
--> +I[c, 1, 1, 1, 9, 9, 9.000000, 9]
