-- NATURAL JOIN and USING: an outer join's common column is that of the side that is there.
CREATE TABLE orders (id INT, item STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/orders', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE offers (item STRING, shop STRING)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/offers', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (kind STRING, item STRING, id INT, price INT, shop STRING) WITH ('connector' = 'print');
INSERT INTO answers
SELECT 'inner', * FROM orders NATURAL JOIN offers
UNION ALL SELECT 'full', * FROM orders FULL JOIN offers USING (item);
--< orders {"id": 1, "item": "a", "price": 5}
--< orders {"id": 2, "item": null, "price": 6}
--> +I[full, a, 1, 5, null] +I[full, null, 2, 6, null]
--! restart
--< offers {"item": "a", "shop": "x"}
--< offers {"item": null, "shop": "y"}
--> +I[inner, a, 1, 5, x] -D[full, a, 1, 5, null] +I[full, a, 1, 5, x] +I[full, null, null, null, y]
--= Sink(table=[default_catalog.default_database.answers], fields=[kind, item, id, price, shop], changelogMode=[I,UB,UA,D])
--= +- Calc(select=[EXPR$0 AS kind, item, id, price, shop], changelogMode=[I,UB,UA,D])
--=    +- Union(all=[true], union=[EXPR$0, item, id, price, shop], changelogMode=[I,UB,UA,D])
--=       +- Calc(select=[CAST('inner' AS VARCHAR(5)) AS EXPR$0, item, id, price, shop], changelogMode=[I])
--=       |  +- Join(joinType=[InnerJoin], where=[(item = item0)], changelogMode=[I])
--=       |     +- Union(all=[true], union=[$side, $k0, $0.id, $0.item, $0.price, $1.item0, $1.shop], changelogMode=[I])
--=       |        +- Calc(select=[0 AS $side, item AS $k0, id AS $0.id, item AS $0.item, price AS $0.price, NULL AS $1.item0, NULL AS $1.shop], changelogMode=[I])
--=       |        |  +- TableSourceScan(table=[[default_catalog, default_database, orders]], fields=[id, item, price], changelogMode=[I])
--=       |        +- Calc(select=[1 AS $side, item AS $k0, NULL AS $0.id, NULL AS $0.item, NULL AS $0.price, item AS $1.item0, shop AS $1.shop], changelogMode=[I])
--=       |           +- TableSourceScan(table=[[default_catalog, default_database, offers]], fields=[item, shop], changelogMode=[I])
--=       +- Calc(select=[CAST('full' AS VARCHAR(5)) AS EXPR$0, CASE WHEN NOT(item IS NULL) THEN item ELSE item0 END AS item, id, price, shop], changelogMode=[I,UB,UA,D])
--=          +- Join(joinType=[FullOuterJoin], where=[(item = item0)], changelogMode=[I,UB,UA,D])
--=             +- Union(all=[true], union=[$side, $k0, $0.id, $0.item, $0.price, $1.item0, $1.shop], changelogMode=[I])
--=                +- Calc(select=[0 AS $side, item AS $k0, id AS $0.id, item AS $0.item, price AS $0.price, NULL AS $1.item0, NULL AS $1.shop], changelogMode=[I])
--=                |  +- TableSourceScan(table=[[default_catalog, default_database, orders]], fields=[id, item, price], changelogMode=[I])
--=                +- Calc(select=[1 AS $side, item AS $k0, NULL AS $0.id, NULL AS $0.item, NULL AS $0.price, item AS $1.item0, shop AS $1.shop], changelogMode=[I])
--=                   +- TableSourceScan(table=[[default_catalog, default_database, offers]], fields=[item, shop], changelogMode=[I])
