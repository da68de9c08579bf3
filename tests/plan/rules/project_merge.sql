SELECT m + 1 AS o FROM (SELECT n * 2 AS m FROM clicks);
--: Calc(select=[(m + 1) AS o], changelogMode=[I])
--: +- Calc(select=[(n * 2) AS m], changelogMode=[I])
--:    +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--= Calc(select=[((n * 2) + 1) AS o], changelogMode=[I])
--= +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])

-- What changes nothing is left out.
SELECT who, n FROM (SELECT who, MAX(n) AS n FROM clicks GROUP BY who);
--: Calc(select=[who, n], changelogMode=[I,UB,UA])
--: +- Calc(select=[who, n], changelogMode=[I,UB,UA])
--:    +- GroupAggregate(groupBy=[who], select=[who, MAX(n) AS n], changelogMode=[I,UB,UA])
--:       +- Calc(select=[who, n], changelogMode=[I])
--:          +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--= GroupAggregate(groupBy=[who], select=[who, MAX(n) AS n], changelogMode=[I,UB,UA])
--= +- Calc(select=[who, n], changelogMode=[I])
--=    +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])

-- m would be computed twice.
SELECT m, m + 1 AS o FROM (SELECT n * 2 AS m FROM clicks);
--= Calc(select=[m, (m + 1) AS o], changelogMode=[I])
--= +- Calc(select=[(n * 2) AS m], changelogMode=[I])
--=    +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
