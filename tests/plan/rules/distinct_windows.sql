SELECT window_start, COUNT(*) AS all_, COUNT(DISTINCT who) AS people
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
--: Calc(select=[window_start, all_, people], changelogMode=[I])
--: +- WindowAggregate(window=[TUMBLE(time_col=[ts], size=[1 h])], select=[window_start, window_end, COUNT(*) AS all_, COUNT(DISTINCT who) AS people], changelogMode=[I])
--:    +- Calc(select=[window_start, window_end, who, window_time], changelogMode=[I])
--:       +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[1 h])], changelogMode=[I])
--:          +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--:             +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--= Calc(select=[window_start, all_, people], changelogMode=[I])
--= +- WindowAggregate(window=[TUMBLE(time_col=[ts], size=[1 h])], select=[window_start, window_end, FIRST_VALUE(all_) FILTER (WHERE $plain) AS all_, COUNT($v1) AS people], changelogMode=[I])
--=    +- Calc(select=[window_start, window_end, window_time, all_, ($group = 0) AS $plain, CASE WHEN ($group = 1) THEN $d0 ELSE NULL END AS $v1], changelogMode=[I])
--=       +- WindowAggregate(groupBy=[$group, $d0], window=[TUMBLE(time_col=[ts], size=[1 h])], select=[window_start, window_end, window_time, $group, $d0, COUNT(*) AS all_], changelogMode=[I])
--=          +- Expand(projects=[{window_start, window_end, window_time, 0 AS $group, NULL AS $d0}, {window_start, window_end, window_time, 1 AS $group, who AS $d0}], changelogMode=[I])
--=             +- Calc(select=[window_start, window_end, who, window_time], changelogMode=[I])
--=                +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[1 h])], changelogMode=[I])
--=                   +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=                      +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])

SELECT who, COUNT(DISTINCT n) AS numbers
FROM TABLE(SESSION(TABLE clicks PARTITION BY who, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY who, window_start, window_end;
--= Calc(select=[who, numbers], changelogMode=[I])
--= +- WindowAggregate(groupBy=[who], window=[SESSION(time_col=[ts], gap=[1 h], partition keys=[who])], select=[who, window_start, window_end, COUNT(DISTINCT n) AS numbers], changelogMode=[I])
--=    +- Calc(select=[who, window_start, window_end, n, window_time], changelogMode=[I])
--=       +- WindowTableFunction(window=[SESSION(time_col=[ts], gap=[1 h], partition keys=[who])], changelogMode=[I])
--=          +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=             +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])

-- Outside of windows the aggregate itself counts values once.
SELECT COUNT(DISTINCT who) FROM clicks;
--= Calc(select=[EXPR$0], changelogMode=[I,UB,UA])
--= +- GroupAggregate(select=[COUNT(DISTINCT who) AS EXPR$0], changelogMode=[I,UB,UA])
--=    +- Calc(select=[who], changelogMode=[I])
--=       +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=          +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
