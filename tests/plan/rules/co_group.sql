SELECT a.who, a.n, b.page
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR)) AS a
JOIN TABLE(TUMBLE(TABLE visits, DESCRIPTOR(ts), INTERVAL '1' HOUR)) AS b
ON a.who = b.who AND a.window_start = b.window_start AND a.window_end = b.window_end;
--: Calc(select=[who, n, page], changelogMode=[I])
--: +- WindowJoin(joinType=[InnerJoin], window=[TUMBLE(time_col=[ts], size=[1 h])], where=[window_start = window_start0 AND window_end = window_end0 AND who = who0], changelogMode=[I])
--:    +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[1 h])], changelogMode=[I])
--:    |  +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--:    |     +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--:    +- Calc(select=[who AS who0, page, ts AS ts0, window_start AS window_start0, window_end AS window_end0, window_time AS window_time0], changelogMode=[I])
--:       +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[1 h])], changelogMode=[I])
--:          +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--:             +- TableSourceScan(table=[[default_catalog, default_database, visits]], fields=[who, page, ts], changelogMode=[I])
--= Calc(select=[who, n, page], changelogMode=[I])
--= +- WindowJoin(joinType=[InnerJoin], window=[TUMBLE(time_col=[ts], size=[1 h])], where=[window_start = window_start0 AND window_end = window_end0 AND who = who0], collects=[rows, rows], changelogMode=[I])
--=    +- Union(all=[true], union=[$side, $time, $start, $end, $k0, $alone, $0.who, $0.n, $0.ts, $1.who0, $1.page, $1.ts0], changelogMode=[I])
--=       +- Calc(select=[0 AS $side, window_time AS $time, window_start AS $start, window_end AS $end, who AS $k0, CASE WHEN who IS NULL THEN 0 ELSE -1 END AS $alone, who AS $0.who, n AS $0.n, ts AS $0.ts, NULL AS $1.who0, NULL AS $1.page, NULL AS $1.ts0], changelogMode=[I])
--=       |  +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[1 h])], changelogMode=[I])
--=       |     +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=       |        +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--=       +- Calc(select=[1 AS $side, window_time0 AS $time, window_start0 AS $start, window_end0 AS $end, who0 AS $k0, CASE WHEN who0 IS NULL THEN 1 ELSE -1 END AS $alone, NULL AS $0.who, NULL AS $0.n, NULL AS $0.ts, who0 AS $1.who0, page AS $1.page, ts0 AS $1.ts0], changelogMode=[I])
--=          +- Calc(select=[who AS who0, page, ts AS ts0, window_start AS window_start0, window_end AS window_end0, window_time AS window_time0], changelogMode=[I])
--=             +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[1 h])], changelogMode=[I])
--=                +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=                   +- TableSourceScan(table=[[default_catalog, default_database, visits]], fields=[who, page, ts], changelogMode=[I])

-- Both sides read one topic, and one is an aggregate by the join's keys.
SELECT a.who, a.n, b.most
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR)) AS a
JOIN (SELECT who, window_start, window_end, MAX(n) AS most
  FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY who, window_start, window_end) AS b
ON a.who = b.who AND a.window_start = b.window_start AND a.window_end = b.window_end;
--: Calc(select=[who, n, most], changelogMode=[I])
--: +- Calc(select=[who, n, ts, window_start, window_end, window_time, who0, window_start0, window_end0, most], changelogMode=[I])
--:    +- WindowJoin(joinType=[InnerJoin], window=[TUMBLE(time_col=[ts], size=[1 h])], where=[window_start = window_start0 AND window_end = window_end0 AND who = who0], changelogMode=[I])
--:       +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[1 h])], changelogMode=[I])
--:       |  +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--:       |     +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--:       +- Calc(select=[who0, window_start0, window_end0, most, window_time AS window_time0], changelogMode=[I])
--:          +- Calc(select=[who AS who0, window_start AS window_start0, window_end AS window_end0, most, window_time], changelogMode=[I])
--:             +- Calc(select=[who, window_start, window_end, most, window_time], changelogMode=[I])
--:                +- WindowAggregate(groupBy=[who], window=[TUMBLE(time_col=[ts], size=[1 h])], select=[who, window_start, window_end, window_time, MAX(n) AS most], changelogMode=[I])
--:                   +- Calc(select=[who, window_start, window_end, n, window_time], changelogMode=[I])
--:                      +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[1 h])], changelogMode=[I])
--:                         +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--:                            +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--= Calc(select=[who, n, most], changelogMode=[I])
--= +- Calc(select=[who, n, ts, window_start, window_end, window_time, who0, window_start0, window_end0, most], changelogMode=[I])
--=    +- WindowJoin(joinType=[InnerJoin], window=[TUMBLE(time_col=[ts], size=[1 h])], where=[window_start = window_start0 AND window_end = window_end0 AND who = who0], collects=[rows, aggregates], changelogMode=[I])
--=       +- Union(all=[true], union=[$side, $time, $start, $end, $k0, $alone, $0.who, $0.n, $0.ts, $1.n], changelogMode=[I])
--=          +- Calc(select=[0 AS $side, window_time AS $time, window_start AS $start, window_end AS $end, who AS $k0, CASE WHEN who IS NULL THEN 0 ELSE -1 END AS $alone, who AS $0.who, n AS $0.n, ts AS $0.ts, NULL AS $1.n], changelogMode=[I])
--=          |  +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[1 h])], changelogMode=[I])
--=          |     +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=          |        +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--=          +- Calc(select=[1 AS $side, window_time AS $time, window_start AS $start, window_end AS $end, who AS $k0, CASE WHEN who IS NULL THEN 1 ELSE -1 END AS $alone, NULL AS $0.who, NULL AS $0.n, NULL AS $0.ts, n AS $1.n], changelogMode=[I])
--=             +- Calc(select=[who, window_start, window_end, n, window_time], changelogMode=[I])
--=                +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[1 h])], changelogMode=[I])
--=                   +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=                      +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])

SELECT a.n, b.page FROM clicks AS a JOIN visits AS b ON a.who = b.who;
--= Calc(select=[n, page], changelogMode=[I])
--= +- Join(joinType=[InnerJoin], where=[(who = who0)], changelogMode=[I])
--=    +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=    |  +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--=    +- Calc(select=[who AS who0, page, ts AS ts0], changelogMode=[I])
--=       +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=          +- TableSourceScan(table=[[default_catalog, default_database, visits]], fields=[who, page, ts], changelogMode=[I])
