-- NOT IN: with a NULL on the right no row is surely not in it.
CREATE TABLE lefts (k INT, v STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/lefts', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE rights (k INT, v STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/rights', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (a STRING, s TIMESTAMP(3)) WITH ('connector' = 'print');
INSERT INTO answers
SELECT l.v, l.window_start FROM (SELECT * FROM TABLE(TUMBLE(TABLE lefts, DESCRIPTOR(ts), INTERVAL '10' SECOND))) AS l
WHERE l.k NOT IN (SELECT k FROM (SELECT * FROM TABLE(TUMBLE(TABLE rights, DESCRIPTOR(ts), INTERVAL '10' SECOND))) AS r
  WHERE l.window_start = r.window_start AND l.window_end = r.window_end);
--= Sink(table=[default_catalog.default_database.answers], fields=[a, s], changelogMode=[I])
--= +- Calc(select=[v AS a, window_start AS s], changelogMode=[I])
--=    +- WindowJoin(joinType=[LeftAntiJoin], window=[TUMBLE(time_col=[ts], size=[10 s])], where=[window_start = window_start0 AND window_end = window_end0 AND NOT((k = k0) IS FALSE)], collects=[rows, rows], changelogMode=[I])
--=       +- Union(all=[true], union=[$side, $time, $start, $end, $0.k, $0.v, $0.ts, $1.k0, $1.v0, $1.ts0], changelogMode=[I])
--=          +- Calc(select=[0 AS $side, window_time AS $time, window_start AS $start, window_end AS $end, k AS $0.k, v AS $0.v, ts AS $0.ts, NULL AS $1.k0, NULL AS $1.v0, NULL AS $1.ts0], changelogMode=[I])
--=          |  +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[10 s])], changelogMode=[I])
--=          |     +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=          |        +- TableSourceScan(table=[[default_catalog, default_database, lefts]], fields=[k, v, ts], changelogMode=[I])
--=          +- Calc(select=[1 AS $side, window_time AS $time, window_start AS $start, window_end AS $end, NULL AS $0.k, NULL AS $0.v, NULL AS $0.ts, k AS $1.k0, v AS $1.v0, ts AS $1.ts0], changelogMode=[I])
--=             +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[10 s])], changelogMode=[I])
--=                +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=                   +- TableSourceScan(table=[[default_catalog, default_database, rights]], fields=[k, v, ts], changelogMode=[I])
--< lefts {"k": 1, "v": "L1", "ts": "2026-01-01 00:00:01"}
--< lefts {"k": 2, "v": "L2", "ts": "2026-01-01 00:00:02"}
--< lefts {"k": null, "v": "L0", "ts": "2026-01-01 00:00:02"}
--< rights {"k": 2, "v": "R2", "ts": "2026-01-01 00:00:03"}
--! restart
--< rights {"k": 3, "v": "R3", "ts": "2026-01-01 00:00:04"}
--< rights {"k": 2, "v": "K2", "ts": "2026-01-01 00:00:04"}
--< rights {"k": null, "v": "R0", "ts": "2026-01-01 00:00:05"}
--< lefts {"k": 4, "v": "L4", "ts": "2026-01-01 00:00:11"}
--< rights {"k": 4, "v": "R4", "ts": "2026-01-01 00:00:12"}
--! end
