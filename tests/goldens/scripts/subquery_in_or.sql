-- IN and EXISTS among other conditions, and an aggregate of the row around: a row comes when it finds a match, and goes when that goes.
CREATE TABLE orders (id INT, item STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/orders', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE offers (item STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/offers', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (id INT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT id FROM orders
WHERE (price > 100 OR item IN (SELECT item FROM offers)) AND price >= (SELECT MAX(price) FROM offers AS o WHERE o.item = orders.item);
--< orders {"id": 1, "item": "a", "price": 5}
--< orders {"id": 2, "item": null, "price": 500}
--< orders {"id": 3, "item": "b", "price": 500}
--< offers {"item": "a", "price": 5}
--> +I[1]
--! restart
--< offers {"item": "b", "price": 1}
--< offers {"item": null, "price": 1}
--> +I[3] -D[3] +I[3]
--< offers {"item": "a", "price": 6}
--> -D[1]
--= Sink(table=[default_catalog.default_database.answers], fields=[id], changelogMode=[I,UB,UA,D])
--= +- Calc(select=[id], changelogMode=[I,UB,UA,D])
--=    +- Calc(where=[(((price > 100) OR NOT($q0 IS NULL)) AND (price >= $q1))], changelogMode=[I,UB,UA,D])
--=       +- Join(joinType=[LeftOuterJoin], where=[($q1c0 = item)], changelogMode=[I,UB,UA,D])
--=          +- Union(all=[true], union=[$side, $k0, $0.id, $0.item, $0.price, $0.$q0, $1.$q1, $1.$q1c0], changelogMode=[I,UB,UA,D])
--=             +- Calc(select=[0 AS $side, item AS $k0, id AS $0.id, item AS $0.item, price AS $0.price, $q0 AS $0.$q0, NULL AS $1.$q1, NULL AS $1.$q1c0], changelogMode=[I,UB,UA,D])
--=             |  +- Join(joinType=[LeftOuterJoin], where=[(item = $q0v0)], changelogMode=[I,UB,UA,D])
--=             |     +- Union(all=[true], union=[$side, $k0, $0.id, $0.item, $0.price, $1.$q0, $1.$q0v0], changelogMode=[I])
--=             |        +- Calc(select=[0 AS $side, item AS $k0, id AS $0.id, item AS $0.item, price AS $0.price, NULL AS $1.$q0, NULL AS $1.$q0v0], changelogMode=[I])
--=             |        |  +- TableSourceScan(table=[[default_catalog, default_database, orders]], fields=[id, item, price], changelogMode=[I])
--=             |        +- Calc(select=[1 AS $side, $q0v0 AS $k0, NULL AS $0.id, NULL AS $0.item, NULL AS $0.price, $q0 AS $1.$q0, $q0v0 AS $1.$q0v0], changelogMode=[I])
--=             |           +- GroupAggregate(groupBy=[$q0, $q0v0], select=[$q0, $q0v0], changelogMode=[I])
--=             |              +- Calc(select=[TRUE AS $q0, item AS $q0v0], changelogMode=[I])
--=             |                 +- TableSourceScan(table=[[default_catalog, default_database, offers]], fields=[item, price], changelogMode=[I])
--=             +- Calc(select=[1 AS $side, item AS $k0, NULL AS $0.id, NULL AS $0.item, NULL AS $0.price, NULL AS $0.$q0, EXPR$0 AS $1.$q1, item AS $1.$q1c0], changelogMode=[I,UB,UA])
--=                +- GroupAggregate(groupBy=[item], select=[item, MAX(price) AS EXPR$0], changelogMode=[I,UB,UA])
--=                   +- TableSourceScan(table=[[default_catalog, default_database, offers]], fields=[item, price], changelogMode=[I])
