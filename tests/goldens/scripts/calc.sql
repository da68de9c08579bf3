-- Filters, projections, CASE, nested rows, sub-queries, WITH: rows pass through one by one.
CREATE TABLE orders (id BIGINT, customer ROW<name STRING, address ROW<city STRING, zip STRING>>, quantity INT, price DECIMAL(10, 2), tags ARRAY<STRING>)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/orders', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (id BIGINT, who STRING, city STRING, size STRING, total DECIMAL(20, 2), half INT, tag STRING) WITH ('connector' = 'print');
INSERT INTO answers
WITH big AS (SELECT *, quantity * price AS total FROM orders WHERE quantity > 1)
SELECT id, UPPER(o.customer.name), customer.address.city, CASE WHEN quantity >= 10 THEN 'large' WHEN quantity >= 5 THEN 'medium' ELSE 'small' END,
       total, quantity / 2, tags[1]
FROM (SELECT * FROM big WHERE total IS NOT NULL) AS o;
--< orders {"id": 1, "customer": {"name": "Žofie", "address": {"city": "Brno", "zip": "60200"}}, "quantity": 11, "price": 2.50, "tags": ["x", "y"]}
--< orders {"id": 2, "customer": {"name": "jan", "address": null}, "quantity": 5, "price": 1.10, "tags": []}
--< orders {"id": 3, "customer": null, "quantity": 1, "price": 1.00, "tags": null}
--< orders {"id": 4, "customer": null, "quantity": 3, "price": null, "tags": null}
--> +I[1, ŽOFIE, Brno, large, 27.50, 5, x]
--> +I[2, JAN, null, medium, 5.50, 2, null]
--! restart
--< orders {"id": 5, "quantity": 3, "price": "2.00"}
--> +I[5, null, null, small, 6.00, 1, null]
--= Sink(table=[default_catalog.default_database.answers], fields=[id, who, city, size, total, half, tag], changelogMode=[I])
--= +- Calc(select=[id, UPPER(customer.name) AS who, customer.address.city AS city, CASE WHEN (quantity >= 10) THEN 'large' WHEN (quantity >= 5) THEN 'medium' ELSE 'small' END AS size, CAST(total AS DECIMAL(20, 2)) AS total, (quantity / 2) AS half, tags[1] AS tag], changelogMode=[I])
--=    +- Calc(where=[NOT(total IS NULL)], changelogMode=[I])
--=       +- Calc(select=[id, customer, quantity, tags, (quantity * price) AS total], changelogMode=[I])
--=          +- Calc(where=[(quantity > 1)], changelogMode=[I])
--=             +- TableSourceScan(table=[[default_catalog, default_database, orders]], fields=[id, customer, quantity, price, tags], changelogMode=[I])
