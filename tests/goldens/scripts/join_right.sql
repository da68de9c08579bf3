-- A right join outside of windows: a row without a match stands alone until one comes. NULL finds none, and what else the condition asks for counts.
CREATE TABLE orders (id INT, item STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/orders', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE offers (item STRING, least INT, shop STRING)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/offers', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (id INT, item STRING, shop STRING) WITH ('connector' = 'print');
INSERT INTO answers SELECT id, o.item, shop FROM orders AS o RIGHT JOIN offers AS f ON o.item = f.item AND price >= least;
--= Join(joinType=[
--< orders {"id": 1, "item": "a", "price": 5}
--< offers {"item": "a", "least": 6, "shop": "x"}
--< offers {"item": null, "least": 1, "shop": "z"}
--> +I[null, null, x] +I[null, null, z]
--! restart
--< orders {"id": 3, "item": "a", "price": 6}
--> -D[null, null, x] +I[3, a, x]
