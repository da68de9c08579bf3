-- UNNEST below a window: the time attribute of the row to its left is still one.
CREATE TABLE carts (tags ARRAY<STRING>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/carts', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE counts (tag STRING, window_end TIMESTAMP(3), n BIGINT) WITH ('connector' = 'print');
CREATE VIEW tagged AS SELECT ts, tag FROM carts CROSS JOIN UNNEST(tags) AS t (tag);
INSERT INTO counts
SELECT tag, window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE tagged, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY tag, window_start, window_end;
--! any order
--= Sink(table=[default_catalog.default_database.counts], fields=[tag, window_end, n], changelogMode=[I])
--= +- Calc(select=[tag, window_end, EXPR$2 AS n], changelogMode=[I])
--=    +- WindowAggregate(groupBy=[tag], window=[TUMBLE(time_col=[ts], size=[1 min])], select=[tag, window_start, window_end, COUNT(*) AS EXPR$2], changelogMode=[I])
--=       +- Calc(select=[tag, window_start, window_end, window_time], changelogMode=[I])
--=          +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[1 min])], changelogMode=[I])
--=             +- Calc(select=[ts, tag], changelogMode=[I])
--=                +- Correlate(invocation=[UNNEST(tags)], select=[tag], joinType=[INNER], changelogMode=[I])
--=                   +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '1' SECOND)], changelogMode=[I])
--=                      +- TableSourceScan(table=[[default_catalog, default_database, carts]], fields=[tags, ts], changelogMode=[I])
--< carts {"tags": ["x", "y", null], "ts": "2024-01-01 00:00:10"}
--< carts {"tags": ["x"], "ts": "2024-01-01 00:00:20"}
--< carts {"tags": [], "ts": "2024-01-01 00:01:30"}
--> +I[x, 2024-01-01T00:01, 2] +I[y, 2024-01-01T00:01, 1] +I[null, 2024-01-01T00:01, 1]
--! restart
--<late carts {"tags": ["x"], "ts": "2024-01-01 00:00:40"}
--< carts {"tags": ["x", "x"], "ts": "2024-01-01 00:01:40"}
--! end
--> +I[x, 2024-01-01T00:02, 2]
