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
--= Join(joinType=[LeftSemiJoin]
--= Join(joinType=[LeftAntiJoin]
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
