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
