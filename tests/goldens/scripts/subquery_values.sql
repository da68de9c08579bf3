-- Sub-queries that are values, of one row or of each row around them: joined by key, NULL without a match, but a COUNT 0; over a restart too.
CREATE TABLE orders (id INT, item STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/orders', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE offers (item STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/offers', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (id INT, least INT, offers BIGINT, offered BOOLEAN) WITH ('connector' = 'print');
INSERT INTO answers
SELECT id, (SELECT MIN(price) FROM offers), (SELECT COUNT(*) FROM offers AS o WHERE o.item = orders.item),
    EXISTS (SELECT 1 FROM offers AS o WHERE o.item = orders.item)
FROM orders;
--= Join(joinType=[LeftOuterJoin], where=[true], changelogMode=[I,UB,UA,D])
--< orders {"id": 1, "item": "a", "price": 5}
--< orders {"id": 2, "item": null, "price": 5}
--> +I[1, null, 0, false] +I[2, null, 0, false]
--! restart
--< offers {"item": "a", "price": 7}
--< offers {"item": null, "price": 1}
--> -D[1, null, 0, false] +I[1, null, 0, true] -D[1, null, 0, true] +I[1, 1, 1, true] -D[2, null, 0, false] +I[2, 1, 0, false]
