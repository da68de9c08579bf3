-- Windows over TIMESTAMP_LTZ keep to the wall clock of the session's zone when it is put forward and back: the hour that comes twice in autumn
-- is one window, a day has 23 or 25 hours. Three branches of one source are united.
SET 'table.local-time-zone' = 'Europe/Prague';
CREATE TABLE clicks (who STRING, millis BIGINT, ts AS TO_TIMESTAMP_LTZ(millis, 3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/clicks', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (kind STRING, who STRING, s TIMESTAMP(3), e TIMESTAMP(3), n BIGINT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT 'hour', who, window_start, window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR))
GROUP BY who, window_start, window_end
UNION ALL
SELECT 'day', who, window_start, window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' DAY))
GROUP BY who, window_start, window_end
UNION ALL
SELECT 'session', who, window_start, window_end, COUNT(*) FROM TABLE(SESSION(TABLE clicks PARTITION BY who, DESCRIPTOR(ts), INTERVAL '61' MINUTE))
GROUP BY who, window_start, window_end;
--= Sink(table=[default_catalog.default_database.answers], fields=[kind, who, s, e, n], changelogMode=[I])
--= +- Calc(select=[EXPR$0 AS kind, who, window_start AS s, window_end AS e, EXPR$4 AS n], changelogMode=[I])
--=    +- Union(all=[true], union=[EXPR$0, who, window_start, window_end, EXPR$4], changelogMode=[I])
--=       +- Calc(select=[CAST(EXPR$0 AS VARCHAR(7)) AS EXPR$0, who, window_start, window_end, EXPR$4], changelogMode=[I])
--=       |  +- Union(all=[true], union=[EXPR$0, who, window_start, window_end, EXPR$4], changelogMode=[I])
--=       |     +- Calc(select=[CAST('hour' AS VARCHAR(4)) AS EXPR$0, who, window_start, window_end, EXPR$4], changelogMode=[I])
--=       |     |  +- WindowAggregate(groupBy=[who], window=[TUMBLE(time_col=[ts], size=[1 h])], select=[who, window_start, window_end, COUNT(*) AS EXPR$4], changelogMode=[I])
--=       |     |     +- Calc(select=[who, window_start, window_end, window_time], changelogMode=[I])
--=       |     |        +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[1 h])], changelogMode=[I])
--=       |     |           +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=       |     |              +- Calc(select=[who, millis, TO_TIMESTAMP_LTZ(millis, 3) AS ts], changelogMode=[I])
--=       |     |                 +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, millis], changelogMode=[I])
--=       |     +- Calc(select=[CAST('day' AS VARCHAR(4)) AS EXPR$0, who, window_start, window_end, EXPR$4], changelogMode=[I])
--=       |        +- WindowAggregate(groupBy=[who], window=[TUMBLE(time_col=[ts], size=[1 d])], select=[who, window_start, window_end, COUNT(*) AS EXPR$4], changelogMode=[I])
--=       |           +- Calc(select=[who, window_start, window_end, window_time], changelogMode=[I])
--=       |              +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[1 d])], changelogMode=[I])
--=       |                 +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=       |                    +- Calc(select=[who, millis, TO_TIMESTAMP_LTZ(millis, 3) AS ts], changelogMode=[I])
--=       |                       +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, millis], changelogMode=[I])
--=       +- Calc(select=[CAST('session' AS VARCHAR(7)) AS EXPR$0, who, window_start, window_end, EXPR$4], changelogMode=[I])
--=          +- WindowAggregate(groupBy=[who], window=[SESSION(time_col=[ts], gap=[61 min], partition keys=[who])], select=[who, window_start, window_end, COUNT(*) AS EXPR$4], changelogMode=[I])
--=             +- Calc(select=[who, window_start, window_end, window_time], changelogMode=[I])
--=                +- WindowTableFunction(window=[SESSION(time_col=[ts], gap=[61 min], partition keys=[who])], changelogMode=[I])
--=                   +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=                      +- Calc(select=[who, millis, TO_TIMESTAMP_LTZ(millis, 3) AS ts], changelogMode=[I])
--=                         +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, millis], changelogMode=[I])
--< clicks {"who": "spring", "millis": 1774737000000}
--< clicks {"who": "spring", "millis": 1774740600000}
--< clicks {"who": "spring", "millis": 1774744200000}
--< clicks {"who": "spring", "millis": 1774745999000}
--< clicks {"who": "spring", "millis": 1774746000000}
--< clicks {"who": "spring", "millis": 1774747800000}
--< clicks {"who": "spring", "millis": 1774821599000}
--< clicks {"who": "spring", "millis": 1774821600000}
--< clicks {"who": "autumn", "millis": 1792879140000}
--> +I[hour, spring, 2026-03-28T23:00, 2026-03-29T00:00, 1]
--> +I[hour, spring, 2026-03-29T00:00, 2026-03-29T01:00, 1]
--> +I[hour, spring, 2026-03-29T01:00, 2026-03-29T02:00, 2]
--> +I[hour, spring, 2026-03-29T03:00, 2026-03-29T04:00, 2]
--> +I[hour, spring, 2026-03-29T23:00, 2026-03-30T00:00, 1]
--> +I[hour, spring, 2026-03-30T00:00, 2026-03-30T01:00, 1]
--> +I[day, spring, 2026-03-28T00:00, 2026-03-29T00:00, 1]
--> +I[day, spring, 2026-03-29T00:00, 2026-03-30T00:00, 6]
--> +I[day, spring, 2026-03-30T00:00, 2026-03-31T00:00, 1]
--> +I[session, spring, 2026-03-28T23:30, 2026-03-29T04:31, 6]
--> +I[session, spring, 2026-03-29T23:59:59, 2026-03-30T01:01, 2]
--! restart
--< clicks {"who": "autumn", "millis": 1792879200000}
--< clicks {"who": "autumn", "millis": 1792888200000}
--< clicks {"who": "autumn", "millis": 1792891800000}
--< clicks {"who": "autumn", "millis": 1792895400000}
--< clicks {"who": "autumn", "millis": 1792969199000}
--< clicks {"who": "autumn", "millis": 1792969200000}
--> +I[hour, autumn, 2026-10-24T23:00, 2026-10-25T00:00, 1]
--> +I[hour, autumn, 2026-10-25T00:00, 2026-10-25T01:00, 1]
--> +I[hour, autumn, 2026-10-25T02:00, 2026-10-25T03:00, 2]
--> +I[hour, autumn, 2026-10-25T03:00, 2026-10-25T04:00, 1]
--> +I[hour, autumn, 2026-10-25T23:00, 2026-10-26T00:00, 1]
--> +I[day, autumn, 2026-10-24T00:00, 2026-10-25T00:00, 1]
--> +I[day, autumn, 2026-10-25T00:00, 2026-10-26T00:00, 5]
--> +I[session, autumn, 2026-10-24T23:59, 2026-10-25T01:01, 2]
--> +I[session, autumn, 2026-10-25T02:30, 2026-10-25T04:31, 3]
--! end
--> +I[hour, autumn, 2026-10-26T00:00, 2026-10-26T01:00, 1]
--> +I[day, autumn, 2026-10-26T00:00, 2026-10-27T00:00, 1]
--> +I[session, autumn, 2026-10-25T23:59:59, 2026-10-26T01:01, 2]
