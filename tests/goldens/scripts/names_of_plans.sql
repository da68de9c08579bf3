-- Columns called as EXPLAIN calls what the planner adds.
CREATE TABLE bids (`$k0` INT, `$side` INT, `$f0` INT, `$agg0` INT, `$now` STRING, k0 INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE items (`$k0` INT, `$left` STRING, `$right` STRING, c0 INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/items', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (a STRING, b STRING, c INT, d INT, e BIGINT, f INT, g STRING, h BOOLEAN) WITH ('connector' = 'print');
INSERT INTO answers
SELECT i.`$left`, i.`$right`, SUM(b.`$side`), SUM(b.`$f0` + 1), COUNT(DISTINCT b.`$agg0`), MAX(b.k0 + i.c0) AS `$agg1`, MAX(b.`$now`) AS `$now`,
    MAX(CURRENT_TIMESTAMP) > TIMESTAMP '2026-01-01 00:00:00' AS `$f2`
FROM bids AS b JOIN items AS i ON b.`$k0` = i.`$k0` AND b.`$side` > i.c0
WHERE b.`$f0` < (SELECT MAX(`$k0`) + 100 FROM items)
GROUP BY i.`$left`, i.`$right`
HAVING COUNT(*) > 0;
--< items {"$k0": 1, "$left": "l", "$right": "r", "c0": 3}
--< bids {"$k0": 1, "$side": 5, "$f0": 7, "$agg0": 9, "$now": "n", "k0": 2}
--< bids {"$k0": 1, "$side": 2, "$f0": 7, "$agg0": 8, "$now": "o", "k0": 2}
--< bids {"$k0": 2, "$side": 6, "$f0": 7, "$agg0": 8, "$now": "p", "k0": 2}
--> +I[l, r, 5, 8, 1, 5, n, true]
--! restart
--< bids {"$k0": 1, "$side": 4, "$f0": 1, "$agg0": 9, "$now": "m", "k0": 4}
--> -U[l, r, 5, 8, 1, 5, n, true] +U[l, r, 9, 10, 1, 7, n, true]
--= Sink(table=[default_catalog.default_database.answers], fields=[a, b, c, d, e, f, g, h], changelogMode=[I,UB,UA,D])
--= +- Calc(select=[$left AS a, $right AS b, EXPR$2 AS c, EXPR$3 AS d, EXPR$4 AS e, $agg1 AS f, $now AS g, ($agg0 > CAST(TIMESTAMP '2026-01-01 00:00:00' AS TIMESTAMP_LTZ(3))) AS h], changelogMode=[I,UB,UA,D])
--=    +- Calc(where=[($agg1 > 0)], changelogMode=[I,UB,UA,D])
--=       +- GroupAggregate(groupBy=[$left, $right], select=[$left, $right, SUM($side) AS EXPR$2, SUM($f2) AS EXPR$3, COUNT(DISTINCT $agg0) AS EXPR$4, MAX($f3) AS $agg1, MAX($now) AS $now, MAX($f4) AS $agg0, COUNT(*) AS $agg1], changelogMode=[I,UB,UA,D])
--=          +- Calc(select=[$left, $right, $side, ($f0 + 1) AS $f2, $agg0, (k0 + c0) AS $f3, $now, CURRENT_TIMESTAMP($now) AS $f4], changelogMode=[I,UB,UA,D])
--=             +- Calc(select=[$side, $f0, $agg0, $now, k0, $left, $right, c0, $q0, CURRENT_ROW_TIMESTAMP() AS $now], changelogMode=[I,UB,UA,D])
--=                +- Calc(where=[($f0 < $q0)], changelogMode=[I,UB,UA,D])
--=                   +- Join(joinType=[LeftOuterJoin], where=[true], changelogMode=[I,UB,UA,D])
--=                      +- Union(all=[true], union=[$side, $0.$side, $0.$f0, $0.$agg0, $0.$now, $0.k0, $0.$left, $0.$right, $0.c0, $1.$q0], changelogMode=[I,UB,UA])
--=                         +- Calc(select=[0 AS $side, $side AS $0.$side, $f0 AS $0.$f0, $agg0 AS $0.$agg0, $now AS $0.$now, k0 AS $0.k0, $left AS $0.$left, $right AS $0.$right, c0 AS $0.c0, NULL AS $1.$q0], changelogMode=[I])
--=                         |  +- Join(joinType=[InnerJoin], where=[(($k0 = $k00) AND ($side > c0))], changelogMode=[I])
--=                         |     +- Union(all=[true], union=[$side, $k0, $0.$k0, $0.$side, $0.$f0, $0.$agg0, $0.$now, $0.k0, $1.$k00, $1.$left, $1.$right, $1.c0], changelogMode=[I])
--=                         |        +- Calc(select=[0 AS $side, $k0 AS $k0, $k0 AS $0.$k0, $side AS $0.$side, $f0 AS $0.$f0, $agg0 AS $0.$agg0, $now AS $0.$now, k0 AS $0.k0, NULL AS $1.$k00, NULL AS $1.$left, NULL AS $1.$right, NULL AS $1.c0], changelogMode=[I])
--=                         |        |  +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[$k0, $side, $f0, $agg0, $now, k0], changelogMode=[I])
--=                         |        +- Calc(select=[1 AS $side, $k0 AS $k0, NULL AS $0.$k0, NULL AS $0.$side, NULL AS $0.$f0, NULL AS $0.$agg0, NULL AS $0.$now, NULL AS $0.k0, $k0 AS $1.$k00, $left AS $1.$left, $right AS $1.$right, c0 AS $1.c0], changelogMode=[I])
--=                         |           +- TableSourceScan(table=[[default_catalog, default_database, items]], fields=[$k0, $left, $right, c0], changelogMode=[I])
--=                         +- Calc(select=[1 AS $side, NULL AS $0.$side, NULL AS $0.$f0, NULL AS $0.$agg0, NULL AS $0.$now, NULL AS $0.k0, NULL AS $0.$left, NULL AS $0.$right, NULL AS $0.c0, ($agg0 + 100) AS $1.$q0], changelogMode=[I,UB,UA])
--=                            +- GroupAggregate(select=[MAX($k0) AS $agg0], changelogMode=[I,UB,UA])
--=                               +- Calc(select=[$k0], changelogMode=[I])
--=                                  +- TableSourceScan(table=[[default_catalog, default_database, items]], fields=[$k0, $left, $right, c0], changelogMode=[I])
