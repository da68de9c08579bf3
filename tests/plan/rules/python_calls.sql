SELECT n FROM clicks WHERE shout(who) = 'A';
--: Calc(select=[n], changelogMode=[I])
--: +- Calc(where=[(SHOUT(who) = 'A')], changelogMode=[I])
--:    +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--= Calc(select=[n], changelogMode=[I])
--= +- Calc(select=[who, n, ts], changelogMode=[I])
--=    +- Calc(where=[($py0 = 'A')], changelogMode=[I])
--=       +- Calc(select=[who, n, ts, SHOUT(who) AS $py0], changelogMode=[I])
--=          +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])

SELECT UPPER(shout(who)) AS w FROM clicks;
--: Calc(select=[UPPER(SHOUT(who)) AS w], changelogMode=[I])
--: +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--= Calc(select=[UPPER($py0) AS w], changelogMode=[I])
--= +- Calc(select=[who, n, ts, SHOUT(who) AS $py0], changelogMode=[I])
--=    +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])

-- A projection calls it already.
SELECT shout(who) AS w FROM clicks;
--= Calc(select=[SHOUT(who) AS w], changelogMode=[I])
--= +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
