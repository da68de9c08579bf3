INSERT INTO totals SELECT who, COUNT(*) FROM clicks GROUP BY who;
--: Sink(table=[default_catalog.default_database.totals], fields=[name, total], changelogMode=[I,UB,UA])
--: +- Calc(select=[who AS name, EXPR$1 AS total], changelogMode=[I,UB,UA])
--:    +- GroupAggregate(groupBy=[who], select=[who, COUNT(*) AS EXPR$1], changelogMode=[I,UB,UA])
--:       +- Calc(select=[who], changelogMode=[I])
--:          +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--= Sink(table=[default_catalog.default_database.totals], fields=[name, total], changelogMode=[I,UA])
--= +- Calc(select=[who AS name, EXPR$1 AS total], changelogMode=[I,UA])
--=    +- GroupAggregate(groupBy=[who], select=[who, COUNT(*) AS EXPR$1], changelogMode=[I,UA])
--=       +- Calc(select=[who], changelogMode=[I])
--=          +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])

-- Another key than the sink's: what a row was has to be known.
INSERT INTO totals SELECT CONCAT(who, '!'), total FROM (SELECT who, COUNT(*) AS total FROM clicks GROUP BY who);
--= Sink(table=[default_catalog.default_database.totals], fields=[name, total], changelogMode=[I,UB,UA,D])
--= +- Rank(rankRange=[rankStart=1, rankEnd=1], partitionBy=[name], changelogMode=[I,UB,UA,D])
--=    +- Calc(select=[CONCAT(who, '!') AS name, total], changelogMode=[I,UB,UA])
--=       +- GroupAggregate(groupBy=[who], select=[who, COUNT(*) AS total], changelogMode=[I,UB,UA])
--=          +- Calc(select=[who], changelogMode=[I])
--=             +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
