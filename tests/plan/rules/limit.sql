-- By the ORDER BY below it, or as rows come.
SELECT who, n FROM clicks ORDER BY n DESC LIMIT 3;
--: Limit(fetch=[3], changelogMode=[I])
--: +- Sort(orderBy=[n DESC], changelogMode=[I])
--:    +- Calc(select=[who, n], changelogMode=[I])
--:       +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--:          +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--= Rank(rankRange=[rankStart=1, rankEnd=3], orderBy=[n DESC], changelogMode=[I,UB,UA,D])
--= +- Calc(select=[who, n], changelogMode=[I])
--=    +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=       +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])

SELECT who FROM clicks LIMIT 2;
--: Limit(fetch=[2], changelogMode=[I])
--: +- Calc(select=[who], changelogMode=[I])
--:    +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--:       +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--= Rank(rankRange=[rankStart=1, rankEnd=2], changelogMode=[I,UB,UA,D])
--= +- Calc(select=[who], changelogMode=[I])
--=    +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=       +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])

-- The first row that comes stays the first.
SELECT who FROM clicks LIMIT 1;
--: Limit(fetch=[1], changelogMode=[I])
--: +- Calc(select=[who], changelogMode=[I])
--:    +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--:       +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--= Rank(rankRange=[rankStart=1, rankEnd=1], changelogMode=[I])
--= +- Calc(select=[who], changelogMode=[I])
--=    +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=       +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])

-- All rows are there at once.
SELECT name FROM totals LIMIT 3;
--= Limit(fetch=[3], changelogMode=[I])
--= +- Calc(select=[name], changelogMode=[I])
--=    +- TableSourceScan(table=[[default_catalog, default_database, totals]], fields=[name, total], changelogMode=[I])
