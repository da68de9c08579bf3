-- Each order with the rate that held at its time, when the watermark has passed it: the newest up to that very moment. One without a
-- rate gives nothing; keys of NULL are equal here, in Flink. Order 7 is late, and its rate still holds.
CREATE TABLE orders (id INT, cur STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/orders', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE changes (cur STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/changes', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE VIEW rates AS SELECT cur, rate, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY cur ORDER BY ts DESC) AS n FROM changes) WHERE n = 1;
CREATE TABLE answers (id INT, rate INT, ts TIMESTAMP(3), since TIMESTAMP(3)) WITH ('connector' = 'print');
INSERT INTO answers SELECT o.id, r.rate, o.ts, r.ts FROM orders AS o JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r USING (cur);
--= Sink(table=[default_catalog.default_database.answers], fields=[id, rate, ts, since], changelogMode=[I])
--= +- Calc(select=[id, rate, ts, ts0 AS since], changelogMode=[I])
--=    +- TemporalJoin(joinType=[InnerJoin], where=[(cur = cur0)], time=[ts, ts0], changelogMode=[I])
--=       +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=       |  +- TableSourceScan(table=[[default_catalog, default_database, orders]], fields=[id, cur, ts], changelogMode=[I])
--=       +- Calc(select=[cur AS cur0, rate, ts AS ts0], changelogMode=[I])
--=          +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=             +- TableSourceScan(table=[[default_catalog, default_database, changes]], fields=[cur, rate, ts], changelogMode=[I])
--< changes {"cur": "a", "rate": 1, "ts": "2026-01-01 00:00:00"}
--< changes {"cur": "b", "rate": 2, "ts": "2026-01-01 00:00:00"}
--< changes {"cur": null, "rate": 9, "ts": "2026-01-01 00:00:00"}
--< orders {"id": 1, "cur": "a", "ts": "2026-01-01 00:00:05"}
--< orders {"id": 2, "cur": "b", "ts": "2026-01-01 00:00:05"}
--< orders {"id": 3, "cur": null, "ts": "2026-01-01 00:00:05"}
--< orders {"id": 4, "cur": "c", "ts": "2026-01-01 00:00:05"}
--< changes {"cur": "a", "rate": 3, "ts": "2026-01-01 00:00:05"}
--> +I[1, 3, 2026-01-01T00:00:05, 2026-01-01T00:00:05]
--> +I[2, 2, 2026-01-01T00:00:05, 2026-01-01T00:00]
--> +I[3, 9, 2026-01-01T00:00:05, 2026-01-01T00:00]
--! restart
--< orders {"id": 5, "cur": "a", "ts": "2026-01-01 00:00:20"}
--< orders {"id": 6, "cur": "a", "ts": "2026-01-01 00:00:08"}
--< changes {"cur": "b", "rate": 7, "ts": "2026-01-01 00:00:06"}
--< changes {"cur": "a", "rate": 4, "ts": "2026-01-01 00:00:12"}
--< changes {"cur": "a", "rate": 5, "ts": "2026-01-01 00:00:22"}
--> +I[6, 3, 2026-01-01T00:00:08, 2026-01-01T00:00:05]
--> +I[5, 4, 2026-01-01T00:00:20, 2026-01-01T00:00:12]
--< orders {"id": 7, "cur": "a", "ts": "2026-01-01 00:00:15"}
--> +I[7, 4, 2026-01-01T00:00:15, 2026-01-01T00:00:12]
--! restart
--< orders {"id": 8, "cur": "b", "ts": "2026-01-01 00:00:21"}
--< orders {"id": 9, "cur": "a", "ts": "2026-01-01 00:00:30"}
--! end
--> +I[8, 7, 2026-01-01T00:00:21, 2026-01-01T00:00:06]
--> +I[9, 5, 2026-01-01T00:00:30, 2026-01-01T00:00:22]
