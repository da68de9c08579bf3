-- DISTINCT over sessions that an aggregate below has closed; sums of DECIMALs keep all of their digits.
CREATE TABLE bids (item STRING, price DECIMAL(10, 8), ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (s TIMESTAMP(3), e TIMESTAMP(3), n BIGINT, counts BIGINT, total DECIMAL(38, 8)) WITH ('connector' = 'print');
INSERT INTO answers
SELECT window_start, window_end, COUNT(*), COUNT(DISTINCT n), MAX(total)
FROM (
    SELECT item, window_start, window_end, window_time, COUNT(*) AS n, SUM(DISTINCT price) AS total
    FROM TABLE(SESSION(TABLE bids PARTITION BY item, DESCRIPTOR(ts), INTERVAL '10' SECOND))
    GROUP BY item, window_start, window_end, window_time
)
GROUP BY window_start, window_end;
--< bids {"item": "a", "price": 1.00000001, "ts": "2026-01-01 00:00:00"}
--< bids {"item": "b", "price": 2.00000001, "ts": "2026-01-01 00:00:00"}
--< bids {"item": "a", "price": 1.00000002, "ts": "2026-01-01 00:00:05"}
--< bids {"item": "b", "price": 1.00000001, "ts": "2026-01-01 00:00:05"}
--< bids {"item": "c", "price": 1.00000001, "ts": "2026-01-01 00:00:00"}
--< bids {"item": "c", "price": 1.00000001, "ts": "2026-01-01 00:00:01"}
--! end
--> +I[2026-01-01T00:00, 2026-01-01T00:00:15, 2, 1, 3.00000002] +I[2026-01-01T00:00, 2026-01-01T00:00:11, 1, 1, 1.00000001]
--= Sink(table=[default_catalog.default_database.answers], fields=[s, e, n, counts, total], changelogMode=[I])
--= +- Calc(select=[window_start AS s, window_end AS e, EXPR$2 AS n, EXPR$3 AS counts, EXPR$4 AS total], changelogMode=[I])
--=    +- WindowAggregate(window=[SESSION(time_col=[ts], gap=[10 s], partition keys=[item])], select=[window_start, window_end, FIRST_VALUE(EXPR$2) FILTER (WHERE $plain) AS EXPR$2, COUNT($v1) AS EXPR$3, FIRST_VALUE(EXPR$4) FILTER (WHERE $plain) AS EXPR$4], changelogMode=[I])
--=       +- Calc(select=[window_start, window_end, window_time, EXPR$2, EXPR$4, ($group = 0) AS $plain, CASE WHEN ($group = 1) THEN $d0 ELSE NULL END AS $v1], changelogMode=[I])
--=          +- WindowAggregate(groupBy=[$group, $d0], window=[SESSION(time_col=[ts], gap=[10 s], partition keys=[item])], select=[window_start, window_end, window_time, $group, $d0, COUNT(*) AS EXPR$2, MAX(total) AS EXPR$4], changelogMode=[I])
--=             +- Expand(projects=[{window_start, window_end, window_time, 0 AS $group, total, NULL AS $d0}, {window_start, window_end, window_time, 1 AS $group, NULL AS total, n AS $d0}], changelogMode=[I])
--=                +- Calc(select=[window_start, window_end, n, total, window_time], changelogMode=[I])
--=                   +- WindowAggregate(groupBy=[item], window=[SESSION(time_col=[ts], gap=[10 s], partition keys=[item])], select=[item, window_start, window_end, window_time, COUNT(*) AS n, SUM(DISTINCT price) AS total], changelogMode=[I])
--=                      +- Calc(select=[item, window_start, window_end, window_time, price], changelogMode=[I])
--=                         +- WindowTableFunction(window=[SESSION(time_col=[ts], gap=[10 s], partition keys=[item])], changelogMode=[I])
--=                            +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=                               +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price, ts], changelogMode=[I])
