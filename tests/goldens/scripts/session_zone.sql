-- Windows of a day over TIMESTAMP_LTZ begin at midnight of the session's zone, here UTC.
CREATE TABLE clicks (who STRING, millis BIGINT, ts AS TO_TIMESTAMP_LTZ(millis, 3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/clicks', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (who STRING, day_start TIMESTAMP(3), clicks BIGINT, first_one TIMESTAMP_LTZ(3)) WITH ('connector' = 'print');
INSERT INTO answers
SELECT who, window_start, COUNT(*), MIN(ts) FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY who, window_start, window_end;
--= Sink(table=[default_catalog.default_database.answers], fields=[who, day_start, clicks, first_one], changelogMode=[I])
--= +- Calc(select=[who, window_start AS day_start, EXPR$2 AS clicks, EXPR$3 AS first_one], changelogMode=[I])
--=    +- WindowAggregate(groupBy=[who], window=[TUMBLE(time_col=[ts], size=[1 d])], select=[who, window_start, window_end, COUNT(*) AS EXPR$2, MIN(ts) AS EXPR$3], changelogMode=[I])
--=       +- Calc(select=[who, window_start, window_end, ts, window_time], changelogMode=[I])
--=          +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[1 d])], changelogMode=[I])
--=             +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '1' SECOND)], changelogMode=[I])
--=                +- Calc(select=[who, millis, TO_TIMESTAMP_LTZ(millis, 3) AS ts], changelogMode=[I])
--=                   +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, millis], changelogMode=[I])
--< clicks {"who": "a", "millis": 1767225600000}
--< clicks {"who": "a", "millis": 1767311999999}
--< clicks {"who": "b", "millis": 1767312000000}
--< clicks {"who": "a", "millis": 1767313000000}
--> +I[a, 2026-01-01T00:00, 2, 2026-01-01T00:00:00Z]
--! restart
--! end
--> +I[a, 2026-01-02T00:00, 1, 2026-01-02T00:16:40Z]
--> +I[b, 2026-01-02T00:00, 1, 2026-01-02T00:00:00Z]
