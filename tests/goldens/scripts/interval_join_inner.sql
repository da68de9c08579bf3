-- Rows whose times are near, the bounds included. Rows that are late find what is kept of the other side.
CREATE TABLE lefts (k INT, v STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/lefts', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE rights (k INT, v STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/rights', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (a STRING, b STRING) WITH ('connector' = 'print');
INSERT INTO answers SELECT l.v, r.v FROM lefts AS l JOIN rights AS r
ON l.k = r.k AND l.ts BETWEEN r.ts - INTERVAL '5' SECOND AND r.ts + INTERVAL '10' SECOND AND l.v <> r.v;
--= Sink(table=[default_catalog.default_database.answers], fields=[a, b], changelogMode=[I])
--= +- Calc(select=[v AS a, v0 AS b], changelogMode=[I])
--=    +- IntervalJoin(joinType=[InnerJoin], windowBounds=[isRowTime=true, leftLowerBound=-5000, leftUpperBound=10000, leftTimeIndex=2, rightTimeIndex=2], where=[((((k = k0) AND (ts >= (ts0 - INTERVAL '5' SECOND))) AND (ts <= (ts0 + INTERVAL '10' SECOND))) AND (v <> v0))], changelogMode=[I])
--=       +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=       |  +- TableSourceScan(table=[[default_catalog, default_database, lefts]], fields=[k, v, ts], changelogMode=[I])
--=       +- Calc(select=[k AS k0, v AS v0, ts AS ts0], changelogMode=[I])
--=          +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=             +- TableSourceScan(table=[[default_catalog, default_database, rights]], fields=[k, v, ts], changelogMode=[I])
--< lefts {"k": 1, "v": "L1", "ts": "2026-01-01 00:00:10"}
--< lefts {"k": 2, "v": "L2", "ts": "2026-01-01 00:00:10"}
--< lefts {"k": null, "v": "L0", "ts": "2026-01-01 00:00:10"}
--< rights {"k": 1, "v": "R1", "ts": "2026-01-01 00:00:15"}
--< rights {"k": 1, "v": "R2", "ts": "2026-01-01 00:00:16"}
--< rights {"k": 1, "v": "R3", "ts": "2026-01-01 00:00:00"}
--< rights {"k": 1, "v": "L1", "ts": "2026-01-01 00:00:10"}
--< rights {"k": null, "v": "R0", "ts": "2026-01-01 00:00:10"}
--> +I[L1, R1] +I[L1, R3]
--! restart
--< lefts {"k": 1, "v": "L3", "ts": "2026-01-01 00:00:26"}
--< rights {"k": 2, "v": "R4", "ts": "2026-01-01 00:00:30"}
--> +I[L3, R2]
--< lefts {"k": 2, "v": "L4", "ts": "2026-01-01 00:00:25"}
--< rights {"k": 1, "v": "R5", "ts": "2026-01-01 00:00:16"}
--> +I[L4, R4] +I[L3, R5]
--! end
