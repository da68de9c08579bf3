SELECT who, CURRENT_TIMESTAMP AS now_, LOCALTIMESTAMP AS here FROM clicks;
--: Calc(select=[who, CURRENT_TIMESTAMP() AS now_, LOCALTIMESTAMP() AS here], changelogMode=[I])
--: +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--= Calc(select=[who, CURRENT_TIMESTAMP($now) AS now_, LOCALTIMESTAMP($now) AS here], changelogMode=[I])
--= +- Calc(select=[who, n, ts, CURRENT_ROW_TIMESTAMP() AS $now], changelogMode=[I])
--=    +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])

-- In a condition it is the micro-batch's.
SELECT who FROM clicks WHERE ts < LOCALTIMESTAMP;
--= Calc(select=[who], changelogMode=[I])
--= +- Calc(where=[(ts < LOCALTIMESTAMP())], changelogMode=[I])
--=    +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
