-- A row goes that never came: it is told of where it would have had matches, and one that comes afterwards is there.
CREATE TABLE d (k INT, v INT) WITH ('connector' = 'filesystem', 'path' = '${DIR}/d', 'format' = 'debezium-json', 'source.monitor-interval' = '1 s');
CREATE TABLE a (k INT, w INT) WITH ('connector' = 'filesystem', 'path' = '${DIR}/a', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (k INT, v INT, w INT) WITH ('connector' = 'print');
INSERT INTO answers SELECT d.k, d.v, a.w FROM d JOIN a ON d.k = a.k;
--= Sink(table=[default_catalog.default_database.answers], fields=[k, v, w], changelogMode=[I,UB,UA,D])
--= +- Calc(select=[k, v, w], changelogMode=[I,UB,UA,D])
--=    +- Join(joinType=[InnerJoin], where=[(k = k0)], changelogMode=[I,UB,UA,D])
--=       +- Union(all=[true], union=[$side, $k0, $0.k, $0.v, $1.k0, $1.w], changelogMode=[I,UB,UA,D])
--=          +- Calc(select=[0 AS $side, k AS $k0, k AS $0.k, v AS $0.v, NULL AS $1.k0, NULL AS $1.w], changelogMode=[I,UB,UA,D])
--=          |  +- TableSourceScan(table=[[default_catalog, default_database, d]], fields=[k, v], changelogMode=[I,UB,UA,D])
--=          +- Calc(select=[1 AS $side, k AS $k0, NULL AS $0.k, NULL AS $0.v, k AS $1.k0, w AS $1.w], changelogMode=[I])
--=             +- TableSourceScan(table=[[default_catalog, default_database, a]], fields=[k, w], changelogMode=[I])
--! never seen
--< a {"k": 1, "w": 100}
--< a {"k": 2, "w": 200}
--< a {"k": 3, "w": 300}
--< a {"k": 4, "w": 400}
--< d {"before": null, "after": {"k": 1, "v": 11}, "op": "c"}
--> +I[1, 11, 100]
--< d {"before": {"k": 1, "v": 10}, "after": null, "op": "d"}
--< d {"before": null, "after": {"k": 1, "v": 10}, "op": "c"}
--< d {"before": null, "after": {"k": 2, "v": 20}, "op": "c"}
--< d {"before": {"k": 2, "v": 20}, "after": null, "op": "d"}
--< d {"before": {"k": 2, "v": 20}, "after": null, "op": "d"}
--< d {"before": null, "after": {"k": 2, "v": 20}, "op": "c"}
--< d {"before": null, "after": {"k": 3, "v": 30}, "op": "c"}
--< d {"before": {"k": 3, "v": 99}, "after": null, "op": "d"}
--< d {"before": {"k": 4, "v": 40}, "after": null, "op": "d"}
--> -D[1, 10, 100]  +I[1, 10, 100]  -D[2, 20, 200]  +I[2, 20, 200]  +I[3, 30, 300]  -D[3, 99, 300]  -D[4, 40, 400]
--! restart
--< d {"before": {"k": 4, "v": 40}, "after": null, "op": "d"}
--< d {"before": {"k": 2, "v": 20}, "after": null, "op": "d"}
--< d {"before": {"k": 2, "v": 20}, "after": null, "op": "d"}
--< d {"before": null, "after": {"k": 2, "v": 20}, "op": "c"}
--< d {"before": {"k": 3, "v": 30}, "after": null, "op": "d"}
--> -D[4, 40, 400]  -D[2, 20, 200]  -D[2, 20, 200]  +I[2, 20, 200]  -D[3, 30, 300]
