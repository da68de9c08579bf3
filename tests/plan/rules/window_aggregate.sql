SELECT who, window_start, SUM(n) AS n FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY who, window_start, window_end;
--: Calc(select=[who, window_start, n], changelogMode=[I,UB,UA])
--: +- GroupAggregate(groupBy=[who, window_start, window_end], select=[who, window_start, window_end, SUM(n) AS n], changelogMode=[I,UB,UA])
--:    +- Calc(select=[who, window_start, window_end, n], changelogMode=[I])
--:       +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[1 h])], changelogMode=[I])
--:          +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--:             +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--= Calc(select=[who, window_start, n], changelogMode=[I])
--= +- WindowAggregate(groupBy=[who], window=[TUMBLE(time_col=[ts], size=[1 h])], select=[who, window_start, window_end, SUM(n) AS n], changelogMode=[I])
--=    +- Calc(select=[who, window_start, window_end, n, window_time], changelogMode=[I])
--=       +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[1 h])], changelogMode=[I])
--=          +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=             +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])

-- The older form, and an aggregate of aggregates.
SELECT HOP_END(w, INTERVAL '1' HOUR, INTERVAL '2' HOUR) AS e, SUM(n) AS n FROM (
    SELECT window_time AS w, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, window_time
) GROUP BY HOP(w, INTERVAL '1' HOUR, INTERVAL '2' HOUR);
--: Calc(select=[window_end AS e, n], changelogMode=[I,UB,UA,D])
--: +- GroupAggregate(groupBy=[window_start, window_end, window_time], select=[window_start, window_end, window_time, SUM(n) AS n], changelogMode=[I,UB,UA,D])
--:    +- Calc(select=[window_start, window_end, window_time, n], changelogMode=[I,UB,UA])
--:       +- WindowTableFunction(window=[HOP(time_col=[w], size=[2 h], slide=[1 h])], changelogMode=[I,UB,UA])
--:          +- Calc(select=[window_time AS w, n], changelogMode=[I,UB,UA])
--:             +- GroupAggregate(groupBy=[window_start, window_end, window_time], select=[window_start, window_end, window_time, COUNT(*) AS n], changelogMode=[I,UB,UA])
--:                +- Calc(select=[window_start, window_end, window_time], changelogMode=[I])
--:                   +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[1 h])], changelogMode=[I])
--:                      +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--:                         +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--= Calc(select=[window_end AS e, n], changelogMode=[I])
--= +- WindowAggregate(window=[HOP(time_col=[w], size=[2 h], slide=[1 h])], select=[window_start, window_end, window_time, SUM(n) AS n], changelogMode=[I])
--=    +- Calc(select=[window_start, window_end, window_time, n], changelogMode=[I])
--=       +- WindowTableFunction(window=[HOP(time_col=[w], size=[2 h], slide=[1 h])], changelogMode=[I])
--=          +- Calc(select=[window_time AS w, n], changelogMode=[I])
--=             +- WindowAggregate(window=[TUMBLE(time_col=[ts], size=[1 h])], select=[window_start, window_end, window_time, COUNT(*) AS n], changelogMode=[I])
--=                +- Calc(select=[window_start, window_end, window_time], changelogMode=[I])
--=                   +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[1 h])], changelogMode=[I])
--=                      +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=                         +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])

SELECT DISTINCT who, window_start, window_end FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR));
--: GroupAggregate(groupBy=[who, window_start, window_end], select=[who, window_start, window_end], changelogMode=[I])
--: +- Calc(select=[who, window_start, window_end], changelogMode=[I])
--:    +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[1 h])], changelogMode=[I])
--:       +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--:          +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--= WindowAggregate(groupBy=[who], window=[TUMBLE(time_col=[ts], size=[1 h])], select=[who, window_start, window_end], changelogMode=[I])
--= +- Calc(select=[who, window_start, window_end, window_time], changelogMode=[I])
--=    +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[1 h])], changelogMode=[I])
--=       +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=          +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])

-- Without the end of its window a group has rows of several.
SELECT who, window_start, SUM(n) AS n FROM TABLE(CUMULATE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' DAY)) GROUP BY who, window_start;
--= Calc(select=[who, window_start, n], changelogMode=[I,UB,UA])
--= +- GroupAggregate(groupBy=[who, window_start], select=[who, window_start, SUM(n) AS n], changelogMode=[I,UB,UA])
--=    +- Calc(select=[who, window_start, n], changelogMode=[I])
--=       +- WindowTableFunction(window=[CUMULATE(time_col=[ts], max_size=[1 d], step=[1 h])], changelogMode=[I])
--=          +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=             +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
