-- A join without equal columns, and a cross join of the result with constants.
CREATE TABLE prices (id INT, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/prices', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE limits (name STRING, least INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/limits', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (id INT, name STRING, x INT) WITH ('connector' = 'print');
INSERT INTO answers SELECT id, name, x FROM prices JOIN limits ON price > least CROSS JOIN (VALUES (1), (2)) AS v(x);
--= Sink(table=[default_catalog.default_database.answers], fields=[id, name, x], changelogMode=[I])
--= +- Join(joinType=[InnerJoin], where=[true], changelogMode=[I])
--=    +- Calc(select=[id, name], changelogMode=[I])
--=    |  +- Join(joinType=[InnerJoin], where=[(price > least)], changelogMode=[I])
--=    |     +- Union(all=[true], union=[$side, $0.id, $0.price, $1.name, $1.least], changelogMode=[I])
--=    |        +- Calc(select=[0 AS $side, id AS $0.id, price AS $0.price, NULL AS $1.name, NULL AS $1.least], changelogMode=[I])
--=    |        |  +- TableSourceScan(table=[[default_catalog, default_database, prices]], fields=[id, price], changelogMode=[I])
--=    |        +- Calc(select=[1 AS $side, NULL AS $0.id, NULL AS $0.price, name AS $1.name, least AS $1.least], changelogMode=[I])
--=    |           +- TableSourceScan(table=[[default_catalog, default_database, limits]], fields=[name, least], changelogMode=[I])
--=    +- Calc(select=[EXPR$0 AS x], changelogMode=[I])
--=       +- Values(tuples=[[{ 1 }, { 2 }]], changelogMode=[I])
--< prices {"id": 1, "price": 10}
--< prices {"id": 2, "price": 20}
--< limits {"name": "a", "least": 15}
--< limits {"name": "b", "least": null}
--> +I[2, a, 1] +I[2, a, 2]
--! restart
--< limits {"name": "c", "least": 5}
--> +I[1, c, 1] +I[1, c, 2] +I[2, c, 1] +I[2, c, 2]
