-- The joined row is joined once more by the time of the left, with versions of another table.
CREATE TABLE orders (id INT, cur STRING, land STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/orders', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE rates (cur STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (cur) NOT ENFORCED)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/rates', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE changes (land STRING, tax INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/changes', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE VIEW taxes AS SELECT land, tax, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY land ORDER BY ts DESC) AS n FROM changes) WHERE n <= 1;
CREATE TABLE answers (id INT, rate INT, tax INT) WITH ('connector' = 'print');
INSERT INTO answers SELECT o.id, r.rate, t.tax FROM orders AS o JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.cur = r.cur
LEFT JOIN taxes FOR SYSTEM_TIME AS OF o.ts AS t ON o.land = t.land WHERE r.rate > 1 AND o.id < 100;
--! any order
--= Sink(table=[default_catalog.default_database.answers], fields=[id, rate, tax], changelogMode=[I])
--= +- Calc(select=[id, rate, tax], changelogMode=[I])
--=    +- TemporalJoin(joinType=[LeftOuterJoin], where=[(land = land0)], time=[ts, ts1], changelogMode=[I])
--=       +- Calc(select=[id, land, ts, rate], changelogMode=[I])
--=       |  +- Calc(where=[(rate > 1)], changelogMode=[I])
--=       |     +- TemporalJoin(joinType=[InnerJoin], where=[(cur = cur0)], time=[ts, ts0], changelogMode=[I])
--=       |        +- Calc(where=[(id < 100)], changelogMode=[I])
--=       |        |  +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=       |        |     +- TableSourceScan(table=[[default_catalog, default_database, orders]], fields=[id, cur, land, ts], changelogMode=[I])
--=       |        +- Calc(select=[cur AS cur0, rate, ts AS ts0], changelogMode=[I])
--=       |           +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=       |              +- TableSourceScan(table=[[default_catalog, default_database, rates]], fields=[cur, rate, ts], changelogMode=[I])
--=       +- Calc(select=[land AS land0, tax, ts AS ts1], changelogMode=[I])
--=          +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=             +- TableSourceScan(table=[[default_catalog, default_database, changes]], fields=[land, tax, ts], changelogMode=[I])
--< rates {"cur": "a", "rate": 1, "ts": "2026-01-01 00:00:00"}
--< rates {"cur": "a", "rate": 2, "ts": "2026-01-01 00:00:04"}
--< changes {"land": "x", "tax": 10, "ts": "2026-01-01 00:00:03"}
--< changes {"land": null, "tax": 99, "ts": "2026-01-01 00:00:03"}
--< orders {"id": 1, "cur": "a", "land": "x", "ts": "2026-01-01 00:00:02"}
--< orders {"id": 2, "cur": "a", "land": "x", "ts": "2026-01-01 00:00:05"}
--< orders {"id": 3, "cur": "a", "land": null, "ts": "2026-01-01 00:00:06"}
--< orders {"id": 4, "cur": "z", "land": "x", "ts": "2026-01-01 00:00:06"}
--< orders {"id": 100, "cur": "a", "land": "x", "ts": "2026-01-01 00:00:06"}
--! restart
--< rates {"cur": "a", "rate": 3, "ts": "2026-01-01 00:00:12"}
--< changes {"land": "x", "tax": 20, "ts": "2026-01-01 00:00:10"}
--< orders {"id": 5, "cur": "a", "land": "x", "ts": "2026-01-01 00:00:11"}
--> +I[2, 2, 10] +I[3, 2, 99]
--! end
--> +I[5, 2, 20]
