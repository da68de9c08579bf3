-- INTERSECT ALL and EXCEPT ALL count: a row comes as often as it is on both sides, or on the left more than on the right.
CREATE TABLE a (n INT, s STRING)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/a', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE b (n INT, s STRING)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/b', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (kind STRING, n INT, s STRING) WITH ('connector' = 'print');
INSERT INTO answers
SELECT 'both', * FROM (SELECT n, s FROM a INTERSECT ALL SELECT n, s FROM b)
UNION ALL SELECT 'only', * FROM (SELECT n, s FROM a EXCEPT ALL SELECT n, s FROM b);
--< a {"n": 1, "s": "x"}
--< a {"n": 1, "s": "x"}
--< a {"n": 2, "s": null}
--> +I[only, 1, x] +I[only, 1, x] +I[only, 2, null]
--< b {"n": 1, "s": "x"}
--< b {"n": 2, "s": null}
--< b {"n": 2, "s": null}
--> +U[both, 1, x] +U[both, 2, null] -U[only, 1, x] -U[only, 1, x] +U[only, 1, x] -U[only, 2, null]
--! restart
--< b {"n": 1, "s": "x"}
--> -U[both, 1, x] +U[both, 1, x] +U[both, 1, x] -U[only, 1, x]
--= Sink(table=[default_catalog.default_database.answers], fields=[kind, n, s], changelogMode=[I,UB,UA])
--= +- Calc(select=[EXPR$0 AS kind, n, s], changelogMode=[I,UB,UA])
--=    +- Union(all=[true], union=[EXPR$0, n, s], changelogMode=[I,UB,UA])
--=       +- Calc(select=['both' AS EXPR$0, n, s], changelogMode=[I,UB,UA])
--=       |  +- Correlate(invocation=[UNNEST(REPLICATE_ROWS(CASE WHEN ($left < $right) THEN $left ELSE $right END))], select=[$copy], joinType=[INNER], changelogMode=[I,UB,UA])
--=       |     +- Calc(where=[(CASE WHEN ($left < $right) THEN $left ELSE $right END > 0)], changelogMode=[I,UB,UA])
--=       |        +- GroupAggregate(groupBy=[n, s], select=[n, s, SUM($left) AS $left, SUM($right) AS $right], changelogMode=[I,UB,UA])
--=       |           +- Union(all=[true], union=[n, s, $left, $right], changelogMode=[I])
--=       |              +- Calc(select=[n, s, 1 AS $left, 0 AS $right], changelogMode=[I])
--=       |              |  +- TableSourceScan(table=[[default_catalog, default_database, a]], fields=[n, s], changelogMode=[I])
--=       |              +- Calc(select=[n, s, 0 AS $left, 1 AS $right], changelogMode=[I])
--=       |                 +- TableSourceScan(table=[[default_catalog, default_database, b]], fields=[n, s], changelogMode=[I])
--=       +- Calc(select=['only' AS EXPR$0, n, s], changelogMode=[I,UB,UA])
--=          +- Correlate(invocation=[UNNEST(REPLICATE_ROWS(($left - $right)))], select=[$copy], joinType=[INNER], changelogMode=[I,UB,UA])
--=             +- Calc(where=[(($left - $right) > 0)], changelogMode=[I,UB,UA])
--=                +- GroupAggregate(groupBy=[n, s], select=[n, s, SUM($left) AS $left, SUM($right) AS $right], changelogMode=[I,UB,UA])
--=                   +- Union(all=[true], union=[n, s, $left, $right], changelogMode=[I])
--=                      +- Calc(select=[n, s, 1 AS $left, 0 AS $right], changelogMode=[I])
--=                      |  +- TableSourceScan(table=[[default_catalog, default_database, a]], fields=[n, s], changelogMode=[I])
--=                      +- Calc(select=[n, s, 0 AS $left, 1 AS $right], changelogMode=[I])
--=                         +- TableSourceScan(table=[[default_catalog, default_database, b]], fields=[n, s], changelogMode=[I])
