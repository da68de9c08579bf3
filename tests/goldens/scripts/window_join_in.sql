-- IN: rows of the left whose key the right has in the same window.
CREATE TABLE lefts (k INT, v STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/lefts', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE rights (k INT, v STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/rights', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (a STRING, s TIMESTAMP(3)) WITH ('connector' = 'print');
INSERT INTO answers
SELECT v, window_start FROM (SELECT * FROM TABLE(TUMBLE(TABLE lefts, DESCRIPTOR(ts), INTERVAL '10' SECOND))) AS l
WHERE l.k IN (SELECT k FROM (SELECT * FROM TABLE(TUMBLE(TABLE rights, DESCRIPTOR(ts), INTERVAL '10' SECOND))) AS r
  WHERE l.window_start = r.window_start AND l.window_end = r.window_end);
--= WindowJoin(joinType=[LeftSemiJoin], window=[TUMBLE(time_col=[ts], size=[10 s])]
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
--> +I[L2, 2026-01-01T00:00]
--! end
--> +I[L4, 2026-01-01T00:00:10]
