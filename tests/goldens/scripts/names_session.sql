-- Columns and results called as Spark calls its own: sessions, generated elements, lines of files.
CREATE TABLE bids (`window` STRING, `value` INT, x ARRAY<INT>, e ROW<x INT, session_window INT>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (`window` STRING, a BIGINT, b INT, c BIGINT, d STRING) WITH ('connector' = 'print');
INSERT INTO answers
SELECT `window`, COUNT(*) AS session_window, SUM(e.session_window) AS `value`, COUNT(*) FILTER (WHERE ARRAY_CONTAINS(x, e.x)) AS pos,
    LISTAGG(DISTINCT CAST(ARRAY_REMOVE(x, `value`) AS STRING), ';') AS x
FROM TABLE(SESSION(TABLE bids PARTITION BY `window`, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY `window`, window_start, window_end;
--< bids {"window": "a", "value": 1, "x": [1, 2], "e": {"x": 3, "session_window": 10}, "ts": "2026-01-01 00:00:00"}
--< bids {"window": "a", "value": 2, "x": [1, 2], "e": {"x": 2, "session_window": 20}, "ts": "2026-01-01 00:00:09"}
--< bids {"window": "b", "value": 5, "x": [5], "e": {"x": 5, "session_window": 30}, "ts": "2026-01-01 00:00:05"}
--! restart
--< bids {"window": "a", "value": 9, "x": [9, 9], "e": {"x": 9, "session_window": 40}, "ts": "2026-01-01 00:00:15"}
--> +I[b, 1, 30, 1, []]
--! end
--> +I[a, 3, 70, 2, [2];[1];[]]
--= Sink(table=[default_catalog.default_database.answers], fields=[window, a, b, c, d], changelogMode=[I])
--= +- Calc(select=[window, session_window AS a, value AS b, pos AS c, x AS d], changelogMode=[I])
--=    +- WindowAggregate(groupBy=[window], window=[SESSION(time_col=[ts], gap=[10 s], partition keys=[window])], select=[window, window_start, window_end, COUNT(*) AS session_window, SUM($f0) AS value, COUNT(*) FILTER (WHERE $f1) AS pos, LISTAGG(DISTINCT $f2, ';') AS x], changelogMode=[I])
--=       +- Calc(select=[window, window_start, window_end, e.session_window AS $f0, ARRAY_CONTAINS(x, e.x) AS $f1, CAST(ARRAY_REMOVE(x, value) AS STRING) AS $f2, window_time], changelogMode=[I])
--=          +- WindowTableFunction(window=[SESSION(time_col=[ts], gap=[10 s], partition keys=[window])], changelogMode=[I])
--=             +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=                +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[window, value, x, e, ts], changelogMode=[I])
