-- A join without equal columns, and a cross join of the result with constants.
CREATE TABLE prices (id INT, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/prices', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE limits (name STRING, least INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/limits', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (id INT, name STRING, x INT) WITH ('connector' = 'print');
INSERT INTO answers SELECT id, name, x FROM prices JOIN limits ON price > least CROSS JOIN (VALUES (1), (2)) AS v(x);
--= Join(joinType=[InnerJoin], where=[true]
--= Join(joinType=[InnerJoin], where=[(price > least)]
--< prices {"id": 1, "price": 10}
--< prices {"id": 2, "price": 20}
--< limits {"name": "a", "least": 15}
--< limits {"name": "b", "least": null}
--> +I[2, a, 1] +I[2, a, 2]
--! restart
--< limits {"name": "c", "least": 5}
--> +I[1, c, 1] +I[1, c, 2] +I[2, c, 1] +I[2, c, 2]
