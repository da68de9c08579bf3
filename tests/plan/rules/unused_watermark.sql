SELECT who, ts FROM clicks;
--: Calc(select=[who, ts], changelogMode=[I])
--: +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--:    +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--= Calc(select=[who, ts], changelogMode=[I])
--= +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])

-- The windows wait for it.
SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
--= Calc(select=[EXPR$0], changelogMode=[I])
--= +- WindowAggregate(window=[TUMBLE(time_col=[ts], size=[1 h])], select=[window_start, window_end, COUNT(*) AS EXPR$0], changelogMode=[I])
--=    +- Calc(select=[window_start, window_end, window_time], changelogMode=[I])
--=       +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[1 h])], changelogMode=[I])
--=          +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=             +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
