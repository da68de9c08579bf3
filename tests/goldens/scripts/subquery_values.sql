-- Sub-queries that are values, of one row or of each row around them: joined by key, NULL without a match, but a COUNT 0; over a restart too.
CREATE TABLE orders (id INT, item STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/orders', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE offers (item STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/offers', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (id INT, least INT, offers BIGINT, offered BOOLEAN) WITH ('connector' = 'print');
INSERT INTO answers
SELECT id, (SELECT MIN(price) FROM offers), (SELECT COUNT(*) FROM offers AS o WHERE o.item = orders.item),
    EXISTS (SELECT 1 FROM offers AS o WHERE o.item = orders.item)
FROM orders;
--= Sink(table=[default_catalog.default_database.answers], fields=[id, least, offers, offered], changelogMode=[I,UB,UA,D])
--= +- Calc(select=[id, $q0 AS least, CASE WHEN $q1c0 IS NULL THEN 0 ELSE $q1 END AS offers, NOT($q2 IS NULL) AS offered], changelogMode=[I,UB,UA,D])
--=    +- Join(joinType=[LeftOuterJoin], where=[($q2c0 = item)], changelogMode=[I,UB,UA,D])
--=       +- Union(all=[true], union=[$side, $k0, $0.id, $0.item, $0.$q0, $0.$q1, $0.$q1c0, $1.$q2, $1.$q2c0], changelogMode=[I,UB,UA,D])
--=          +- Calc(select=[0 AS $side, item AS $k0, id AS $0.id, item AS $0.item, $q0 AS $0.$q0, $q1 AS $0.$q1, $q1c0 AS $0.$q1c0, NULL AS $1.$q2, NULL AS $1.$q2c0], changelogMode=[I,UB,UA,D])
--=          |  +- Join(joinType=[LeftOuterJoin], where=[($q1c0 = item)], changelogMode=[I,UB,UA,D])
--=          |     +- Union(all=[true], union=[$side, $k0, $0.id, $0.item, $0.$q0, $1.$q1, $1.$q1c0], changelogMode=[I,UB,UA,D])
--=          |        +- Calc(select=[0 AS $side, item AS $k0, id AS $0.id, item AS $0.item, $q0 AS $0.$q0, NULL AS $1.$q1, NULL AS $1.$q1c0], changelogMode=[I,UB,UA,D])
--=          |        |  +- Join(joinType=[LeftOuterJoin], where=[true], changelogMode=[I,UB,UA,D])
--=          |        |     +- Union(all=[true], union=[$side, $0.id, $0.item, $1.$q0], changelogMode=[I,UB,UA])
--=          |        |        +- Calc(select=[0 AS $side, id AS $0.id, item AS $0.item, NULL AS $1.$q0], changelogMode=[I])
--=          |        |        |  +- TableSourceScan(table=[[default_catalog, default_database, orders]], fields=[id, item, price], changelogMode=[I])
--=          |        |        +- Calc(select=[1 AS $side, NULL AS $0.id, NULL AS $0.item, EXPR$0 AS $1.$q0], changelogMode=[I,UB,UA])
--=          |        |           +- GroupAggregate(select=[MIN(price) AS EXPR$0], changelogMode=[I,UB,UA])
--=          |        |              +- Calc(select=[price], changelogMode=[I])
--=          |        |                 +- TableSourceScan(table=[[default_catalog, default_database, offers]], fields=[item, price], changelogMode=[I])
--=          |        +- Calc(select=[1 AS $side, item AS $k0, NULL AS $0.id, NULL AS $0.item, NULL AS $0.$q0, EXPR$0 AS $1.$q1, item AS $1.$q1c0], changelogMode=[I,UB,UA])
--=          |           +- GroupAggregate(groupBy=[item], select=[item, COUNT(*) AS EXPR$0], changelogMode=[I,UB,UA])
--=          |              +- Calc(select=[item], changelogMode=[I])
--=          |                 +- TableSourceScan(table=[[default_catalog, default_database, offers]], fields=[item, price], changelogMode=[I])
--=          +- Calc(select=[1 AS $side, $q2c0 AS $k0, NULL AS $0.id, NULL AS $0.item, NULL AS $0.$q0, NULL AS $0.$q1, NULL AS $0.$q1c0, $q2 AS $1.$q2, $q2c0 AS $1.$q2c0], changelogMode=[I])
--=             +- GroupAggregate(groupBy=[$q2, $q2c0], select=[$q2, $q2c0], changelogMode=[I])
--=                +- Calc(select=[TRUE AS $q2, item AS $q2c0], changelogMode=[I])
--=                   +- TableSourceScan(table=[[default_catalog, default_database, offers]], fields=[item, price], changelogMode=[I])
--< orders {"id": 1, "item": "a", "price": 5}
--< orders {"id": 2, "item": null, "price": 5}
--> +I[1, null, 0, false] +I[2, null, 0, false]
--! restart
--< offers {"item": "a", "price": 7}
--< offers {"item": null, "price": 1}
--> -D[1, null, 0, false] +I[1, null, 0, true] -D[1, null, 0, true] +I[1, 1, 1, true] -D[2, null, 0, false] +I[2, 1, 0, false]
