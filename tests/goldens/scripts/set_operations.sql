-- UNION, INTERSECT and EXCEPT over streams: each row once, NULL equal to NULL; a row of EXCEPT goes when it comes on the other side.
CREATE TABLE a (n INT, s STRING)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/a', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE b (n BIGINT, s STRING)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/b', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (kind STRING, n BIGINT, s STRING) WITH ('connector' = 'print');
INSERT INTO answers
SELECT 'union', * FROM (SELECT n, s FROM a UNION SELECT n, s FROM b)
UNION ALL SELECT 'both', * FROM (SELECT n, s FROM a INTERSECT SELECT n, s FROM b)
UNION ALL SELECT 'only', * FROM (SELECT n, s FROM a EXCEPT SELECT n, s FROM b);
--< a {"n": 1, "s": "x"}
--< a {"n": 1, "s": "x"}
--< a {"n": 2, "s": null}
--> +I[union, 1, x] +I[union, 2, null] +I[only, 1, x] +I[only, 2, null]
--< b {"n": 2, "s": null}
--> +I[both, 2, null] -D[only, 2, null]
--! restart
--< b {"n": 2, "s": null}
--< b {"n": 3, "s": "č"}
--< a {"n": 3, "s": "č"}
--> +I[union, 3, č] +I[both, 3, č]
--= Sink(table=[default_catalog.default_database.answers], fields=[kind, n, s], changelogMode=[I,UB,UA,D])
--= +- Calc(select=[EXPR$0 AS kind, n, s], changelogMode=[I,UB,UA,D])
--=    +- Union(all=[true], union=[EXPR$0, n, s], changelogMode=[I,UB,UA,D])
--=       +- Calc(select=[CAST('union' AS VARCHAR(5)) AS EXPR$0, n, s], changelogMode=[I])
--=       |  +- GroupAggregate(groupBy=[n, s], select=[n, s], changelogMode=[I])
--=       |     +- Union(all=[true], union=[n, s], changelogMode=[I])
--=       |        +- Calc(select=[CAST(n AS BIGINT) AS n, s], changelogMode=[I])
--=       |        |  +- TableSourceScan(table=[[default_catalog, default_database, a]], fields=[n, s], changelogMode=[I])
--=       |        +- TableSourceScan(table=[[default_catalog, default_database, b]], fields=[n, s], changelogMode=[I])
--=       +- Calc(select=[CAST('both' AS VARCHAR(5)) AS EXPR$0, n, s], changelogMode=[I])
--=       |  +- GroupAggregate(groupBy=[n, s], select=[n, s], changelogMode=[I])
--=       |     +- Join(joinType=[LeftSemiJoin], where=[((n IS NOT DISTINCT FROM n0) AND (s IS NOT DISTINCT FROM s0))], changelogMode=[I])
--=       |        +- Union(all=[true], union=[$side, $k0, $k1, $0.n, $0.s, $1.n0, $1.s0], changelogMode=[I])
--=       |           +- Calc(select=[0 AS $side, n AS $k0, s AS $k1, n AS $0.n, s AS $0.s, NULL AS $1.n0, NULL AS $1.s0], changelogMode=[I])
--=       |           |  +- Calc(select=[CAST(n AS BIGINT) AS n, s], changelogMode=[I])
--=       |           |     +- TableSourceScan(table=[[default_catalog, default_database, a]], fields=[n, s], changelogMode=[I])
--=       |           +- Calc(select=[1 AS $side, n AS $k0, s AS $k1, NULL AS $0.n, NULL AS $0.s, n AS $1.n0, s AS $1.s0], changelogMode=[I])
--=       |              +- TableSourceScan(table=[[default_catalog, default_database, b]], fields=[n, s], changelogMode=[I])
--=       +- Calc(select=[CAST('only' AS VARCHAR(5)) AS EXPR$0, n, s], changelogMode=[I,UB,UA,D])
--=          +- GroupAggregate(groupBy=[n, s], select=[n, s], changelogMode=[I,UB,UA,D])
--=             +- Join(joinType=[LeftAntiJoin], where=[((n IS NOT DISTINCT FROM n0) AND (s IS NOT DISTINCT FROM s0))], changelogMode=[I,UB,UA,D])
--=                +- Union(all=[true], union=[$side, $k0, $k1, $0.n, $0.s, $1.n0, $1.s0], changelogMode=[I])
--=                   +- Calc(select=[0 AS $side, n AS $k0, s AS $k1, n AS $0.n, s AS $0.s, NULL AS $1.n0, NULL AS $1.s0], changelogMode=[I])
--=                   |  +- Calc(select=[CAST(n AS BIGINT) AS n, s], changelogMode=[I])
--=                   |     +- TableSourceScan(table=[[default_catalog, default_database, a]], fields=[n, s], changelogMode=[I])
--=                   +- Calc(select=[1 AS $side, n AS $k0, s AS $k1, NULL AS $0.n, NULL AS $0.s, n AS $1.n0, s AS $1.s0], changelogMode=[I])
--=                      +- TableSourceScan(table=[[default_catalog, default_database, b]], fields=[n, s], changelogMode=[I])
