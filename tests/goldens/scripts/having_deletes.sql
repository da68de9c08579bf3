-- HAVING over an aggregate that changes: a group that no longer passes is deleted, one that passes again is inserted.
CREATE TABLE orders (item STRING, amount INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/orders', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, total INT) WITH ('connector' = 'print');
INSERT INTO answers SELECT item, SUM(amount) FROM orders GROUP BY item HAVING SUM(amount) BETWEEN 10 AND 20;
--= Sink(table=[default_catalog.default_database.answers], fields=[item, total], changelogMode=[I,UB,UA])
--= +- Calc(select=[item, EXPR$1 AS total], changelogMode=[I,UB,UA])
--=    +- Calc(where=[((EXPR$1 >= 10) AND (EXPR$1 <= 20))], changelogMode=[I,UB,UA])
--=       +- GroupAggregate(groupBy=[item], select=[item, SUM(amount) AS EXPR$1], changelogMode=[I,UB,UA])
--=          +- TableSourceScan(table=[[default_catalog, default_database, orders]], fields=[item, amount], changelogMode=[I])
--< orders {"item": "a", "amount": 9}
--< orders {"item": "b", "amount": 15}
--< orders {"item": null, "amount": 12}
--> +I[b, 15] +I[null, 12]
--< orders {"item": "a", "amount": 1}
--< orders {"item": "b", "amount": 2}
--> +U[a, 10] -U[b, 15] +U[b, 17]
--! restart
--< orders {"item": "a", "amount": 20}
--< orders {"item": "b", "amount": null}
--> -U[a, 10]
--< orders {"item": "a", "amount": -15}
--> +U[a, 15]
