-- Functions that no row can be taken away from are computed anew of what is left.
CREATE TABLE bids (auction INT, category STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (category STRING, firsts STRING, names STRING, auctions BIGINT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT category, FIRST_VALUE(name), LISTAGG(name), COUNT(*) FROM (SELECT auction, category, CAST(MAX(price) AS STRING) AS name FROM bids GROUP BY auction, category) GROUP BY category;
--< bids {"auction": 1, "category": "a", "price": 5}
--> +I[a, 5, 5, 1]
--< bids {"auction": 2, "category": "a", "price": 6}
--> -U[a, 5, 5, 1] +U[a, 5, 5,6, 2]
--! restart
--< bids {"auction": 1, "category": "a", "price": 7}
--> -U[a, 5, 5,6, 2] +U[a, 6, 6,7, 2]
