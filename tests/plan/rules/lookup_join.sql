SELECT c.n, t.total FROM (SELECT *, PROCTIME() AS p FROM clicks) AS c JOIN totals FOR SYSTEM_TIME AS OF c.p AS t ON c.who = t.name AND t.total > 3 AND c.n > 1;
--: Calc(select=[n, total], changelogMode=[I])
--: +- Join(joinType=[InnerJoin], where=[(((who = name) AND (total > 3)) AND (n > 1))], changelogMode=[I])
--:    +- Calc(select=[who, n, ts, PROCTIME() AS p], changelogMode=[I])
--:    |  +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--:    |     +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--:    +- Snapshot(period=[p], changelogMode=[I])
--:       +- TableSourceScan(table=[[default_catalog, default_database, totals]], fields=[name, total], changelogMode=[I])
--= Calc(select=[n, total], changelogMode=[I])
--= +- LookupJoin(table=[default_catalog.default_database.totals], joinType=[InnerJoin], lookup=[name=who], where=[(total > 3)], select=[who, n, ts, p, name, total], changelogMode=[I])
--=    +- Calc(where=[(n > 1)], changelogMode=[I])
--=       +- Calc(select=[who, n, ts, PROCTIME() AS p], changelogMode=[I])
--=          +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=             +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])

-- What an outer join asks of its left stays its condition.
SELECT c.n, t.total FROM (SELECT *, PROCTIME() AS p FROM clicks) AS c LEFT JOIN totals FOR SYSTEM_TIME AS OF c.p AS t ON c.who = t.name AND c.n > 1;
--: Calc(select=[n, total], changelogMode=[I])
--: +- Join(joinType=[LeftOuterJoin], where=[((who = name) AND (n > 1))], changelogMode=[I])
--:    +- Calc(select=[who, n, ts, PROCTIME() AS p], changelogMode=[I])
--:    |  +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--:    |     +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--:    +- Snapshot(period=[p], changelogMode=[I])
--:       +- TableSourceScan(table=[[default_catalog, default_database, totals]], fields=[name, total], changelogMode=[I])
--= Calc(select=[n, total], changelogMode=[I])
--= +- LookupJoin(table=[default_catalog.default_database.totals], joinType=[LeftOuterJoin], lookup=[name=who], joinCondition=[(n > 1)], select=[who, n, ts, p, name, total], changelogMode=[I])
--=    +- Calc(select=[who, n, ts, PROCTIME() AS p], changelogMode=[I])
--=       +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=          +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])

-- Of a rowtime it is a temporal join.
SELECT c.n, h.city FROM clicks AS c JOIN homes FOR SYSTEM_TIME AS OF c.ts AS h ON c.who = h.owner;
--= Calc(select=[n, city], changelogMode=[I,UB,UA,D])
--= +- Join(joinType=[InnerJoin], where=[(who = owner)], changelogMode=[I,UB,UA,D])
--=    +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=    |  +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--=    +- Snapshot(period=[ts], changelogMode=[I,UB,UA,D])
--=       +- WatermarkAssigner(rowtime=[since], watermark=[since], changelogMode=[I,UB,UA,D])
--=          +- TableSourceScan(table=[[default_catalog, default_database, homes]], fields=[owner, city, since], changelogMode=[I,UB,UA,D])

SELECT c.n, t.total FROM clicks AS c JOIN totals AS t ON c.who = t.name;
--= Calc(select=[n, total], changelogMode=[I])
--= +- Join(joinType=[InnerJoin], where=[(who = name)], changelogMode=[I])
--=    +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=    |  +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--=    +- TableSourceScan(table=[[default_catalog, default_database, totals]], fields=[name, total], changelogMode=[I])
