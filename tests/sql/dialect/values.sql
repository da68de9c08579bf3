SELECT 7 / 2, -7 / 2, 7 / 2 * 2, (1 + 2) / 2, 7 % 3, -7 % 3;
--> 3 | -3 | 6 | 1 | 1 | -1
SELECT CAST(7 AS DOUBLE) / 2, 1 / CAST(4 AS DOUBLE), CAST(-7 AS DOUBLE) / 2;
--> 3.5 | 0.25 | -3.5
SELECT a, b FROM (VALUES (1, CAST(NULL AS INT)), (2, 5), (3, -1)) AS t(a, b) ORDER BY b;
--> 1 | <NULL>
--> 3 | -1
--> 2 | 5
SELECT a, b FROM (VALUES (1, CAST(NULL AS INT)), (2, 5), (3, -1)) AS t(a, b) ORDER BY b DESC;
--> 2 | 5
--> 3 | -1
--> 1 | <NULL>
SELECT a, b FROM (VALUES (1, CAST(NULL AS INT)), (2, 5), (3, -1)) AS t(a, b) ORDER BY b NULLS LAST;
--> 3 | -1
--> 2 | 5
--> 1 | <NULL>
SELECT a, b FROM (VALUES (1, CAST(NULL AS INT)), (2, 5), (3, -1)) AS t(a, b) ORDER BY b DESC NULLS FIRST;
--> 1 | <NULL>
--> 2 | 5
--> 3 | -1
SELECT 'a' || 'b', 'a' || CAST(NULL AS STRING), CONCAT('a', 'b', 'c'), CONCAT('a', CAST(NULL AS STRING)), CONCAT_WS('-', 'a', CAST(NULL AS STRING), 'b');
--> ab | <NULL> | abc | <NULL> | a-b
SELECT SUBSTRING('hello', 2), SUBSTRING('hello', 2, 3), SUBSTRING('hello' FROM 2 FOR 3), SUBSTR('hello', 9), SUBSTRING('hello', 1, 0), LEFT('hello', 2), LEFT('hello', 9), RIGHT('hello', 2), RIGHT('hello', 0);
--> ello | ell | ell |  |  | he | hello | lo |
SELECT CAST('5' AS INT), CAST(5 AS STRING), CAST(-1.50 AS STRING), CAST('1.5' AS DECIMAL(10, 2)), CAST(5 AS BIGINT), CAST('2021-01-31' AS DATE), CAST(DATE '2021-01-31' AS STRING), CAST(NULL AS INT);
--> 5 | 5 | -1.50 | 1.50 | 5 | 2021-01-31 | 2021-01-31 | <NULL>
SELECT DATE '2021-01-31', TIMESTAMP '2021-01-31 10:11:12.123', CAST('2021-01-31 10:11:12' AS TIMESTAMP(3)), CAST(DATE '2021-01-31' AS TIMESTAMP(3));
--> 2021-01-31 | 2021-01-31 10:11:12.123 | 2021-01-31 10:11:12 | 2021-01-31 00:00:00
SELECT EXTRACT(YEAR FROM DATE '2021-05-31'), EXTRACT(QUARTER FROM DATE '2021-05-31'), EXTRACT(MONTH FROM TIMESTAMP '2021-05-31 10:11:12'), EXTRACT(DAY FROM DATE '2021-05-31'), EXTRACT(HOUR FROM TIMESTAMP '2021-05-31 10:11:12'), EXTRACT(MINUTE FROM TIMESTAMP '2021-05-31 10:11:12'), YEAR(DATE '2021-05-31'), MONTH(DATE '2021-05-31');
--> 2021 | 2 | 5 | 31 | 10 | 11 | 2021 | 5
SELECT TRIM('  a '), TRIM(BOTH 'x' FROM 'xaxx'), TRIM(LEADING 'x' FROM 'xaxx'), TRIM(TRAILING 'ab' FROM 'xab'), UPPER('aé'), LOWER('AÉ'), CHAR_LENGTH('aé'), CHARACTER_LENGTH(''), REVERSE('abc'), REPEAT('ab', 2), REPEAT('ab', -1);
--> a | a | axx | x | AÉ | aé | 2 | 0 | cba | abab |
SELECT POSITION('b' IN 'abcb'), POSITION('z' IN 'abc'), POSITION('' IN 'abc'), REPLACE('aba', 'a', 'xy'), REPLACE('aba', 'z', 'xy'), REPLACE('aba', 'a', '');
--> 2 | 0 | 1 | xybxy | aba | b
SELECT ABS(-5), ABS(-1.5), CEIL(1.2), CEIL(-1.2), FLOOR(1.8), FLOOR(-1.8), CEIL(3), FLOOR(3), -(-2), +3, 2 * 3 + 1, 1 - 2 - 3, 1.5 + 2;
--> 5 | 1.5 | 2 | -1 | 1 | -2 | 3 | 3 | 2 | 3 | 7 | -4 | 3.5
SELECT 1 = 1, 1 <> 1, CAST(NULL AS INT) = 1, CAST(NULL AS INT) IS NULL, 1 IS NOT DISTINCT FROM CAST(NULL AS INT), CAST(NULL AS INT) IS DISTINCT FROM 1, NOT TRUE, TRUE AND CAST(NULL AS BOOLEAN), FALSE OR TRUE, (1 = 1) IS TRUE, CAST(NULL AS BOOLEAN) IS NOT TRUE, CAST(NULL AS BOOLEAN) IS UNKNOWN;
--> TRUE | FALSE | <NULL> | TRUE | FALSE | TRUE | FALSE | <NULL> | TRUE | TRUE | TRUE | TRUE
SELECT 2 BETWEEN 1 AND 3, 2 BETWEEN 3 AND 1, 2 BETWEEN SYMMETRIC 3 AND 1, 2 NOT BETWEEN 1 AND 3, 2 IN (1, 2), 2 NOT IN (1, 3), 2 IN (1, CAST(NULL AS INT));
--> TRUE | FALSE | TRUE | FALSE | TRUE | TRUE | <NULL>
SELECT COUNT(*), COUNT(b), COUNT(DISTINCT b), SUM(a), SUM(DISTINCT b), MIN(b), MAX(b), AVG(CAST(a AS DOUBLE)) FROM (VALUES (1, CAST(NULL AS INT)), (2, 5), (4, 5), (5, 6)) AS t(a, b);
--> 4 | 3 | 2 | 12 | 11 | 5 | 6 | 3.0
SELECT COUNT(*), COUNT(b), SUM(b), MIN(b) FROM (VALUES (1, 2)) AS t(a, b) WHERE a > 1;
--> 0 | 0 | <NULL> | <NULL>
SELECT b, COUNT(*) AS c, SUM(a) AS s FROM (VALUES (1, 'x'), (2, 'y'), (3, 'x')) AS t(a, b) GROUP BY b HAVING COUNT(*) > 0 ORDER BY b;
--> x | 2 | 4
--> y | 1 | 2
SELECT b, SUM(a) AS s, GROUPING(b) AS g FROM (VALUES (1, 'x'), (2, 'y'), (3, 'x')) AS t(a, b) GROUP BY GROUPING SETS ((b), ()) ORDER BY s;
--> y | 2 | 0
--> x | 4 | 0
--> <NULL> | 6 | 1
SELECT b, SUM(a) AS s FROM (VALUES (1, 'x'), (2, 'y'), (3, 'x')) AS t(a, b) GROUP BY ROLLUP (b) ORDER BY s;
--> y | 2
--> x | 4
--> <NULL> | 6
SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY a DESC) AS r, RANK() OVER (ORDER BY b) AS k, DENSE_RANK() OVER (ORDER BY b) AS d, LAG(a) OVER (ORDER BY a) AS l, LEAD(a, 2, 0) OVER (ORDER BY a) AS e, SUM(a) OVER (ORDER BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM (VALUES (1, 'x'), (2, 'y'), (3, 'x')) AS t(a, b) ORDER BY a;
--> 1 | 2 | 1 | 1 | <NULL> | 3 | 1
--> 2 | 1 | 3 | 2 | 1 | 0 | 3
--> 3 | 1 | 1 | 1 | 2 | 0 | 5
SELECT t.a, u.c FROM (VALUES (1), (2), (3)) AS t(a) LEFT JOIN (VALUES (1, 'p'), (3, 'q')) AS u(b, c) ON t.a = u.b ORDER BY a;
--> 1 | p
--> 2 | <NULL>
--> 3 | q
SELECT a, c FROM (VALUES (1), (2)) AS t(a) CROSS JOIN (VALUES ('p'), ('q')) AS u(c) ORDER BY a, c;
--> 1 | p
--> 1 | q
--> 2 | p
--> 2 | q
SELECT COALESCE(t.a, u.b) AS x FROM (VALUES (1), (2)) AS t(a) FULL JOIN (VALUES (2), (3)) AS u(b) ON t.a = u.b ORDER BY x;
--> 1
--> 2
--> 3
SELECT a FROM (VALUES (1), (2), (2), (3)) AS t(a) EXCEPT SELECT 3 ORDER BY a;
--> 1
--> 2
SELECT a FROM (VALUES (1), (2), (2)) AS t(a) UNION SELECT 3 ORDER BY a DESC;
--> 3
--> 2
--> 1
SELECT a FROM (VALUES (1), (2), (2)) AS t(a) INTERSECT ALL SELECT b FROM (VALUES (2), (2), (3)) AS u(b) ORDER BY a;
--> 2
--> 2
WITH c AS (SELECT a, a * 10 AS b FROM (VALUES (1), (2), (3)) AS t(a)) SELECT b FROM c WHERE a IN (SELECT a FROM c WHERE b > 10) ORDER BY b LIMIT 1;
--> 20
SELECT DISTINCT b FROM (VALUES (1, 'x'), (2, 'y'), (3, 'x')) AS t(a, b) ORDER BY b;
--> x
--> y
SELECT CAST(NULL AS INT) NOT IN (1, 2) IS TRUE, CAST(NULL AS STRING) NOT LIKE 'x' IS NULL, TRUE = 'ab' LIKE 'a%', 'ab' LIKE 'a%' = TRUE, FALSE = 3 IN (1, 2), FALSE = 3 BETWEEN 1 AND 2, 1 IS NOT DISTINCT FROM 1 = TRUE, TRUE = NOT FALSE, 1 < 2 = TRUE, FALSE = 1 NOT BETWEEN 0 AND 2;
--> FALSE | TRUE | TRUE | TRUE | TRUE | TRUE | TRUE | TRUE | TRUE | TRUE
