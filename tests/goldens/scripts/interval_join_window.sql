-- A window above an interval join waits for rows that the join gives later than their time: here L2 with R2, of the first window.
CREATE TABLE lefts (k INT, v STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/lefts', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE rights (k INT, v STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/rights', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE VIEW pairs AS SELECT l.k, l.v AS a, r.v AS b, l.ts FROM lefts AS l JOIN rights AS r
ON l.k = r.k AND r.ts BETWEEN l.ts AND l.ts + INTERVAL '10' SECOND;
CREATE TABLE answers (s TIMESTAMP(3), e TIMESTAMP(3), k INT, n BIGINT, a STRING) WITH ('connector' = 'print');
INSERT INTO answers SELECT window_start, window_end, k, COUNT(*), MAX(a) FROM TABLE(TUMBLE(TABLE pairs, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, k;
--! any order
--= Sink(table=[default_catalog.default_database.answers], fields=[s, e, k, n, a], changelogMode=[I])
--= +- Calc(select=[window_start AS s, window_end AS e, k, EXPR$3 AS n, EXPR$4 AS a], changelogMode=[I])
--=    +- WindowAggregate(groupBy=[k], window=[TUMBLE(time_col=[ts], size=[10 s])], select=[window_start, window_end, k, COUNT(*) AS EXPR$3, MAX(a) AS EXPR$4], changelogMode=[I])
--=       +- Calc(select=[window_start, window_end, k, a, window_time], changelogMode=[I])
--=          +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[10 s])], changelogMode=[I])
--=             +- Calc(select=[k, v AS a, v0 AS b, ts], changelogMode=[I])
--=                +- IntervalJoin(joinType=[InnerJoin], windowBounds=[isRowTime=true, leftLowerBound=-10000, leftUpperBound=0, leftTimeIndex=2, rightTimeIndex=2], where=[(((k = k0) AND (ts0 >= ts)) AND (ts0 <= (ts + INTERVAL '10' SECOND)))], changelogMode=[I])
--=                   +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=                   |  +- TableSourceScan(table=[[default_catalog, default_database, lefts]], fields=[k, v, ts], changelogMode=[I])
--=                   +- Calc(select=[k AS k0, v AS v0, ts AS ts0], changelogMode=[I])
--=                      +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=                         +- TableSourceScan(table=[[default_catalog, default_database, rights]], fields=[k, v, ts], changelogMode=[I])
--< lefts {"k": 1, "v": "L1", "ts": "2026-01-01 00:00:01"}
--< lefts {"k": 1, "v": "L2", "ts": "2026-01-01 00:00:08"}
--< lefts {"k": null, "v": "L0", "ts": "2026-01-01 00:00:08"}
--< rights {"k": 1, "v": "R1", "ts": "2026-01-01 00:00:04"}
--< lefts {"k": 1, "v": "L3", "ts": "2026-01-01 00:00:14"}
--< rights {"k": 3, "v": "R9", "ts": "2026-01-01 00:00:14"}
--! restart
--< rights {"k": 1, "v": "R2", "ts": "2026-01-01 00:00:17"}
--< lefts {"k": 3, "v": "L9", "ts": "2026-01-01 00:00:19"}
--! restart
--< lefts {"k": 4, "v": "L4", "ts": "2026-01-01 00:00:35"}
--< rights {"k": 3, "v": "R5", "ts": "2026-01-01 00:00:29"}
--> +I[2026-01-01T00:00, 2026-01-01T00:00:10, 1, 2, L2]
--< lefts {"k": 3, "v": "L6", "ts": "2026-01-01 00:00:33"}
--< rights {"k": 4, "v": "R7", "ts": "2026-01-01 00:00:36"}
--> +I[2026-01-01T00:00:10, 2026-01-01T00:00:20, 1, 1, L3]
--> +I[2026-01-01T00:00:10, 2026-01-01T00:00:20, 3, 1, L9]
--! end
--> +I[2026-01-01T00:00:30, 2026-01-01T00:00:40, 4, 1, L4]
