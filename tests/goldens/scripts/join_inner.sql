-- An inner join outside of windows keeps the rows of both sides: each row finds those that came before it, over a restart too. NULL finds none.
CREATE TABLE orders (id INT, item STRING, price INT, remark STRING)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/orders', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE offers (`my item` STRING, least INT, shop STRING, remark STRING)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/offers', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (id INT, item STRING, shop STRING) WITH ('connector' = 'print');
INSERT INTO answers SELECT id, item, shop FROM orders JOIN offers ON item = `my item` AND price >= least;
--= Sink(table=[default_catalog.default_database.answers], fields=[id, item, shop], changelogMode=[I])
--= +- Calc(select=[id, item, shop], changelogMode=[I])
--=    +- Join(joinType=[InnerJoin], where=[((item = my item) AND (price >= least))], changelogMode=[I])
--=       +- Union(all=[true], union=[$side, $k0, $0.id, $0.item, $0.price, $1.my item, $1.least, $1.shop], changelogMode=[I])
--=          +- Calc(select=[0 AS $side, item AS $k0, id AS $0.id, item AS $0.item, price AS $0.price, NULL AS $1.my item, NULL AS $1.least, NULL AS $1.shop], changelogMode=[I])
--=          |  +- TableSourceScan(table=[[default_catalog, default_database, orders]], fields=[id, item, price, remark], changelogMode=[I])
--=          +- Calc(select=[1 AS $side, my item AS $k0, NULL AS $0.id, NULL AS $0.item, NULL AS $0.price, my item AS $1.my item, least AS $1.least, shop AS $1.shop], changelogMode=[I])
--=             +- TableSourceScan(table=[[default_catalog, default_database, offers]], fields=[my item, least, shop, remark], changelogMode=[I])
--< orders {"id": 1, "item": "a", "price": 5}
--< orders {"id": 2, "item": null, "price": 5}
--< offers {"my item": "a", "least": 3, "shop": "x"}
--< offers {"my item": "a", "least": 6, "shop": "y"}
--< offers {"my item": null, "least": 1, "shop": "z"}
--> +I[1, a, x]
--< orders {"id": 3, "item": "a", "price": 7}
--< orders {"id": 3, "item": "a", "price": 7}
--> +I[3, a, x] +I[3, a, x] +I[3, a, y] +I[3, a, y]
--! restart
--< offers {"my item": "a", "least": 7, "shop": "čas"}
--< offers {"my item": "b", "least": 0, "shop": "w"}
--> +I[3, a, čas] +I[3, a, čas]
--< orders {"id": 4, "item": "b", "price": 0}
--> +I[4, b, w]
