-- LATERAL that reads the row to its left: a join by what it asks to be equal; USING beside it. A row without a match is there with NULLs until one comes.
CREATE TABLE orders (id INT, item STRING)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/orders', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE offers (item STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/offers', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE shops (item STRING, shop STRING)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/shops', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, id INT, shop STRING, price INT, n BIGINT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT orders.item, id, shop, l.price, c.n FROM orders JOIN shops USING (item)
LEFT JOIN LATERAL (SELECT price FROM offers WHERE offers.item = shops.item AND price > 1) AS l ON TRUE
LEFT JOIN LATERAL (SELECT COUNT(*) AS n FROM offers WHERE offers.item = orders.item) AS c ON TRUE;
--< orders {"id": 1, "item": "a"}
--< orders {"id": 2, "item": null}
--< shops {"item": "a", "shop": "x"}
--< shops {"item": null, "shop": "y"}
--> +I[a, 1, x, null, 0]
--! restart
--< offers {"item": "a", "price": 7}
--> -D[a, 1, x, null, 0] +I[a, 1, x, null, 1] -D[a, 1, x, null, 1] +I[a, 1, x, 7, 1]
--< offers {"item": "a", "price": 1}
--> -D[a, 1, x, 7, 1] +I[a, 1, x, 7, 2]
--= Sink(table=[default_catalog.default_database.answers], fields=[item, id, shop, price, n], changelogMode=[I,UB,UA,D])
--= +- Calc(select=[item, id, shop, price, CASE WHEN $c00 IS NULL THEN 0 ELSE n END AS n], changelogMode=[I,UB,UA,D])
--=    +- Join(joinType=[LeftOuterJoin], where=[($c00 = item)], changelogMode=[I,UB,UA,D])
--=       +- Union(all=[true], union=[$side, $k0, $0.id, $0.item, $0.shop, $0.price, $1.n, $1.$c00], changelogMode=[I,UB,UA,D])
--=          +- Calc(select=[0 AS $side, item AS $k0, id AS $0.id, item AS $0.item, shop AS $0.shop, price AS $0.price, NULL AS $1.n, NULL AS $1.$c00], changelogMode=[I,UB,UA,D])
--=          |  +- Join(joinType=[LeftOuterJoin], where=[($c0 = item0)], changelogMode=[I,UB,UA,D])
--=          |     +- Union(all=[true], union=[$side, $k0, $0.id, $0.item, $0.item0, $0.shop, $1.price, $1.$c0], changelogMode=[I])
--=          |        +- Calc(select=[0 AS $side, item0 AS $k0, id AS $0.id, item AS $0.item, item0 AS $0.item0, shop AS $0.shop, NULL AS $1.price, NULL AS $1.$c0], changelogMode=[I])
--=          |        |  +- Join(joinType=[InnerJoin], where=[(item = item0)], changelogMode=[I])
--=          |        |     +- Union(all=[true], union=[$side, $k0, $0.id, $0.item, $1.item0, $1.shop], changelogMode=[I])
--=          |        |        +- Calc(select=[0 AS $side, item AS $k0, id AS $0.id, item AS $0.item, NULL AS $1.item0, NULL AS $1.shop], changelogMode=[I])
--=          |        |        |  +- TableSourceScan(table=[[default_catalog, default_database, orders]], fields=[id, item], changelogMode=[I])
--=          |        |        +- Calc(select=[1 AS $side, item AS $k0, NULL AS $0.id, NULL AS $0.item, item AS $1.item0, shop AS $1.shop], changelogMode=[I])
--=          |        |           +- TableSourceScan(table=[[default_catalog, default_database, shops]], fields=[item, shop], changelogMode=[I])
--=          |        +- Calc(select=[1 AS $side, item AS $k0, NULL AS $0.id, NULL AS $0.item, NULL AS $0.item0, NULL AS $0.shop, price AS $1.price, item AS $1.$c0], changelogMode=[I])
--=          |           +- Calc(where=[(price > 1)], changelogMode=[I])
--=          |              +- TableSourceScan(table=[[default_catalog, default_database, offers]], fields=[item, price], changelogMode=[I])
--=          +- Calc(select=[1 AS $side, item AS $k0, NULL AS $0.id, NULL AS $0.item, NULL AS $0.shop, NULL AS $0.price, n AS $1.n, item AS $1.$c00], changelogMode=[I,UB,UA])
--=             +- GroupAggregate(groupBy=[item], select=[item, COUNT(*) AS n], changelogMode=[I,UB,UA])
--=                +- Calc(select=[item], changelogMode=[I])
--=                   +- TableSourceScan(table=[[default_catalog, default_database, offers]], fields=[item, price], changelogMode=[I])
