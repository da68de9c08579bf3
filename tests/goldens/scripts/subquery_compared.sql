-- Sub-queries that compare with the row around them: joined with the distinct values of what they read of it; over a restart too.
CREATE TABLE orders (id INT, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/orders', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE offers (item STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/offers', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (id INT, cheaper BIGINT, dearest INT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT id, (SELECT COUNT(*) FROM offers WHERE offers.price < orders.price), l.dearest
FROM orders
LEFT JOIN LATERAL (SELECT MAX(price - orders.id) AS dearest FROM offers WHERE offers.price <> orders.price) AS l ON TRUE;
--< orders {"id": 1, "price": 5}
--< orders {"id": 2, "price": 5}
--< orders {"id": 3, "price": null}
--> +I[3, 0, null]  +I[2, 0, null]  +I[1, 0, null]
--< offers {"item": "a", "price": 5}
--< offers {"item": "b", "price": 3}
--> -D[2, 0, null]  +I[2, 1, null]  -D[1, 0, null]  +I[1, 1, null]  -D[2, 1, null]  +I[2, 1, 1]  -D[1, 1, null]  +I[1, 1, 2]
--! restart
--< offers {"item": "c", "price": 4}
--< orders {"id": 4, "price": 4}
--> +I[4, 1, 1]  -D[2, 1, 1]  +I[2, 2, 1]  -D[1, 1, 2]  +I[1, 2, 2]  -D[2, 2, 1]  +I[2, 2, 2]  -D[1, 2, 2]  +I[1, 2, 3]
--= Sink(table=[default_catalog.default_database.answers], fields=[id, cheaper, dearest], changelogMode=[I,UB,UA,D])
--= +- Calc(select=[id, CASE WHEN $q0c0 IS NULL THEN 0 ELSE $q0 END AS cheaper, dearest], changelogMode=[I,UB,UA,D])
--=    +- Join(joinType=[LeftOuterJoin], where=[($q0c0 = price)], changelogMode=[I,UB,UA,D])
--=       +- Union(all=[true], union=[$side, $k0, $0.id, $0.price, $0.dearest, $1.$q0, $1.$q0c0], changelogMode=[I,UB,UA,D])
--=          +- Calc(select=[0 AS $side, price AS $k0, id AS $0.id, price AS $0.price, dearest AS $0.dearest, NULL AS $1.$q0, NULL AS $1.$q0c0], changelogMode=[I,UB,UA,D])
--=          |  +- Join(joinType=[LeftOuterJoin], where=[(($c0 = price) AND ($c1 = id))], changelogMode=[I,UB,UA,D])
--=          |     +- Union(all=[true], union=[$side, $k0, $k1, $0.id, $0.price, $1.dearest, $1.$c0, $1.$c1], changelogMode=[I,UB,UA])
--=          |        +- Calc(select=[0 AS $side, price AS $k0, id AS $k1, id AS $0.id, price AS $0.price, NULL AS $1.dearest, NULL AS $1.$c0, NULL AS $1.$c1], changelogMode=[I])
--=          |        |  +- TableSourceScan(table=[[default_catalog, default_database, orders]], fields=[id, price], changelogMode=[I])
--=          |        +- Calc(select=[1 AS $side, $c0 AS $k0, $c1 AS $k1, NULL AS $0.id, NULL AS $0.price, dearest AS $1.dearest, $c0 AS $1.$c0, $c1 AS $1.$c1], changelogMode=[I,UB,UA])
--=          |           +- GroupAggregate(groupBy=[$c0, $c1], select=[$c0, $c1, MAX($f0) AS dearest], changelogMode=[I,UB,UA])
--=          |              +- Calc(select=[$c0, $c1, (price - $c1) AS $f0], changelogMode=[I])
--=          |                 +- Join(joinType=[InnerJoin], where=[(price <> $c0)], changelogMode=[I])
--=          |                    +- Union(all=[true], union=[$side, $0.price, $1.$c0, $1.$c1], changelogMode=[I])
--=          |                       +- Calc(select=[0 AS $side, price AS $0.price, NULL AS $1.$c0, NULL AS $1.$c1], changelogMode=[I])
--=          |                       |  +- TableSourceScan(table=[[default_catalog, default_database, offers]], fields=[item, price], changelogMode=[I])
--=          |                       +- Calc(select=[1 AS $side, NULL AS $0.price, $c0 AS $1.$c0, $c1 AS $1.$c1], changelogMode=[I])
--=          |                          +- GroupAggregate(groupBy=[$c0, $c1], select=[$c0, $c1], changelogMode=[I])
--=          |                             +- Calc(select=[price AS $c0, id AS $c1], changelogMode=[I])
--=          |                                +- TableSourceScan(table=[[default_catalog, default_database, orders]], fields=[id, price], changelogMode=[I])
--=          +- Calc(select=[1 AS $side, $c0 AS $k0, NULL AS $0.id, NULL AS $0.price, NULL AS $0.dearest, EXPR$0 AS $1.$q0, $c0 AS $1.$q0c0], changelogMode=[I,UB,UA])
--=             +- GroupAggregate(groupBy=[$c0], select=[$c0, COUNT(*) AS EXPR$0], changelogMode=[I,UB,UA])
--=                +- Calc(select=[$c0], changelogMode=[I])
--=                   +- Join(joinType=[InnerJoin], where=[(price < $c0)], changelogMode=[I])
--=                      +- Union(all=[true], union=[$side, $0.price, $1.$c0], changelogMode=[I])
--=                         +- Calc(select=[0 AS $side, price AS $0.price, NULL AS $1.$c0], changelogMode=[I])
--=                         |  +- TableSourceScan(table=[[default_catalog, default_database, offers]], fields=[item, price], changelogMode=[I])
--=                         +- Calc(select=[1 AS $side, NULL AS $0.price, $c0 AS $1.$c0], changelogMode=[I])
--=                            +- GroupAggregate(groupBy=[$c0], select=[$c0], changelogMode=[I])
--=                               +- Calc(select=[price AS $c0], changelogMode=[I])
--=                                  +- TableSourceScan(table=[[default_catalog, default_database, orders]], fields=[id, price], changelogMode=[I])
