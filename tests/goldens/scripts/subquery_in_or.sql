-- IN and EXISTS among other conditions, and an aggregate of the row around: a row comes when it finds a match, and goes when that goes.
CREATE TABLE orders (id INT, item STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/orders', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE offers (item STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/offers', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (id INT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT id FROM orders
WHERE (price > 100 OR item IN (SELECT item FROM offers)) AND price >= (SELECT MAX(price) FROM offers AS o WHERE o.item = orders.item);
--< orders {"id": 1, "item": "a", "price": 5}
--< orders {"id": 2, "item": null, "price": 500}
--< orders {"id": 3, "item": "b", "price": 500}
--< offers {"item": "a", "price": 5}
--> +I[1]
--! restart
--< offers {"item": "b", "price": 1}
--< offers {"item": null, "price": 1}
--> +I[3] -D[3] +I[3]
--< offers {"item": "a", "price": 6}
--> -D[1]
