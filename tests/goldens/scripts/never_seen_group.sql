-- A row goes that never came: a group without rows has none to give, in any other it is subtracted.
CREATE TABLE d (k INT, v INT) WITH ('connector' = 'filesystem', 'path' = '${DIR}/d', 'format' = 'debezium-json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (k INT, n BIGINT, s INT, lo INT, hi INT, m BIGINT, l STRING) WITH ('connector' = 'print');
INSERT INTO answers SELECT k, COUNT(*), SUM(v), MIN(v), MAX(v), COUNT(DISTINCT v), LISTAGG(CAST(v AS STRING)) FROM d GROUP BY k;
--= GroupAggregate(groupBy=[k], select=[k, COUNT(*) AS
--! never seen
--< d {"before": {"k": 1, "v": 10}, "after": null, "op": "d"}
--< d {"before": null, "after": {"k": 1, "v": 10}, "op": "c"}
--< d {"before": null, "after": {"k": 2, "v": 20}, "op": "c"}
--< d {"before": {"k": 2, "v": 20}, "after": null, "op": "d"}
--< d {"before": {"k": 2, "v": 20}, "after": null, "op": "d"}
--< d {"before": null, "after": {"k": 2, "v": 20}, "op": "c"}
--< d {"before": {"k": 4, "v": 40}, "after": null, "op": "d"}
--< d {"before": null, "after": {"k": 6, "v": 60}, "op": "c"}
--< d {"before": {"k": 6, "v": 99}, "after": null, "op": "d"}
--> +I[1, 1, 10, 10, 10, 1, 10]  +I[2, 1, 20, 20, 20, 1, 20]
--< d {"before": null, "after": {"k": 4, "v": 40}, "op": "c"}
--< d {"before": {"k": 1, "v": 99}, "after": null, "op": "d"}
--< d {"before": {"k": 6, "v": 99}, "after": null, "op": "d"}
--> -D[1, 1, 10, 10, 10, 1, 10]  +I[4, 1, 40, 40, 40, 1, 40]
--! restart
--< d {"before": null, "after": {"k": 1, "v": 5}, "op": "c"}
--< d {"before": null, "after": {"k": 1, "v": 6}, "op": "c"}
--< d {"before": null, "after": {"k": 1, "v": 7}, "op": "c"}
--< d {"before": {"k": 1, "v": 99}, "after": null, "op": "d"}
--< d {"before": {"k": 1, "v": 99}, "after": null, "op": "d"}
--> +I[1, 1, -180, 5, 7, 3, 5,6,7]
--< d {"before": null, "after": {"k": 1, "v": 99}, "op": "c"}
--> -U[1, 1, -180, 5, 7, 3, 5,6,7]  +U[1, 2, -81, 5, 99, 3, 5,6,7,99]
