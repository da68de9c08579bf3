-- A join of what changes: aggregates of both sides, in an outer join; each change takes the pairs of what was back.
CREATE TABLE orders (item STRING, amount INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/orders', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE refunds (item STRING, amount INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/refunds', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, ordered INT, returned INT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT o.item, o.total, r.total
FROM (SELECT item, SUM(amount) AS total FROM orders GROUP BY item) AS o
LEFT JOIN (SELECT item, SUM(amount) AS total FROM refunds GROUP BY item HAVING SUM(amount) > 0) AS r ON o.item = r.item AND o.total >= r.total;
--= Sink(table=[default_catalog.default_database.answers], fields=[item, ordered, returned], changelogMode=[I,UB,UA,D])
--= +- Calc(select=[item, total AS ordered, total0 AS returned], changelogMode=[I,UB,UA,D])
--=    +- Join(joinType=[LeftOuterJoin], where=[((item = item0) AND (total >= total0))], changelogMode=[I,UB,UA,D])
--=       +- Union(all=[true], union=[$side, $k0, $0.item, $0.total, $1.item0, $1.total0], changelogMode=[I,UB,UA])
--=          +- Calc(select=[0 AS $side, item AS $k0, item AS $0.item, total AS $0.total, NULL AS $1.item0, NULL AS $1.total0], changelogMode=[I,UB,UA])
--=          |  +- GroupAggregate(groupBy=[item], select=[item, SUM(amount) AS total], changelogMode=[I,UB,UA])
--=          |     +- TableSourceScan(table=[[default_catalog, default_database, orders]], fields=[item, amount], changelogMode=[I])
--=          +- Calc(select=[1 AS $side, item AS $k0, NULL AS $0.item, NULL AS $0.total, item AS $1.item0, total AS $1.total0], changelogMode=[I,UB,UA])
--=             +- Calc(where=[(total > 0)], changelogMode=[I,UB,UA])
--=                +- GroupAggregate(groupBy=[item], select=[item, SUM(amount) AS total], changelogMode=[I,UB,UA])
--=                   +- TableSourceScan(table=[[default_catalog, default_database, refunds]], fields=[item, amount], changelogMode=[I])
--< orders {"item": "a", "amount": 5}
--< orders {"item": "b", "amount": 1}
--> +I[a, 5, null] +I[b, 1, null]
--< refunds {"item": "a", "amount": 2}
--< refunds {"item": "b", "amount": 2}
--> -D[a, 5, null] +I[a, 5, 2]
--! restart
--< orders {"item": "a", "amount": 1}
--< orders {"item": "b", "amount": 1}
--> -D[a, 5, 2] +I[a, 6, 2] -D[b, 1, null] +I[b, 2, 2]
--< refunds {"item": "a", "amount": -2}
--> -D[a, 6, 2] +I[a, 6, null]
--< refunds {"item": "b", "amount": 1}
--> -D[b, 2, 2] +I[b, 2, null]
--< orders {"item": "b", "amount": -1}
--> -D[b, 2, null] +I[b, 1, null]
