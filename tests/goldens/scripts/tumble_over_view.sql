-- A view keeps the time attribute; an offset moves the windows; HAVING drops closed windows; window_time is the window's last millisecond.
CREATE TABLE clicks (who STRING, millis BIGINT, ts AS TO_TIMESTAMP_LTZ(millis, 3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/clicks', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE VIEW named AS SELECT who AS visitor, ts FROM clicks WHERE who IS NOT NULL;
CREATE TABLE answers (visitor STRING, starts TIMESTAMP(3), closes TIMESTAMP_LTZ(3), clicks BIGINT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT visitor, window_start, window_time, COUNT(*)
FROM TABLE(TUMBLE(TABLE named, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '30' SECOND))
GROUP BY visitor, window_start, window_end, window_time
HAVING COUNT(*) > 1;
--= Sink(table=[default_catalog.default_database.answers], fields=[visitor, starts, closes, clicks], changelogMode=[I])
--= +- Calc(select=[visitor, window_start AS starts, window_time AS closes, EXPR$3 AS clicks], changelogMode=[I])
--=    +- Calc(where=[(EXPR$3 > 1)], changelogMode=[I])
--=       +- WindowAggregate(groupBy=[visitor], window=[TUMBLE(time_col=[ts], size=[1 min], offset=[30 s])], select=[visitor, window_start, window_end, window_time, COUNT(*) AS EXPR$3], changelogMode=[I])
--=          +- Calc(select=[visitor, window_start, window_end, window_time], changelogMode=[I])
--=             +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[1 min], offset=[30 s])], changelogMode=[I])
--=                +- Calc(select=[who AS visitor, ts], changelogMode=[I])
--=                   +- Calc(where=[NOT(who IS NULL)], changelogMode=[I])
--=                      +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '1' SECOND)], changelogMode=[I])
--=                         +- Calc(select=[who, millis, TO_TIMESTAMP_LTZ(millis, 3) AS ts], changelogMode=[I])
--=                            +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, millis], changelogMode=[I])
--< clicks {"who": "a", "millis": 1767225600000}
--< clicks {"who": "b", "millis": 1767225629999}
--< clicks {"who": "a", "millis": 1767225629000}
--< clicks {"who": null, "millis": 1767225629000}
--< clicks {"who": "b", "millis": 1767225631000}
--> +I[a, 2025-12-31T23:59:30, 2026-01-01T00:00:29.999Z, 2]
--! end
