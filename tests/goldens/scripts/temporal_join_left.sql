-- An order without a rate comes alone: before the first, of a key of NULL, and where the rate that held fails the further conditions.
CREATE TABLE orders (id INT, cur STRING, most INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/orders', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE rates (cur STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (cur) NOT ENFORCED)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/rates', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (id INT, rate INT) WITH ('connector' = 'print');
INSERT INTO answers SELECT o.id, r.rate FROM orders AS o LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r
ON UPPER(o.cur) = r.cur AND r.rate <= o.most AND o.id <> 5;
--! any order
--= Sink(table=[default_catalog.default_database.answers], fields=[id, rate], changelogMode=[I])
--= +- Calc(select=[id, rate], changelogMode=[I])
--=    +- TemporalJoin(joinType=[LeftOuterJoin], where=[(((UPPER(cur) = cur0) AND (rate <= most)) AND (id <> 5))], time=[ts, ts0], changelogMode=[I])
--=       +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=       |  +- TableSourceScan(table=[[default_catalog, default_database, orders]], fields=[id, cur, most, ts], changelogMode=[I])
--=       +- Calc(select=[cur AS cur0, rate, ts AS ts0], changelogMode=[I])
--=          +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=             +- TableSourceScan(table=[[default_catalog, default_database, rates]], fields=[cur, rate, ts], changelogMode=[I])
--< rates {"cur": "A", "rate": 5, "ts": "2026-01-01 00:00:02"}
--< rates {"cur": "A", "rate": 8, "ts": "2026-01-01 00:00:10"}
--< orders {"id": 1, "cur": "a", "most": 9, "ts": "2026-01-01 00:00:01"}
--< orders {"id": 2, "cur": "A", "most": 9, "ts": "2026-01-01 00:00:02"}
--< orders {"id": 3, "cur": "a", "most": 4, "ts": "2026-01-01 00:00:03"}
--< orders {"id": 4, "cur": null, "most": 9, "ts": "2026-01-01 00:00:04"}
--< orders {"id": 5, "cur": "a", "most": 9, "ts": "2026-01-01 00:00:05"}
--< orders {"id": 6, "cur": "a", "most": 9, "ts": "2026-01-01 00:00:09"}
--> +I[1, null] +I[2, 5] +I[3, null] +I[4, null] +I[5, null] +I[6, 5]
--! restart
--< orders {"id": 7, "cur": "a", "most": 9, "ts": "2026-01-01 00:00:12"}
--< orders {"id": 8, "cur": "b", "most": 9, "ts": "2026-01-01 00:00:09"}
--> +I[8, null]
--! end
--> +I[7, 8]
