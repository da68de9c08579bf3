SET 'table.exec.state.ttl' = '1 h';
SELECT who, COUNT(*) FROM clicks GROUP BY who;
--: GroupAggregate(groupBy=[who], select=[who, COUNT(*) AS EXPR$1], changelogMode=[I,UB,UA])
--: +- Calc(select=[who], changelogMode=[I])
--:    +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--= GroupAggregate(groupBy=[who], select=[who, COUNT(*) AS EXPR$1], stateTtl=[1 h], changelogMode=[I,UB,UA])
--= +- Calc(select=[who], changelogMode=[I])
--=    +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])

-- A hint is nearer.
SELECT /*+ STATE_TTL('c' = '2 d') */ who, COUNT(*) FROM clicks AS c GROUP BY who;
--= GroupAggregate(groupBy=[who], select=[who, COUNT(*) AS EXPR$1], stateTtl=[2 d], changelogMode=[I,UB,UA])
--= +- Calc(select=[who], changelogMode=[I])
--=    +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])

-- Windows end by themselves.
SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
--= Calc(select=[EXPR$0], changelogMode=[I])
--= +- WindowAggregate(window=[TUMBLE(time_col=[ts], size=[1 h])], select=[window_start, window_end, COUNT(*) AS EXPR$0], changelogMode=[I])
--=    +- Calc(select=[window_start, window_end, window_time], changelogMode=[I])
--=       +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[1 h])], changelogMode=[I])
--=          +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=             +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
