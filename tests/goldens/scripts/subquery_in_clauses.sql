-- Sub-queries in ON, in a key of GROUP BY and in what an aggregate reads: their rows change, and so do the answers; over a restart too.
CREATE TABLE orders (item STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/orders', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE limits (item STRING, most INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/limits', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, most INT, above BIGINT, dear BIGINT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT o.item, l.most, SUM(o.price - (SELECT MIN(most) FROM limits)), COUNT(*)
FROM orders AS o LEFT JOIN limits AS l ON o.item = l.item AND l.most < (SELECT MAX(price) FROM orders)
GROUP BY o.item, l.most, o.price > (SELECT AVG(price) FROM orders);
--< orders {"item": "a", "price": 10}
--> +I[a, null, null, 1]
--< limits {"item": "a", "most": 7}
--< limits {"item": "b", "most": 20}
--> -D[a, null, null, 1]  +I[a, 7, 3, 1]
--! restart
--< orders {"item": "b", "price": 30}
--> +I[b, 20, 23, 1]
--< orders {"item": null, "price": null}
--< limits {"item": "b", "most": 2}
--> +I[null, null, null, 1]  +I[b, 2, 28, 1]  -U[b, 20, 23, 1]  +U[b, 20, 28, 1]  -U[a, 7, 3, 1]  +U[a, 7, 8, 1]
--= Sink(table=[default_catalog.default_database.answers], fields=[item, most, above, dear], changelogMode=[I,UB,UA,D])
--= +- Calc(select=[item, most, CAST(EXPR$2 AS BIGINT) AS above, EXPR$3 AS dear], changelogMode=[I,UB,UA,D])
--=    +- GroupAggregate(groupBy=[item, most, $f0], select=[item, most, $f0, SUM($f1) AS EXPR$2, COUNT(*) AS EXPR$3], changelogMode=[I,UB,UA,D])
--=       +- Calc(select=[item, most, (price > $q0) AS $f0, (price - $q1) AS $f1], changelogMode=[I,UB,UA,D])
--=          +- Join(joinType=[LeftOuterJoin], where=[true], changelogMode=[I,UB,UA,D])
--=             +- Union(all=[true], union=[$side, $0.item, $0.price, $0.most, $0.$q0, $1.$q1], changelogMode=[I,UB,UA,D])
--=                +- Calc(select=[0 AS $side, item AS $0.item, price AS $0.price, most AS $0.most, $q0 AS $0.$q0, NULL AS $1.$q1], changelogMode=[I,UB,UA,D])
--=                |  +- Join(joinType=[LeftOuterJoin], where=[true], changelogMode=[I,UB,UA,D])
--=                |     +- Union(all=[true], union=[$side, $0.item, $0.price, $0.most, $1.$q0], changelogMode=[I,UB,UA,D])
--=                |        +- Calc(select=[0 AS $side, item AS $0.item, price AS $0.price, most AS $0.most, NULL AS $1.$q0], changelogMode=[I,UB,UA,D])
--=                |        |  +- Join(joinType=[LeftOuterJoin], where=[((item = item0) AND (most < $q0))], changelogMode=[I,UB,UA,D])
--=                |        |     +- Union(all=[true], union=[$side, $k0, $0.item, $0.price, $0.$q0, $1.item0, $1.most], changelogMode=[I,UB,UA,D])
--=                |        |        +- Calc(select=[0 AS $side, item AS $k0, item AS $0.item, price AS $0.price, $q0 AS $0.$q0, NULL AS $1.item0, NULL AS $1.most], changelogMode=[I,UB,UA,D])
--=                |        |        |  +- Join(joinType=[LeftOuterJoin], where=[true], changelogMode=[I,UB,UA,D])
--=                |        |        |     +- Union(all=[true], union=[$side, $0.item, $0.price, $1.$q0], changelogMode=[I,UB,UA])
--=                |        |        |        +- Calc(select=[0 AS $side, item AS $0.item, price AS $0.price, NULL AS $1.$q0], changelogMode=[I])
--=                |        |        |        |  +- TableSourceScan(table=[[default_catalog, default_database, orders]], fields=[item, price], changelogMode=[I])
--=                |        |        |        +- Calc(select=[1 AS $side, NULL AS $0.item, NULL AS $0.price, EXPR$0 AS $1.$q0], changelogMode=[I,UB,UA])
--=                |        |        |           +- GroupAggregate(select=[MAX(price) AS EXPR$0], changelogMode=[I,UB,UA])
--=                |        |        |              +- Calc(select=[price], changelogMode=[I])
--=                |        |        |                 +- TableSourceScan(table=[[default_catalog, default_database, orders]], fields=[item, price], changelogMode=[I])
--=                |        |        +- Calc(select=[1 AS $side, item AS $k0, NULL AS $0.item, NULL AS $0.price, NULL AS $0.$q0, item AS $1.item0, most AS $1.most], changelogMode=[I])
--=                |        |           +- TableSourceScan(table=[[default_catalog, default_database, limits]], fields=[item, most], changelogMode=[I])
--=                |        +- Calc(select=[1 AS $side, NULL AS $0.item, NULL AS $0.price, NULL AS $0.most, EXPR$0 AS $1.$q0], changelogMode=[I,UB,UA])
--=                |           +- GroupAggregate(select=[AVG(price) AS EXPR$0], changelogMode=[I,UB,UA])
--=                |              +- Calc(select=[price], changelogMode=[I])
--=                |                 +- TableSourceScan(table=[[default_catalog, default_database, orders]], fields=[item, price], changelogMode=[I])
--=                +- Calc(select=[1 AS $side, NULL AS $0.item, NULL AS $0.price, NULL AS $0.most, NULL AS $0.$q0, EXPR$0 AS $1.$q1], changelogMode=[I,UB,UA])
--=                   +- GroupAggregate(select=[MIN(most) AS EXPR$0], changelogMode=[I,UB,UA])
--=                      +- Calc(select=[most], changelogMode=[I])
--=                         +- TableSourceScan(table=[[default_catalog, default_database, limits]], fields=[item, most], changelogMode=[I])
