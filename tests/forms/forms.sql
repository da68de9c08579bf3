-- Forms of queries and their rows, in batch mode, as Flink answers them. A NULL is null; rows come in any order.
CREATE TABLE a (id INT, k STRING, n INT) WITH ('connector' = 'filesystem', 'path' = '${DIR}/a', 'format' = 'json');
CREATE TABLE b (id INT, k STRING, m INT) WITH ('connector' = 'filesystem', 'path' = '${DIR}/b', 'format' = 'json');
--< a {"id": 1, "k": "x", "n": 10}
--< a {"id": 2, "k": "y", "n": 20}
--< a {"id": 3, "k": null, "n": 30}
--< b {"id": 1, "k": "x", "m": 100}
--< b {"id": 2, "k": "x", "m": 200}
--< b {"id": 3, "k": "z", "m": 300}
--< b {"id": 4, "k": null, "m": 400}

-- Sub-queries that are values.
SELECT id, (SELECT m FROM b WHERE id = 3) AS o FROM a;
--> 1, 300 | 2, 300 | 3, 300
SELECT id, (SELECT m FROM b WHERE id = 99) AS o FROM a;
--> 1, null | 2, null | 3, null
SELECT id, (SELECT MAX(m) FROM b WHERE b.k = a.k) AS mx FROM a;
--> 1, 200 | 2, null | 3, null
SELECT id, (SELECT COUNT(*) + 1 FROM b WHERE b.k = a.k) AS mx FROM a;
--> 1, 3 | 2, 1 | 3, 1
SELECT id, (SELECT SUM(m) + 1 FROM b WHERE b.k = a.k AND b.id <= 1) AS mx FROM a;
--> 1, 101 | 2, null | 3, null
SELECT id, (SELECT COUNT(*) FILTER (WHERE m > 100) FROM b WHERE b.k = a.k) AS c FROM a;
--> 1, 1 | 2, 0 | 3, 0
SELECT id, (SELECT MAX(m) FILTER (WHERE m < 200) FROM b WHERE b.k = a.k) AS c FROM a;
--> 1, 100 | 2, null | 3, null
SELECT id, (SELECT 1 + COUNT(m) FILTER (WHERE m > 200) FROM b WHERE b.k = a.k) AS c FROM a;
--> 1, 1 | 2, 1 | 3, 1
SELECT id FROM a WHERE n < (SELECT SUM(m) FROM b WHERE b.k = a.k);
--> 1
SELECT id FROM a WHERE n > (SELECT MIN(m) / 10 FROM b) AND id < (SELECT MAX(id) FROM b);
--> 2 | 3
SELECT id, (SELECT m FROM b WHERE b.k = a.k AND b.id = 1) AS mx FROM a;
--> 1, 100 | 2, null | 3, null
SELECT id, (SELECT MAX(m) FROM b WHERE b.k = a.k GROUP BY k) AS mx FROM a;
--> 1, 200 | 2, null | 3, null
SELECT id, (SELECT DISTINCT k FROM b WHERE b.k = a.k) AS mx FROM a;
--> 1, x | 2, null | 3, null
SELECT id, (SELECT m FROM b ORDER BY m DESC LIMIT 1) AS e FROM a;
--> 1, 400 | 2, 400 | 3, 400
SELECT k, COUNT(*) AS c, (SELECT MAX(id) FROM b) AS mx FROM a GROUP BY k HAVING COUNT(*) >= (SELECT MIN(id) FROM b);
--> x, 1, 4 | y, 1, 4 | null, 1, 4
SELECT id FROM a WHERE id = 1 OR EXISTS (SELECT 1 FROM b WHERE b.k = a.k);
--> 1
SELECT id FROM a WHERE id = 2 OR k IN (SELECT k FROM b);
--> 1 | 2
SELECT id FROM a WHERE id = 2 OR k IN (SELECT k FROM b WHERE b.id = a.id);
--> 1 | 2
SELECT id FROM a WHERE id = 2 OR k NOT IN (SELECT k FROM b WHERE k IS NOT NULL);
--> 2
SELECT id, k IN (SELECT k FROM b) AS f, CASE WHEN k IN (SELECT k FROM b) THEN 1 ELSE 0 END AS c FROM a;
--> 1, true, 1 | 2, null, 0 | 3, null, 0
SELECT id, k IN (SELECT k FROM b WHERE k IS NOT NULL) AS f, k IN (SELECT k FROM b WHERE id > 9) AS e FROM a;
--> 1, true, false | 2, false, false | 3, null, false
SELECT id, EXISTS (SELECT 1 FROM b WHERE b.k = a.k) AS e FROM a;
--> 1, true | 2, false | 3, false
SELECT id, EXISTS (SELECT 1 FROM b WHERE m > 1000) AS f FROM a;
--> 1, false | 2, false | 3, false
SELECT id FROM a WHERE n * 20 IN (SELECT MAX(m) FROM b WHERE b.k = a.k);
--> 1
SELECT id FROM a WHERE EXISTS (SELECT COUNT(*) FROM b WHERE b.k = a.k GROUP BY id);
--> 1
SELECT id FROM a WHERE k IN (SELECT k FROM b WHERE id IN (SELECT id FROM a WHERE n > 10));
--> 1
SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND NOT EXISTS (SELECT 1 FROM a AS c WHERE c.n * 20 = b.m));
--> 1
SELECT id FROM a WHERE k NOT IN (SELECT k FROM b WHERE m > (SELECT MIN(m) FROM b) AND k IS NOT NULL);
--> 2
SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.id = a.id AND (m > 200 OR k IN (SELECT k FROM a WHERE n = 10)));
--> 1 | 2 | 3
SELECT (SELECT 1) + 1 AS x, (SELECT (SELECT 'a')) AS y;
--> 2, a
SELECT id, (SELECT m FROM b) AS many FROM a;
--! SingleValueAggFunction received more than one element
SELECT id, (SELECT m FROM b WHERE b.k = a.k) AS many FROM a;
--! SingleValueAggFunction received more than one element

-- In keys, in what aggregates read, in ON and in VALUES.
SELECT (SELECT MAX(m) FROM b) AS x, COUNT(*) AS c FROM a GROUP BY (SELECT MAX(m) FROM b);
--> 400, 3
SELECT k, (SELECT MAX(m) FROM b WHERE b.k = a.k) AS x, COUNT(*) AS c FROM a GROUP BY k, (SELECT MAX(m) FROM b WHERE b.k = a.k);
--> x, 200, 1 | y, null, 1 | null, null, 1
SELECT n + (SELECT MAX(m) FROM b) AS x, COUNT(*) AS c FROM a GROUP BY n + (SELECT MAX(m) FROM b);
--> 410, 1 | 420, 1 | 430, 1
SELECT COUNT(*) AS c FROM a GROUP BY CASE WHEN EXISTS (SELECT 1 FROM b WHERE b.k = a.k) THEN 1 ELSE 0 END;
--> 1 | 2
SELECT k, COUNT(*) AS c FROM a GROUP BY GROUPING SETS ((k), ((SELECT MAX(m) FROM b)));
--> x, 1 | y, 1 | null, 1 | null, 3
SELECT k, SUM((SELECT COUNT(*) FROM b WHERE b.k = a.k)) AS s, (SELECT COUNT(*) FROM b) AS y FROM a GROUP BY k;
--> x, 2, 4 | y, 0, 4 | null, 0, 4
SELECT COUNT(*) FILTER (WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k)) AS f, COUNT(CASE WHEN k IN (SELECT k FROM b) THEN 1 END) AS c FROM a;
--> 1, 1
SELECT k FROM a GROUP BY k HAVING SUM((SELECT COUNT(*) FROM b WHERE b.k = a.k)) > 1;
--> x
SELECT a.id, b.m FROM a JOIN b ON a.k = b.k AND b.m > (SELECT MIN(m) FROM b);
--> 1, 200
SELECT a.id, b.m FROM a LEFT JOIN b ON a.k = b.k AND (SELECT COUNT(*) FROM b WHERE m > 3000) = 0 AND b.m > (SELECT MIN(m) FROM b);
--> 1, 200 | 2, null | 3, null
SELECT a.id, b.m FROM a RIGHT JOIN b ON a.k = b.k AND a.id > (SELECT MIN(id) FROM b);
--> null, 100 | null, 200 | null, 300 | null, 400
SELECT * FROM a FULL JOIN b ON a.k = b.k AND b.m < (SELECT m FROM b WHERE id = 2);
--> 1, x, 10, 1, x, 100 | 2, y, 20, null, null, null | 3, null, 30, null, null, null | null, null, null, 2, x, 200 | null, null, null, 3, z, 300 | null, null, null, 4, null, 400
SELECT a.id, b.m FROM a JOIN b ON a.k = b.k AND b.m < (SELECT m FROM b);
--! SingleValueAggFunction received more than one element
VALUES ((SELECT MAX(m) FROM b), 1), ((SELECT MIN(m) FROM b) + 1, 3), (7, 8);
--> 400, 1 | 101, 3 | 7, 8
VALUES (1 IN (SELECT id FROM b), EXISTS (SELECT 1 FROM b WHERE m > 1000));
--> true, false
SELECT x + 1 AS y FROM (VALUES ((SELECT MAX(m) FROM b WHERE m > 1000)), (7)) AS v (x);
--> null | 8
SELECT * FROM a WHERE id IN (VALUES (1), ((SELECT MIN(id) + 1 FROM b)));
--> 1, x, 10 | 2, y, 20

-- IN asks for what is computed of groups.
SELECT k, COUNT(*) AS c FROM b GROUP BY k HAVING COUNT(*) IN (SELECT id FROM a WHERE id > 1);
--> x, 2
SELECT CASE WHEN COUNT(*) IN (SELECT id FROM b) THEN 'y' ELSE 'n' END AS c, MAX(n) IN (SELECT m / 10 FROM b) AS d FROM a;
--> y, true
SELECT k FROM a GROUP BY k HAVING (k, COUNT(*) + 1) IN (SELECT k, COUNT(*) FROM b GROUP BY k);
--> x
SELECT UPPER(k) AS u, UPPER(k) IN (SELECT UPPER(k) FROM b) AS f, COUNT(*) AS c FROM a GROUP BY UPPER(k);
--> X, true, 1 | Y, null, 1 | null, null, 1
SELECT k, k IN (SELECT k FROM b) AS f, COUNT(*) AS c FROM a GROUP BY ROLLUP (k);
--> x, true, 1 | y, null, 1 | null, null, 1 | null, null, 3
SELECT k, (SELECT MAX(m) FROM b) IN (SELECT m FROM b) AS f FROM a GROUP BY k;
--> x, true | y, true | null, true
SELECT k, SUM(n) FILTER (WHERE n IN (SELECT m / 10 FROM b)) AS s FROM a GROUP BY k HAVING MAX(id) IN (SELECT id FROM b) AND k IN (SELECT k FROM b);
--> x, 10

-- QUALIFY: names are those of the select list first.
SELECT id, k FROM b QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY id DESC) = 1;
--> 2, x | 3, z | 4, null
SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY id) AS rn FROM b QUALIFY rn = 1 AND m > 100;
--> 3, z, 300, 1 | 4, null, 400, 1
SELECT id AS k, k AS id FROM b QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY m) = 1;
--> 1, x | 2, x | 3, z | 4, null
SELECT DISTINCT k FROM b WHERE id < 4 QUALIFY SUM(m) OVER (ORDER BY id) > 200;
--> x | z
SELECT id FROM b WINDOW w AS (PARTITION BY k ORDER BY id) QUALIFY ROW_NUMBER() OVER w <= (SELECT MIN(id) FROM a) ORDER BY m DESC LIMIT 2;
--> 4 | 3
SELECT a.id, b.m FROM a JOIN b ON a.k = b.k QUALIFY ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY b.m DESC) = 1 OR RANK() OVER (ORDER BY a.id) > 1;
--> 1, 200
SELECT id FROM a QUALIFY n > 10;
--! must contain a window function
SELECT id FROM a QUALIFY ROW_NUMBER() OVER (ORDER BY id);
--! QUALIFY clause must be a condition

-- Without FROM: computed from the outer row. An aggregate without GROUP BY has a row always.
SELECT id, (SELECT a.n + 1) AS x, (SELECT CASE WHEN a.n > 10 THEN 'big' ELSE k END) AS y FROM a WHERE (SELECT a.n) > 10;
--> 2, 21, big | 3, 31, big
SELECT id, EXISTS (SELECT COUNT(*) FROM b WHERE b.k = a.k) AS f FROM a WHERE EXISTS (SELECT MAX(m) FROM b WHERE b.id > 1000);
--> 1, true | 2, true | 3, true
SELECT id FROM a WHERE NOT EXISTS (SELECT MAX(m) FROM b WHERE b.id > 1000);
-->
SELECT id FROM a WHERE EXISTS (SELECT a.n) OR id > 9;
--> 1 | 2 | 3

-- IN as a value of each row, where NULLs are possible.
SELECT id, n IN (SELECT m / 10 FROM b WHERE b.k = a.k) AS f, id IN (SELECT CASE WHEN m > 100 THEN m / 100 END FROM b WHERE b.k = a.k) AS g FROM a;
--> 1, true, null | 2, false, false | 3, false, false
SELECT id, k NOT IN (SELECT CASE WHEN c.m > 100 THEN c.k END FROM b AS c WHERE c.id <= a.id) AS f FROM a;
--> 1, null | 2, null | 3, null
SELECT id FROM a WHERE id = 3 OR n NOT IN (SELECT m / 10 FROM b WHERE b.k = a.k);
--> 2 | 3
SELECT id FROM a WHERE id = 3 OR k NOT IN (SELECT k FROM b);
--> 3

-- LATERAL.
SELECT a.id, l.m FROM a, LATERAL (SELECT m FROM b WHERE b.k = a.k) AS l;
--> 1, 100 | 1, 200
SELECT a.id, l.m FROM a LEFT JOIN LATERAL (SELECT m FROM b WHERE b.k = a.k) AS l ON TRUE;
--> 1, 100 | 1, 200 | 2, null | 3, null
SELECT a.id, l.m FROM a LEFT JOIN LATERAL (SELECT m FROM b WHERE b.k = a.k) AS l ON l.m > 100;
--> 1, 200 | 2, null | 3, null
SELECT a.id, l.m FROM a, LATERAL (SELECT SUM(m) AS m FROM b WHERE b.k = a.k) AS l;
--> 1, 300
SELECT a.id, l.m FROM a LEFT JOIN LATERAL (SELECT COUNT(*) AS m FROM b WHERE b.k = a.k) AS l ON TRUE;
--> 1, 2 | 2, 0 | 3, 0
SELECT a.id, l.m, l.id FROM a, LATERAL (SELECT id, SUM(m) AS m FROM b WHERE b.k = a.k GROUP BY id) AS l;
--> 1, 100, 1 | 1, 200, 2
SELECT a.id, l.x FROM a, LATERAL (SELECT m FROM b WHERE b.id > a.id) AS l (x);
--> 1, 200 | 1, 300 | 1, 400 | 2, 300 | 2, 400 | 3, 400
SELECT a.id, l.m FROM a, LATERAL (SELECT DISTINCT m FROM b WHERE b.k = a.k) AS l;
--> 1, 100 | 1, 200

-- GROUP BY a constant groups all rows: it is no position.
SELECT 7, COUNT(*) FROM a GROUP BY 7;
--> 7, 3
SELECT COUNT(*) FROM a WHERE id > 9 GROUP BY 1;
-->

-- NATURAL JOIN, USING, joins in parentheses, commas.
SELECT * FROM a NATURAL JOIN b;
--> 1, x, 10, 100
SELECT * FROM a NATURAL LEFT JOIN b;
--> 1, x, 10, 100 | 2, y, 20, null | 3, null, 30, null
SELECT * FROM a LEFT JOIN b USING (k);
--> x, 1, 10, 1, 100 | x, 1, 10, 2, 200 | y, 2, 20, null, null | null, 3, 30, null, null
SELECT * FROM a RIGHT JOIN b USING (k);
--> x, 1, 10, 1, 100 | x, 1, 10, 2, 200 | z, null, null, 3, 300 | null, null, null, 4, 400
SELECT k, a.k, b.k FROM a FULL JOIN b USING (k);
--> x, x, x | x, x, x | z, null, z | null, null, null | null, null, null | y, y, null
SELECT id, a.*, b.k FROM a JOIN b USING (id, k);
--> 1, 1, x, 10, x
SELECT * FROM a AS x JOIN b AS y USING (k) JOIN b AS z USING (k);
--> x, 1, 10, 1, 100, 1, 100 | x, 1, 10, 2, 200, 1, 100 | x, 1, 10, 1, 100, 2, 200 | x, 1, 10, 2, 200, 2, 200
SELECT * FROM (a JOIN b ON a.k = b.k) JOIN a AS c ON c.id = b.id;
--> 1, x, 10, 1, x, 100, 1, x, 10 | 1, x, 10, 2, x, 200, 2, y, 20
SELECT a.id, c.id FROM a LEFT JOIN (b JOIN a AS c ON b.id = c.id) ON a.k = b.k;
--> 1, 1 | 1, 2 | 2, null | 3, null
SELECT a.id, b.id, c.id FROM a, b RIGHT JOIN a AS c ON b.k = c.k WHERE a.id = 2;
--> 2, 1, 1 | 2, 2, 1
SELECT a.id, b.id FROM a, b JOIN a AS c ON b.id = c.id WHERE a.k = b.k;
--> 1, 1 | 1, 2
SELECT COUNT(*) FROM a JOIN b ON TRUE;
--> 12

-- UNNEST of what is no column.
SELECT * FROM UNNEST(ARRAY[1, 2]) WITH ORDINALITY;
--> 1, 1 | 2, 2
SELECT t FROM a, UNNEST(ARRAY[k, 'c']) AS t WHERE id > 1;
--> y | c | null | c

-- ORDER BY what is not selected.
SELECT k FROM a ORDER BY id * -1 LIMIT 2;
--> null | y
SELECT a.id, b.id FROM a JOIN b ON a.k = b.k ORDER BY b.id DESC LIMIT 1;
--> 1, 2
SELECT k, COUNT(*) AS c FROM b GROUP BY k ORDER BY COUNT(*) DESC, k LIMIT 1;
--> x, 2
SELECT id AS n FROM a ORDER BY -n LIMIT 1;
--> 3

-- NOT NULL that a source does not keep: believed where a query is planned, looked at where its rows leave it. Flink makes up values in the place of
-- NULLs that are computed with (-1, an empty text); they are refused.
CREATE TABLE loose (id INT, n INT NOT NULL, s STRING NOT NULL, r ROW<a INT NOT NULL, b STRING> NOT NULL) WITH ('connector' = 'filesystem', 'path' = '${DIR}/loose', 'format' = 'json');
--< loose {"id": 1, "n": 5, "s": "a", "r": {"a": 1, "b": "x"}}
--< loose {"id": 2, "r": {"b": "y"}}
--< loose {"id": 3, "n": 7, "s": "c", "r": {"a": 3, "b": null}}
SELECT id FROM loose WHERE n IS NULL;
-->
SELECT id FROM loose WHERE n IS NOT NULL AND s IS NOT NULL AND r IS NOT NULL;
--> 1 | 2 | 3
SELECT id FROM loose WHERE n > 5 OR id = 2;
--> 2 | 3
SELECT id FROM loose WHERE NOT (n > 5);
--> 1
SELECT id FROM loose WHERE (n > 5) IS NOT TRUE;
--> 1
SELECT id FROM loose WHERE n IS DISTINCT FROM 5;
--> 3
SELECT id FROM loose WHERE n = n;
--> 1 | 2 | 3
SELECT id FROM loose WHERE n + 1 IS NULL OR r.a IS NULL;
-->
SELECT COUNT(n) AS a, COUNT(s) AS b, COUNT(n) FILTER (WHERE n > 5) AS c, COUNT(*) AS d FROM loose;
--> 3, 3, 1, 3
SELECT id, CASE WHEN n > 5 THEN 'more' ELSE 'less' END AS c FROM loose;
--> 1, less | 2, less | 3, more
SELECT x.id FROM loose AS x JOIN loose AS y ON x.n = y.n;
--> 1 | 3
SELECT x.id, y.n FROM loose AS x LEFT JOIN (SELECT * FROM loose WHERE n > 5) AS y ON x.n = y.n;
--> 1, null | 2, null | 3, 7
SELECT id, n FROM loose;
--! Column 'n' is NOT NULL, however, a null value is being written into it. The row is .2, null.
SELECT id, COALESCE(n, 0) AS c FROM loose;
--! Column 'c' is NOT NULL, however, a null value is being written into it
SELECT id, n + 1 AS c FROM loose;
--! Column 'c' is NOT NULL
SELECT id, UPPER(s) AS c FROM loose;
--! Column 'c' is NOT NULL
SELECT id, r.a AS c FROM loose;
--! Column 'c' is NOT NULL
SELECT id, r FROM loose;
--> 1, (1, x) | 2, (NULL, y) | 3, (3, NULL)
SELECT n, COUNT(*) AS c FROM loose GROUP BY n;
--! Column 'n' is NOT NULL, however, a null value is being written into it
SELECT SUM(n) AS c FROM loose;
--! Column 'n' is NOT NULL, however, a null value is being aggregated
SELECT SUM(n) FILTER (WHERE id <> 2) AS c FROM loose;
--> 12
SELECT SUM(n) OVER (PARTITION BY id ORDER BY id) AS c FROM loose;
--! Column 'n' is NOT NULL, however, a null value is being aggregated

-- The fields of a ROW.
CREATE TABLE people (id INT, person ROW<x INT, y STRING, addr ROW<n INT, id STRING>>) WITH ('connector' = 'filesystem', 'path' = '${DIR}/people', 'format' = 'json');
--< people {"id": 1, "person": {"x": 1, "y": "a", "addr": {"n": 2, "id": "z"}}}
--< people {"id": 2, "person": null}
SELECT person.* FROM people;
--> 1, a, (2, z) | null, null, null
SELECT people.person.* FROM people;
--> 1, a, (2, z) | null, null, null
SELECT id, people.person.addr.*, person.* FROM people WHERE id = 1;
--> 1, 2, z, 1, a, (2, z)
SELECT u.*, u.person.addr.* FROM people AS u WHERE id = 1;
--> 1, (1, a, (2, z)), 2, z
SELECT person.* FROM people AS person WHERE id = 1;
--> 1, (1, a, (2, z))
SELECT x, id0 FROM (SELECT id, person.addr.*, person.* FROM people) AS t WHERE id = 1;
--> 1, z
SELECT id.* FROM people;
--! Not a record type. The '\*' operator requires a record
SELECT nope.* FROM people;
--! Unknown identifier 'nope'
SELECT person.nope.* FROM people;
--! Unknown identifier 'person.nope'

-- Sub-queries that compare with the outer row otherwise than by =: a NULL that they read of it has no partner, in Flink, whatever they do with it.
CREATE TABLE c (id INT, k STRING, n INT, arr ARRAY<INT>) WITH ('connector' = 'filesystem', 'path' = '${DIR}/c', 'format' = 'json');
--< c {"id": 1, "k": "x", "n": 10, "arr": [1, 2]}
--< c {"id": 2, "k": "y", "n": 20, "arr": [3]}
--< c {"id": 3, "k": null, "n": 30, "arr": null}
--< c {"id": 4, "k": "x", "n": null, "arr": [4, null]}
SELECT id, (SELECT MAX(m) FROM b WHERE b.id < c.id) AS x FROM c;
--> 1, null | 2, 100 | 3, 200 | 4, 300
SELECT id, (SELECT COUNT(*) FROM b WHERE b.m <> c.n) AS x FROM c;
--> 1, 4 | 2, 4 | 3, 4 | 4, 0
SELECT id, (SELECT COUNT(*) FROM b WHERE b.m > COALESCE(c.n, 0)) AS x FROM c;
--> 1, 4 | 2, 4 | 3, 4 | 4, 0
SELECT id, (SELECT COUNT(*) FROM b WHERE b.id < c.id OR c.k IS NULL) AS x FROM c;
--> 1, 0 | 2, 1 | 3, 0 | 4, 3
SELECT id, (SELECT SUM(m) FROM b WHERE b.id > c.id AND b.k = c.k) AS x FROM c;
--> 1, 200 | 2, null | 3, null | 4, null
SELECT id, (SELECT SUM(m) FROM b WHERE b.id BETWEEN c.id AND c.id + 1) AS x FROM c;
--> 1, 300 | 2, 500 | 3, 700 | 4, 400
SELECT id, (SELECT COUNT(DISTINCT k) FROM b WHERE b.id <> c.id) AS x FROM c;
--> 1, 2 | 2, 2 | 3, 1 | 4, 2
SELECT id, (SELECT MAX(m) FROM b WHERE b.id < c.id HAVING COUNT(*) > 1) AS x FROM c;
--> 1, null | 2, null | 3, 200 | 4, 300
SELECT id, (SELECT MAX(m) FROM b WHERE c.n > 10) AS x FROM c;
--> 1, null | 2, 400 | 3, 400 | 4, null
SELECT id, (SELECT MAX(COALESCE(c.n, 7) + m) FROM b WHERE b.k = c.k) AS x FROM c;
--> 1, 210 | 2, null | 3, null | 4, null
SELECT id, (SELECT b.m + c.n FROM b WHERE b.id = c.id) AS x FROM c;
--> 1, 110 | 2, 220 | 3, 330 | 4, null
SELECT id, (SELECT m FROM b WHERE b.id < c.id AND b.id > c.id - 2) AS x FROM c;
--> 1, null | 2, 100 | 3, 200 | 4, 300
SELECT id FROM c WHERE n > (SELECT COUNT(*) FROM b WHERE b.id < c.id);
--> 1 | 2 | 3
SELECT id FROM c WHERE id = (SELECT COUNT(*) FROM b WHERE b.id < c.id) + 1;
--> 1 | 2 | 3 | 4
SELECT id FROM c WHERE EXISTS (SELECT COUNT(*) FROM b WHERE b.id < c.id GROUP BY b.k);
--> 2 | 3 | 4
SELECT id FROM c WHERE n IN (SELECT MAX(m) / 10 FROM b WHERE b.id <= c.id GROUP BY k);
--> 1 | 2 | 3
SELECT id FROM c WHERE n NOT IN (SELECT MAX(m) / 10 FROM b WHERE b.id <= c.id GROUP BY k);
-->
SELECT c.id, l.m FROM c, LATERAL (SELECT MAX(m) AS m FROM b WHERE b.id < c.id) AS l;
--> 2, 100 | 3, 200 | 4, 300
SELECT c.id, l.m FROM c LEFT JOIN LATERAL (SELECT MAX(m) AS m FROM b WHERE b.id < c.id GROUP BY k) AS l ON TRUE;
--> 1, null | 2, 100 | 3, 200 | 4, 200 | 4, 300
SELECT c.id, l.m FROM c, LATERAL (SELECT m + c.n AS m FROM b WHERE b.k = c.k) AS l;
--> 1, 110 | 1, 210
SELECT c.id, l.m FROM c LEFT JOIN LATERAL (SELECT m + c.n AS m FROM b WHERE b.k = c.k) AS l ON TRUE;
--> 1, 110 | 1, 210 | 2, null | 3, null | 4, null
SELECT id, (SELECT MAX(m) + c.n FROM b WHERE b.id = c.id) AS x FROM c;
--! Expression 'c.n' is not being grouped
SELECT id, EXISTS (SELECT 1 FROM b WHERE b.id < c.id) AS x FROM c;
--> 1, false | 2, true | 3, true | 4, true
SELECT id FROM c WHERE EXISTS (SELECT 1 FROM b WHERE b.id < c.id) OR id = 1;
--> 1 | 2 | 3 | 4
SELECT id FROM c WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.id <= c.id AND b.m > 100) OR n = 30;
--> 1 | 3
SELECT id FROM c WHERE id IN (SELECT id FROM b WHERE b.m <> c.n) OR n = 7;
--> 1 | 2 | 3
SELECT id, CASE WHEN EXISTS (SELECT * FROM b WHERE b.m + c.n > 200) THEN 1 ELSE 0 END AS x FROM c;
--> 1, 1 | 2, 1 | 3, 1 | 4, 0
SELECT id, EXISTS (SELECT * FROM (SELECT * FROM b) AS q WHERE q.m + c.n > 200) AS x FROM c;
--> 1, true | 2, true | 3, true | 4, false
SELECT id FROM c WHERE n * 10 IN (SELECT SUM(m) OVER (ORDER BY m) FROM b);
--> 1 | 3

-- UNNEST in LATERAL.
SELECT id, x FROM c, LATERAL (SELECT u.x FROM UNNEST(c.arr) AS u (x)) AS l;
--> 1, 1 | 1, 2 | 2, 3 | 4, 4 | 4, null
SELECT id, x FROM c LEFT JOIN LATERAL (SELECT u.x FROM UNNEST(c.arr) AS u (x) WHERE u.x > 1) AS l ON TRUE;
--> 1, 2 | 2, 3 | 3, null | 4, 4
SELECT id, l.* FROM c, LATERAL (SELECT * FROM UNNEST(c.arr) AS u (x)) AS l (q);
--> 1, 1 | 1, 2 | 2, 3 | 4, 4 | 4, null
SELECT id, l.* FROM c, LATERAL (SELECT * FROM UNNEST(c.arr) WITH ORDINALITY AS u (x, o)) AS l;
--> 1, 1, 1 | 1, 2, 2 | 2, 3, 1 | 4, 4, 1 | 4, null, 2
