SELECT who FROM clicks WHERE ts > CURRENT_WATERMARK(ts);
--: Calc(select=[who], changelogMode=[I])
--: +- Calc(where=[(ts > CURRENT_WATERMARK(ts))], changelogMode=[I])
--:    +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--:       +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--= Calc(select=[who], changelogMode=[I])
--= +- Calc(select=[who, n, ts], changelogMode=[I])
--=    +- Calc(where=[(ts > $watermark)], changelogMode=[I])
--=       +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=          +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])

SELECT who, CURRENT_WATERMARK(ts) AS reached FROM clicks;
--: Calc(select=[who, CURRENT_WATERMARK(ts) AS reached], changelogMode=[I])
--: +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--:    +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
--= Calc(select=[who, $watermark AS reached], changelogMode=[I])
--= +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=    +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])

SELECT n FROM clicks WHERE ts > TIMESTAMP '2026-01-01 00:00:00';
--= Calc(select=[n], changelogMode=[I])
--= +- Calc(where=[(ts > CAST(TIMESTAMP '2026-01-01 00:00:00' AS TIMESTAMP(3)))], changelogMode=[I])
--=    +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '5' SECOND)], changelogMode=[I])
--=       +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who, n, ts], changelogMode=[I])
