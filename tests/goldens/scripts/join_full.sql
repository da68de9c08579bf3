-- A full join outside of windows: a row without a match stands alone until one comes. NULL finds none, and what else the condition asks for counts.
CREATE TABLE orders (id INT, item STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/orders', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE offers (item STRING, least INT, shop STRING)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/offers', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (id INT, item STRING, shop STRING) WITH ('connector' = 'print');
INSERT INTO answers SELECT id, o.item, shop FROM orders AS o FULL JOIN offers AS f ON o.item = f.item AND price >= least;
--= Sink(table=[default_catalog.default_database.answers], fields=[id, item, shop], changelogMode=[I,UB,UA,D])
--= +- Calc(select=[id, item, shop], changelogMode=[I,UB,UA,D])
--=    +- Join(joinType=[FullOuterJoin], where=[((item = item0) AND (price >= least))], changelogMode=[I,UB,UA,D])
--=       +- Union(all=[true], union=[$side, $k0, $0.id, $0.item, $0.price, $1.item0, $1.least, $1.shop], changelogMode=[I])
--=          +- Calc(select=[0 AS $side, item AS $k0, id AS $0.id, item AS $0.item, price AS $0.price, NULL AS $1.item0, NULL AS $1.least, NULL AS $1.shop], changelogMode=[I])
--=          |  +- TableSourceScan(table=[[default_catalog, default_database, orders]], fields=[id, item, price], changelogMode=[I])
--=          +- Calc(select=[1 AS $side, item AS $k0, NULL AS $0.id, NULL AS $0.item, NULL AS $0.price, item AS $1.item0, least AS $1.least, shop AS $1.shop], changelogMode=[I])
--=             +- TableSourceScan(table=[[default_catalog, default_database, offers]], fields=[item, least, shop], changelogMode=[I])
--< orders {"id": 1, "item": "a", "price": 5}
--< offers {"item": "a", "least": 6, "shop": "x"}
--< offers {"item": null, "least": 1, "shop": "z"}
--< orders {"id": 2, "item": null, "price": 5}
--> +I[1, a, null] +I[null, null, x] +I[null, null, z] +I[2, null, null]
--! restart
--< offers {"item": "a", "least": 1, "shop": "y"}
--> -D[1, a, null] +I[1, a, y]
--< orders {"id": 3, "item": "a", "price": 6}
--> -D[null, null, x] +I[3, a, x] +I[3, a, y]
