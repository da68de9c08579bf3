-- LATERAL that reads the row to its left: a join by what it asks to be equal; USING beside it. A row without a match is there with NULLs until one comes.
CREATE TABLE orders (id INT, item STRING)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/orders', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE offers (item STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/offers', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE shops (item STRING, shop STRING)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/shops', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, id INT, shop STRING, price INT, n BIGINT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT orders.item, id, shop, l.price, c.n FROM orders JOIN shops USING (item)
LEFT JOIN LATERAL (SELECT price FROM offers WHERE offers.item = shops.item AND price > 1) AS l ON TRUE
LEFT JOIN LATERAL (SELECT COUNT(*) AS n FROM offers WHERE offers.item = orders.item) AS c ON TRUE;
--< orders {"id": 1, "item": "a"}
--< orders {"id": 2, "item": null}
--< shops {"item": "a", "shop": "x"}
--< shops {"item": null, "shop": "y"}
--> +I[a, 1, x, null, 0]
--! restart
--< offers {"item": "a", "price": 7}
--> -D[a, 1, x, null, 0] +I[a, 1, x, null, 1] -D[a, 1, x, null, 1] +I[a, 1, x, 7, 1]
--< offers {"item": "a", "price": 1}
--> -D[a, 1, x, 7, 1] +I[a, 1, x, 7, 2]
