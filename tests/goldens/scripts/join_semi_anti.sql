-- EXISTS and NOT EXISTS outside of windows: a row comes with its first match, and one that stands without goes with it.
CREATE TABLE orders (id INT, item STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/orders', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE offers (item STRING, least INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/offers', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (kind STRING, id INT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT 'some', id FROM orders AS o WHERE EXISTS (SELECT 1 FROM offers AS f WHERE f.item = o.item AND f.least <= o.price)
UNION ALL
SELECT 'none', id FROM orders AS o WHERE NOT EXISTS (SELECT 1 FROM offers AS f WHERE f.item = o.item)
UNION ALL
SELECT 'other', id FROM orders AS o WHERE item NOT IN (SELECT item FROM offers WHERE item IS NOT NULL AND least > 3);
--= Sink(table=[default_catalog.default_database.answers], fields=[kind, id], changelogMode=[I,UB,UA,D])
--= +- Calc(select=[EXPR$0 AS kind, id], changelogMode=[I,UB,UA,D])
--=    +- Union(all=[true], union=[EXPR$0, id], changelogMode=[I,UB,UA,D])
--=       +- Calc(select=[CAST(EXPR$0 AS VARCHAR(5)) AS EXPR$0, id], changelogMode=[I,UB,UA,D])
--=       |  +- Union(all=[true], union=[EXPR$0, id], changelogMode=[I,UB,UA,D])
--=       |     +- Calc(select=['some' AS EXPR$0, id], changelogMode=[I])
--=       |     |  +- Join(joinType=[LeftSemiJoin], where=[((item0 = item) AND (least <= price))], changelogMode=[I])
--=       |     |     +- Union(all=[true], union=[$side, $k0, $0.id, $0.item, $0.price, $1.item0, $1.least], changelogMode=[I])
--=       |     |        +- Calc(select=[0 AS $side, item AS $k0, id AS $0.id, item AS $0.item, price AS $0.price, NULL AS $1.item0, NULL AS $1.least], changelogMode=[I])
--=       |     |        |  +- TableSourceScan(table=[[default_catalog, default_database, orders]], fields=[id, item, price], changelogMode=[I])
--=       |     |        +- Calc(select=[1 AS $side, item AS $k0, NULL AS $0.id, NULL AS $0.item, NULL AS $0.price, item AS $1.item0, least AS $1.least], changelogMode=[I])
--=       |     |           +- TableSourceScan(table=[[default_catalog, default_database, offers]], fields=[item, least], changelogMode=[I])
--=       |     +- Calc(select=['none' AS EXPR$0, id], changelogMode=[I,UB,UA,D])
--=       |        +- Join(joinType=[LeftAntiJoin], where=[(item0 = item)], changelogMode=[I,UB,UA,D])
--=       |           +- Union(all=[true], union=[$side, $k0, $0.id, $0.item, $1.item0], changelogMode=[I])
--=       |              +- Calc(select=[0 AS $side, item AS $k0, id AS $0.id, item AS $0.item, NULL AS $1.item0], changelogMode=[I])
--=       |              |  +- TableSourceScan(table=[[default_catalog, default_database, orders]], fields=[id, item, price], changelogMode=[I])
--=       |              +- Calc(select=[1 AS $side, item AS $k0, NULL AS $0.id, NULL AS $0.item, item AS $1.item0], changelogMode=[I])
--=       |                 +- TableSourceScan(table=[[default_catalog, default_database, offers]], fields=[item, least], changelogMode=[I])
--=       +- Calc(select=[CAST('other' AS VARCHAR(5)) AS EXPR$0, id], changelogMode=[I,UB,UA,D])
--=          +- Join(joinType=[LeftAntiJoin], where=[NOT((item = item0) IS FALSE)], changelogMode=[I,UB,UA,D])
--=             +- Union(all=[true], union=[$side, $0.id, $0.item, $1.item0], changelogMode=[I])
--=                +- Calc(select=[0 AS $side, id AS $0.id, item AS $0.item, NULL AS $1.item0], changelogMode=[I])
--=                |  +- TableSourceScan(table=[[default_catalog, default_database, orders]], fields=[id, item, price], changelogMode=[I])
--=                +- Calc(select=[1 AS $side, NULL AS $0.id, NULL AS $0.item, item0 AS $1.item0], changelogMode=[I])
--=                   +- Calc(where=[(least > 3)], changelogMode=[I])
--=                      +- Calc(where=[NOT(item0 IS NULL)], changelogMode=[I])
--=                         +- Calc(select=[item AS item0, least], changelogMode=[I])
--=                            +- TableSourceScan(table=[[default_catalog, default_database, offers]], fields=[item, least], changelogMode=[I])
--< orders {"id": 1, "item": "a", "price": 5}
--< orders {"id": 2, "item": null, "price": 5}
--> +I[none, 1] +I[none, 2] +I[other, 1] +I[other, 2]
--< offers {"item": "a", "least": 6}
--< offers {"item": null, "least": 6}
--> -D[none, 1] -D[other, 1] -D[other, 2]
--! restart
--< offers {"item": "a", "least": 5}
--< offers {"item": "a", "least": 4}
--< orders {"id": 3, "item": "b", "price": 5}
--> +I[some, 1] +I[none, 3] +I[other, 3]
