-- UNNEST over rows that change: each element comes and goes with its row. A MULTISET has a value as often as it counts.
CREATE TABLE votes (id INT, name STRING)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/votes', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (id INT, name STRING, n BIGINT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT id, x, n FROM (SELECT id, COLLECT(name) AS names, COUNT(*) AS n FROM votes GROUP BY id) CROSS JOIN UNNEST(names) AS t (x);
--= Sink(table=[default_catalog.default_database.answers], fields=[id, name, n], changelogMode=[I,UB,UA])
--= +- Calc(select=[id, x AS name, n], changelogMode=[I,UB,UA])
--=    +- Correlate(invocation=[UNNEST(names)], select=[x], joinType=[INNER], changelogMode=[I,UB,UA])
--=       +- GroupAggregate(groupBy=[id], select=[id, COLLECT(name) AS names, COUNT(*) AS n], changelogMode=[I,UB,UA])
--=          +- TableSourceScan(table=[[default_catalog, default_database, votes]], fields=[id, name], changelogMode=[I])
--< votes {"id": 1, "name": "a"}
--> +I[1, a, 1]
--< votes {"id": 1, "name": "a"}
--< votes {"id": 2, "name": null}
--> -U[1, a, 1] +U[1, a, 2] +U[1, a, 2]
--! restart
--< votes {"id": 1, "name": "b"}
--> -U[1, a, 2] -U[1, a, 2] +U[1, a, 3] +U[1, a, 3] +U[1, b, 3]
