-- What the parser of real Flink 2.3 says of each statement: ok, or line:column and message.

--= ok
SELECT a b, a AS c, a AS `x y`, t.a, `t`.`a` FROM t

--= 1:10 Expecting alias, found character literal
SELECT a 'lit' FROM t

--= ok
SELECT a b FROM t c

--= ok
SELECT final, name, `key`, state, type, location, length, word, rank_number FROM t

--= ok
SELECT name AS type, type location, state word, length AS key FROM t AS final

--= ok
SELECT key FROM t

--= 1:8 Encountered "method" at line 1, column 8.
SELECT method FROM t

--= 1:8 Encountered "prev FROM" at line 1, column 8.
SELECT prev FROM t

--= 1:8 Encountered "raw" at line 1, column 8.
SELECT raw FROM t

--= 1:8 Encountered "value" at line 1, column 8.
SELECT value FROM t

--= 1:8 Encountered "day" at line 1, column 8.
SELECT day FROM t

--= ok
SELECT user FROM t

--= ok
SELECT `user`, `day`, `value`, `method` FROM t

--= 1:13 Encountered "value" at line 1, column 13.
SELECT a AS value FROM t

--= 1:13 Encountered "day" at line 1, column 13.
SELECT a AS day FROM t

--= 1:10 Encountered "hour" at line 1, column 10.
SELECT a hour FROM t

--= 1:8 Encountered "timestamp FROM" at line 1, column 8.
SELECT timestamp FROM t

--= ok
SELECT `timestamp` FROM t

--= 1:22 Encountered "dateTime ," at line 1, column 22.
SELECT data, id, ts, dateTime, url, channel, count_, seconds, year_ FROM t

--= ok
SELECT version, catalog, schema, source, message, status, zone, plan, options, json, window_start, depth, dim, dt FROM t

--= ok
SELECT číslo, 名前 FROM таблица

--= ok
SELECT _a, a1, a$b, EXPR$0 FROM t

--= ok
SELECT 1a FROM t

--= 1:8 Encountered "\"" at line 1, column 8.
SELECT "a" FROM t

--= 1:15 Encountered "\"" at line 1, column 15.
SELECT a FROM "t"

--= 1:9 Encountered ":" at line 1, column 9.
SELECT a::INT FROM t

--= ok
SELECT a FROM t QUALIFY ROW_NUMBER() OVER (ORDER BY a) = 1

--= ok
SELECT * FROM t PIVOT (SUM(a) FOR b IN (1, 2))

--= ok
SELECT * FROM t TABLESAMPLE BERNOULLI(10)

--= 1:12 Encountered "5" at line 1, column 12.
SELECT TOP 5 a FROM t

--= ok
SELECT a ILIKE 'x' FROM t

--= ok
SELECT a RLIKE 'x' FROM t

--= 1:17 'LIMIT start, count' is not allowed under the current SQL conformance level
SELECT * FROM t LIMIT 1, 2

--= ok
SELECT * FROM t LIMIT 5

--= ok
SELECT * FROM t LIMIT 5 OFFSET 2

--= 1:17 'OFFSET start LIMIT count' is not allowed under the current SQL conformance level
SELECT * FROM t OFFSET 2 LIMIT 5

--= ok
SELECT * FROM t OFFSET 2 ROWS FETCH NEXT 5 ROWS ONLY

--= ok
SELECT * FROM t LIMIT ALL

--= 1:23 Encountered "'5'" at line 1, column 23.
SELECT * FROM t LIMIT '5'

--= 1:25 Encountered "+" at line 1, column 25.
SELECT * FROM t LIMIT 1 + 1

--= 1:23 Encountered "-" at line 1, column 23.
SELECT * FROM t LIMIT -1

--= 1:29 Encountered "ROW" at line 1, column 29.
SELECT * FROM t FETCH FIRST ROW ONLY

--= 1:17 Incorrect syntax near the keyword 'ON' at line 1, column 17.
SELECT DISTINCT ON (a) a FROM t

--= ok
SELECT DISTINCT a, b FROM t

--= ok
SELECT ALL a FROM t

--= 1:10 Incorrect syntax near the keyword 'INTO' at line 1, column 10.
SELECT a INTO u FROM t

--= 1:10 Encountered "= =" at line 1, column 10.
SELECT a == 1 FROM t

--= 1:10 Encountered "<= >" at line 1, column 10.
SELECT a <=> 1 FROM t

--= 1:10 Incorrect syntax near the keyword 'GROUP' at line 1, column 10.
SELECT a GROUP BY ALL FROM t

--= 1:38 Encountered "<EOF>" at line 1, column 38.
SELECT a, COUNT(*) FROM t GROUP BY ALL

--= 1:11 Incorrect syntax near the keyword 'FROM' at line 1, column 11.
SELECT a, FROM t

--= 1:16 Encountered ", <EOF>" at line 1, column 16.
SELECT a FROM t,

--= 1:27 Encountered ", <EOF>" at line 1, column 27.
SELECT a FROM t GROUP BY a,

--= 1:27 Encountered ", <EOF>" at line 1, column 27.
SELECT a FROM t ORDER BY a,

--= 1:12 Encountered ")" at line 1, column 12.
SELECT f(a,) FROM t

--= 1:14 Encountered ")" at line 1, column 14.
SELECT (a, b,) FROM t

--= 1:8 Incorrect syntax near the keyword 'FROM' at line 1, column 8.
SELECT FROM t

--= 1:6 Encountered "<EOF>" at line 1, column 6.
SELECT

--= ok
SELECT *

--= ok
SELECT 1

--= 1:13 Encountered "<EOF>" at line 1, column 13.
SELECT * FROM

--= 1:10 Encountered "- >" at line 1, column 10.
SELECT a -> 'b' FROM t

--= 1:10 Encountered "- >" at line 1, column 10.
SELECT a ->> 'b' FROM t

--= 1:12 Encountered "- >" at line 1, column 12.
SELECT f(x -> x + 1) FROM t

--= 1:17 Incorrect syntax near the keyword 'LEFT' at line 1, column 17.
SELECT a FROM t LEFT SEMI JOIN u ON a = b

--= 1:17 Incorrect syntax near the keyword 'LEFT' at line 1, column 17.
SELECT a FROM t LEFT ANTI JOIN u ON a = b

--= ok
SELECT a FROM t SEMI JOIN u ON a = b

--= 1:31 Encountered "u" at line 1, column 31.
SELECT a FROM t STRAIGHT_JOIN u

--= 1:17 Incorrect syntax near the keyword 'LATERAL' at line 1, column 17.
SELECT a FROM t LATERAL VIEW EXPLODE(b) x AS c

--= 1:18 Non-query expression encountered in illegal context
SELECT * EXCEPT (a) FROM t

--= 1:18 Encountered "(" at line 1, column 18.
SELECT * EXCLUDE (a) FROM t

--= 1:18 Encountered "(" at line 1, column 18.
SELECT * REPLACE (a AS b) FROM t

--= 1:20 Non-query expression encountered in illegal context
SELECT t.* EXCEPT (a) FROM t

--= ok
SELECT *, a, t.*, s.t.* FROM t

--= 1:17 Incorrect syntax near the keyword 'UNNEST' at line 1, column 17.
SELECT * FROM t UNNEST(a)

--= ok
SELECT * FROM UNNEST(ARRAY[1, 2])

--= ok
SELECT * FROM UNNEST(ARRAY[1, 2]) AS x (a)

--= ok
SELECT * FROM UNNEST(ARRAY[1, 2]) WITH ORDINALITY AS x (a, i)

--= ok
SELECT * FROM t CROSS JOIN UNNEST(t.tags) AS x (tag)

--= ok
SELECT * FROM t, UNNEST(tags) AS x (tag)

--= ok
SELECT * FROM t LEFT JOIN UNNEST(tags) AS x (tag) ON TRUE

--= 1:22 Encountered "FORMAT" at line 1, column 22.
SELECT CAST(a AS INT FORMAT 'x') FROM t

--= ok
SELECT CAST(a AS INT), TRY_CAST(a AS ROW<x INT, y STRING>), CAST(NULL AS ARRAY<INT NOT NULL>) FROM t

--= 1:22 Encountered "NOT" at line 1, column 22.
SELECT CAST(a AS INT NOT NULL) FROM t

--= 1:14 Encountered "," at line 1, column 14.
SELECT CAST(a, INT) FROM t

--= ok
SELECT CAST(a AS UNSIGNED) FROM t

--= ok
SELECT CAST(a AS TEXT) FROM t

--= ok
SELECT CAST(a AS INT64) FROM t

--= ok
SELECT CAST(a AS my.type_) FROM t

--= ok
SELECT CONVERT(INT, a) FROM t

--= ok
SELECT SAFE_CAST(a AS INT) FROM t

--= ok
SELECT a IS NOT NULL, a IS NULL, a IS TRUE, a IS NOT FALSE, a IS UNKNOWN FROM t

--= ok
SELECT a ISNULL FROM t

--= ok
SELECT a NOTNULL FROM t

--= 1:10 Incorrect syntax near the keyword 'IS' at line 1, column 10.
SELECT a IS 1 FROM t

--= ok
SELECT NOT a = 1 FROM t

--= 1:9 Lexical error at line 1, column 9.  Encountered: "a" (97), after : "!"
SELECT !a FROM t

--= 1:8 Lexical error at line 1, column 8.  Encountered: "~" (126), after : ""
SELECT ~a FROM t

--= 1:10 Lexical error at line 1, column 10.  Encountered: "&" (38), after : ""
SELECT a & b FROM t

--= 1:10 Encountered "|" at line 1, column 10.
SELECT a | b FROM t

--= 1:10 Encountered "^" at line 1, column 10.
SELECT a ^ b FROM t

--= 1:10 Encountered "< <" at line 1, column 10.
SELECT a << 2 FROM t

--= 1:14 Encountered "b" at line 1, column 14.
SELECT a DIV b FROM t

--= 1:10 Incorrect syntax near the keyword 'MOD' at line 1, column 10.
SELECT a MOD b FROM t

--= ok
SELECT a % b FROM t

--= 1:10 Encountered "* *" at line 1, column 10.
SELECT a ** b FROM t

--= 1:14 Encountered "b" at line 1, column 14.
SELECT a XOR b FROM t

--= 1:10 Lexical error at line 1, column 10.  Encountered: "&" (38), after : ""
SELECT a && b FROM t

--= ok
SELECT a || b FROM t

--= 1:17 Encountered "'x'" at line 1, column 17.
SELECT a REGEXP 'x' FROM t

--= 1:15 Encountered "'x'" at line 1, column 15.
SELECT a GLOB 'x' FROM t

--= 1:10 Incorrect syntax near the keyword 'COLLATE' at line 1, column 10.
SELECT a COLLATE 'x' FROM t

--= 1:10 Incorrect syntax near the keyword 'AT' at line 1, column 10.
SELECT a AT TIME ZONE 'UTC' FROM t

--= 1:8 Lexical error at line 1, column 8.  Encountered: "@" (64), after : ""
SELECT @a FROM t

--= 1:8 Encountered ":" at line 1, column 8.
SELECT :a FROM t

--= ok
SELECT $a FROM t

--= 1:8 Encountered "{" at line 1, column 8.
SELECT {a: 1} FROM t

--= 1:8 Encountered "[" at line 1, column 8.
SELECT [1, 2] FROM t

--= ok
SELECT ARRAY[1, 2], MAP['a', 1], ROW(1, 2), (1, 2), ARRAY[], MULTISET[1] FROM t

--= ok
SELECT ARRAY(1, 2) FROM t

--= 1:17 Encountered "AS" at line 1, column 17.
SELECT STRUCT(1 AS a) FROM t

--= ok
SELECT (SELECT 1)

--= 1:37 Encountered ". *" at line 1, column 37.
SELECT a.b.c, t.a.b[1].c, (r).a, (r).*, f(x).y, f(x)[1], a[1][2] FROM t

--= ok
SELECT a['k'], m['k'].v FROM t

--= 1:11 Encountered ":" at line 1, column 11.
SELECT a[1:2] FROM t

--= 1:10 Encountered "]" at line 1, column 10.
SELECT a[] FROM t

--= ok
SELECT COUNT(*), COUNT(DISTINCT a, b), COUNT(DISTINCT a) FILTER (WHERE b > 1), LISTAGG(a, ','), LISTAGG(DISTINCT a) FROM t

--= 1:23 Encountered "b" at line 1, column 23.
SELECT SUM(a) FILTER (b > 1) FROM t

--= ok
SELECT COUNT(*) OVER w, SUM(a) OVER (PARTITION BY b ORDER BY c ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM t WINDOW w AS (PARTITION BY b ORDER BY c)

--= ok
SELECT SUM(a) OVER (ORDER BY c RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) FROM t

--= ok
SELECT SUM(a) OVER (ORDER BY c RANGE UNBOUNDED PRECEDING), LAG(a, 1) OVER (w ORDER BY b) FROM t WINDOW w AS (PARTITION BY a), v AS (ORDER BY b)

--= 1:54 Encountered "WHERE" at line 1, column 54.
SELECT SUM(a) OVER w FROM t WINDOW w AS (ORDER BY b) WHERE c

--= ok
SELECT LAG(a) IGNORE NULLS OVER (ORDER BY b) FROM t

--= ok
SELECT ROW_NUMBER() OVER (PARTITION BY a ORDER BY b DESC NULLS LAST, c ASC) AS rn FROM t

--= ok
SELECT a FROM t GROUP BY (), (a), (a, b), ROLLUP (a, b), CUBE (a, b), GROUPING SETS ((a), b, ())

--= 1:28 Encountered "WITH" at line 1, column 28.
SELECT a FROM t GROUP BY a WITH ROLLUP

--= ok
SELECT a FROM t GROUP BY 1

--= ok
SELECT a FROM t HAVING b

--= 1:25 Encountered "WHERE" at line 1, column 25.
SELECT a FROM t WHERE b WHERE c

--= 1:26 Encountered "WHERE" at line 1, column 26.
SELECT a FROM t HAVING b WHERE c

--= 1:36 Encountered "UNION" at line 1, column 36.
SELECT a FROM t ORDER BY a LIMIT 3 UNION ALL SELECT b FROM u

--= ok
(SELECT a FROM t ORDER BY a LIMIT 3) UNION ALL SELECT b FROM u

--= ok
SELECT a FROM t UNION SELECT a FROM u EXCEPT SELECT a FROM v INTERSECT ALL SELECT a FROM w ORDER BY a

--= 1:23 Incorrect syntax near the keyword 'BY' at line 1, column 23.
SELECT a FROM t UNION BY NAME SELECT a FROM u

--= 1:17 MINUS is not allowed under the current SQL conformance level
SELECT a FROM t MINUS SELECT a FROM u

--= ok
((SELECT 1))

--= ok
WITH x AS (SELECT 1), y (a) AS (SELECT * FROM x) SELECT * FROM y

--= 1:11 Encountered "SELECT" at line 1, column 11.
WITH x AS SELECT 1 SELECT * FROM x

--= 1:20 Encountered "<EOF>" at line 1, column 20.
WITH x AS (SELECT 1)

--= ok
WITH RECURSIVE x AS (SELECT 1) SELECT * FROM x

--= 1:1 Incorrect syntax near the keyword 'FROM' at line 1, column 1.
FROM t SELECT a

--= 1:1 Incorrect syntax near the keyword 'FROM' at line 1, column 1.
FROM t

--= ok
VALUES (1, 'a'), (2, 'b')

--= ok
VALUES 1, 2

--= ok
VALUES ROW(1, 2)

--= ok
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t (id, name)

--= ok
SELECT * FROM (VALUES (1, 'a')) t (id, name)

--= 1:15 Incorrect syntax near the keyword 'VALUES' at line 1, column 15.
SELECT * FROM VALUES (1)

--= ok
TABLE t

--= ok
SELECT * FROM (SELECT 1 AS a)

--= ok
SELECT * FROM (SELECT 1 AS a) AS x

--= 1:16 Expected query or join
SELECT * FROM (t)

--= ok
SELECT * FROM (t JOIN u ON TRUE)

--= 1:18 Join expression encountered in illegal context
SELECT * FROM (t JOIN u ON TRUE) x

--= ok
SELECT * FROM t /*+ OPTIONS('a'='b', 'c.d'='e') */ AS x

--= 1:22 Encountered "/*+" at line 1, column 22.
SELECT * FROM t AS x /*+ OPTIONS('a'='b') */

--= ok
SELECT /*+ LOOKUP('table'='d', 'retry-predicate'='lookup_miss'), STATE_TTL('a'='1d', 'b'='12h') */ * FROM t

--= ok
SELECT /*+ BROADCAST(t) */ * FROM t JOIN u ON TRUE

--= ok
SELECT * FROM a.b.c

--= ok
SELECT * FROM a.b.c.d

--= ok
SELECT * FROM t FOR SYSTEM_TIME AS OF t.p

--= ok
SELECT * FROM t FOR SYSTEM_TIME AS OF TIMESTAMP '2020-01-01 00:00:00' AS x

--= ok
SELECT * FROM o JOIN r FOR SYSTEM_TIME AS OF o.p AS r ON o.k = r.k

--= 1:17 Incorrect syntax near the keyword 'TIMESTAMP' at line 1, column 17.
SELECT * FROM t TIMESTAMP AS OF '2020-01-01'

--= 1:25 Encountered "AS" at line 1, column 25.
SELECT * FROM t VERSION AS OF 1

--= ok
SELECT * FROM t FINAL

--= ok
SELECT * FROM t a, u b, v

--= ok
SELECT * FROM t JOIN u

--= ok
SELECT * FROM t JOIN u USING (a, b)

--= ok
SELECT * FROM t NATURAL LEFT JOIN u

--= ok
SELECT * FROM t CROSS JOIN u

--= ok
SELECT * FROM t CROSS JOIN u ON TRUE

--= ok
SELECT * FROM t FULL OUTER JOIN u ON t.a = u.a RIGHT JOIN v ON TRUE INNER JOIN w ON TRUE

--= 1:23 Encountered "JOIN" at line 1, column 23.
SELECT * FROM t OUTER JOIN u ON TRUE

--= 1:32 APPLY operator is not allowed under the current SQL conformance level
SELECT * FROM t CROSS APPLY f(a)

--= ok
SELECT * FROM t LEFT OUTER JOIN LATERAL TABLE(f(a)) AS x (b) ON TRUE

--= ok
SELECT * FROM t, LATERAL TABLE(f(a)) AS x (b, c)

--= ok
SELECT * FROM t, LATERAL TABLE(f(a)) x

--= ok
SELECT * FROM t, LATERAL (SELECT * FROM u WHERE u.a = t.a LIMIT 3)

--= 1:26 Encountered "f" at line 1, column 26.
SELECT * FROM t, LATERAL f(a)

--= ok
SELECT * FROM t, LATERAL UNNEST(a)

--= ok
SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(c), INTERVAL '1' HOUR))

--= ok
SELECT * FROM TABLE(TUMBLE(DATA => TABLE t, TIMECOL => DESCRIPTOR(c), SIZE => INTERVAL '1' HOUR)) AS w

--= ok
SELECT * FROM TABLE(HOP(TABLE t, DESCRIPTOR(c), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES))

--= ok
SELECT * FROM TABLE(SESSION(TABLE t PARTITION BY a, DESCRIPTOR(c), INTERVAL '1' HOUR))

--= ok
SELECT * FROM TABLE(SESSION(TABLE t PARTITION BY (a, b), DESCRIPTOR(c), INTERVAL '1' HOUR))

--= ok
SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(c), INTERVAL '1' HOUR)

--= ok
SELECT * FROM TABLE(TUMBLE((SELECT * FROM t), DESCRIPTOR(c), INTERVAL '1' HOUR))

--= ok
SELECT TUMBLE_START(ts, INTERVAL '1' HOUR), COUNT(*) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)

--= ok
SELECT INTERVAL '1' SECOND, INTERVAL -'1' DAY, INTERVAL '10:11' MINUTE TO SECOND, INTERVAL '15' MINUTES, INTERVAL '1-2' YEAR TO MONTH, INTERVAL '10 00:00:00.004' DAY TO SECOND

--= 1:23 Encountered "<EOF>" at line 1, column 23.
SELECT INTERVAL '1 day'

--= 1:21 Encountered "MILLISECOND" at line 1, column 21.
SELECT INTERVAL '1' MILLISECOND

--= ok
SELECT INTERVAL 1 DAY

--= 1:26 Incorrect syntax near the keyword 'TO' at line 1, column 26.
SELECT INTERVAL '1' YEAR TO DAY

--= ok
SELECT INTERVAL '1' DAY(3), INTERVAL '1.5' SECOND(2, 3), INTERVAL '1' WEEK, INTERVAL '1' QUARTER

--= ok
SELECT DATE '2020-01-01', TIME '10:00:00', TIMESTAMP '2020-01-01 00:00:00.123'

--= 1:8 Incorrect syntax near the keyword 'TIMESTAMP_LTZ' at line 1, column 8.
SELECT TIMESTAMP_LTZ '2020-01-01 00:00:00'

--= ok
SELECT TIMESTAMP WITH LOCAL TIME ZONE '2020-01-01 00:00:00'

--= ok
SELECT DATETIME '2020-01-01 00:00:00'

--= ok
SELECT E'a\nb', U&'\263A', U&'#263A' UESCAPE '#', X'1F', 'it''s', 'a' 'b'

--= 1:13 Encountered "'" at line 1, column 13.
SELECT 'a\'b'

--= ok
SELECT X'1'

--= 1:8 Binary literal string must contain only characters '0' - '9', 'A' - 'F'
SELECT X'1G'

--= 1:9 Expecting alias, found character literal
SELECT B'1'

--= 1:9 Expecting alias, found character literal
SELECT R'a'

--= ok
SELECT N'x'

--= ok
SELECT 1e3, .5, 1., 1.5E-3, 1.5

--= ok
SELECT 1L

--= ok
SELECT 0x1F

--= ok
SELECT 1_000

--= ok
SELECT EXTRACT(DAY FROM a), EXTRACT(EPOCH FROM a), FLOOR(a TO DAY), CEIL(a TO MONTH), CEILING(a TO HOUR), TIMESTAMPADD(DAY, 1, a), TIMESTAMPDIFF(SECOND, a, b)

--= ok
SELECT EXTRACT(FOO FROM a)

--= 1:17 Encountered "," at line 1, column 17.
SELECT EXTRACT(a, DAY)

--= ok
SELECT TIMESTAMPADD(FOO, 1, a)

--= ok
SELECT SUBSTRING(a FROM 1), SUBSTRING(a FROM 1 FOR 2), SUBSTRING(a, 1, 2), TRIM(a), TRIM(BOTH FROM a), TRIM('x' FROM a), TRIM(LEADING 'x' FROM a), POSITION('a' IN b), OVERLAY(a PLACING b FROM 1 FOR 2)

--= 1:20 Encountered "FOR" at line 1, column 20.
SELECT SUBSTRING(a FOR 2)

--= 1:14 Encountered "," at line 1, column 14.
SELECT TRIM(a, b)

--= 1:18 Encountered "," at line 1, column 18.
SELECT POSITION(a, b)

--= ok
SELECT CURRENT_DATE, CURRENT_TIMESTAMP, LOCALTIME, LOCALTIMESTAMP, CURRENT_TIME, NOW(), PROCTIME(), CURRENT_ROW_TIMESTAMP()

--= ok
SELECT CURRENT_TIMESTAMP()

--= ok
SELECT JSON_VALUE(a, '$.x'), JSON_VALUE(a, 'lax $.x' RETURNING INT NULL ON EMPTY ERROR ON ERROR), JSON_QUERY(a, '$' WITH CONDITIONAL ARRAY WRAPPER), JSON_EXISTS(a, '$' TRUE ON ERROR), JSON_OBJECT('a' VALUE 1, KEY 'b' VALUE 2 ABSENT ON NULL), JSON_ARRAY(1, 2 NULL ON NULL), JSON_OBJECTAGG(KEY a VALUE b), JSON_ARRAYAGG(a NULL ON NULL), JSON_STRING(a)

--= ok
SELECT JSON_VALUE(a, '$' DEFAULT 1 ON EMPTY DEFAULT 2 ON ERROR), JSON_QUERY(a, '$' EMPTY ARRAY ON EMPTY EMPTY OBJECT ON ERROR), JSON_QUERY(a, '$' RETURNING ARRAY<STRING>), JSON_OBJECT(), JSON_ARRAY()

--= 1:20 Encountered "'a' ," at line 1, column 20.
SELECT JSON_OBJECT('a', 1)

--= ok
SELECT a IS JSON, a IS NOT JSON OBJECT FROM t

--= ok
SELECT CASE WHEN a THEN 1 ELSE 2 END, CASE a WHEN 1 THEN 2 WHEN 3 THEN 4 END FROM t

--= 1:34 Encountered "FROM" at line 1, column 34.
SELECT CASE WHEN a THEN 1 ELSE 2 FROM t

--= 1:13 Incorrect syntax near the keyword 'END' at line 1, column 13.
SELECT CASE END FROM t

--= ok
SELECT IF(a, b, c), LEFT(a, 1), REPLACE(a, b, c), YEAR(a), MOD(a, b), DATE_FORMAT(a, b), COALESCE(a, b), NULLIF(a, b), RIGHT(a, 1), UPPER(a) FROM t

--= ok
SELECT c.d.f(a), `f`(a), f(a => 1, b => 2), f(DISTINCT a), f(*) FROM t

--= ok
SELECT EXISTS (SELECT 1), a IN (SELECT 1), a NOT IN (1, 2), (a, b) IN ((1, 2), (3, 4)), a = ANY (SELECT 1), a > ALL (SELECT 1) FROM t

--= 1:14 Encountered ")" at line 1, column 14.
SELECT a IN () FROM t

--= 1:10 Incorrect syntax near the keyword 'IN' at line 1, column 10.
SELECT a IN 1 FROM t

--= ok
SELECT a BETWEEN 1 AND 2, a NOT BETWEEN SYMMETRIC 1 AND 2, a LIKE 'x' ESCAPE '\', a NOT LIKE 'x', a SIMILAR TO 'x' FROM t

--= 1:19 BETWEEN operator has no terminating AND
SELECT a BETWEEN 1 FROM t

--= ok
SELECT (a, b) OVERLAPS (c, d) FROM t

--= 1:11 Encountered "FROM" at line 1, column 11.
SELECT (a FROM t

--= 1:9 Encountered ")" at line 1, column 9.
SELECT a) FROM t

--= 1:8 Encountered "'" at line 1, column 8.
SELECT 'a FROM t

--= 1:17 Lexical error at line 1, column 17.  Encountered: <EOF> after : "`a FROM t"
SELECT `a FROM t

--= 1:21 Lexical error at line 1, column 21.  Encountered: <EOF> after : ""
SELECT a /* b FROM t

--= ok
SELECT a -- b

--= 1:10 Lexical error at line 1, column 10.  Encountered: "#" (35), after : ""
SELECT a # b

--= 1:9 Encountered ";" at line 1, column 9.
SELECT a; SELECT b

--= 1:1 Non-query expression encountered in illegal context
SELEC a FROM t

--= 1:1 Non-query expression encountered in illegal context
foo

--= ok
SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY a ORDER BY b MEASURES A.x AS y, LAST(B.z) AS w ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A B+ C{2,3}? D*) WITHIN INTERVAL '1' HOUR DEFINE A AS A.x > 1, B AS B.x > PREV(B.x)) AS m

--= 1:46 Encountered ")" at line 1, column 46.
SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A) )

--= ok
SELECT a FROM t WHERE a > (SELECT MAX(b) FROM u) AND NOT EXISTS (SELECT 1 FROM v WHERE v.a = t.a)

--= 1:21 Encountered "UPDATE" at line 1, column 21.
SELECT a FROM t FOR UPDATE

--= 1:25 Encountered "BY" at line 1, column 25.
SELECT a FROM t CLUSTER BY a

--= 1:28 Encountered "BY" at line 1, column 28.
SELECT a FROM t DISTRIBUTE BY a

--= 1:22 Encountered "BY" at line 1, column 22.
SELECT a FROM t SORT BY a

--= 1:17 Incorrect syntax near the keyword 'WITH' at line 1, column 17.
SELECT a FROM t WITH (NOLOCK)

--= 1:17 Incorrect syntax near the keyword 'USE' at line 1, column 17.
SELECT a FROM t USE INDEX (x)

--= 1:33 Encountered "(" at line 1, column 33.
SELECT a FROM t WINDOW TUMBLING (SIZE 1 HOUR)

--= 1:22 Encountered "CHANGES" at line 1, column 22.
SELECT a FROM t EMIT CHANGES

--= ok
SELECT STREAM a FROM t

--= 1:15 Encountered "AS" at line 1, column 15.
SELECT a AS b AS c FROM t

--= 1:12 Encountered "c" at line 1, column 12.
SELECT a b c FROM t

--= 1:9 Encountered ".1" at line 1, column 9.
SELECT t.1 FROM t

--= 1:9 Encountered ".." at line 1, column 9.
SELECT t..a FROM t

--= 1:22 Encountered "y" at line 1, column 22.
SELECT a FROM t AS x y

--= ok
SELECT a FROM t AS x (b, c)

--= 1:25 Encountered "LIMIT" at line 1, column 25.
SELECT a FROM t LIMIT 5 LIMIT 6

--= 1:28 Encountered "ORDER" at line 1, column 28.
SELECT a FROM t ORDER BY a ORDER BY b

--= 1:28 Encountered "USING" at line 1, column 28.
SELECT a FROM t ORDER BY a USING >

--= 1:26 Incorrect syntax near the keyword 'ALL' at line 1, column 26.
SELECT a FROM t ORDER BY ALL

--= ok
SELECT GROUPING(a), GROUPING_ID(a, b) FROM t GROUP BY a

--= 1:10 Incorrect syntax near the keyword 'WHERE' at line 1, column 10.
SELECT 1 WHERE TRUE

--= ok
SELECT COUNT(*) FILTER (WHERE a) OVER (ORDER BY b) FROM t

--= ok
INSERT INTO t SELECT * FROM u

--= ok
INSERT INTO t (a, b) SELECT a, b FROM u

--= ok
INSERT INTO t VALUES (1), (2)

--= ok
INSERT INTO t (a, b) VALUES (1, 2), (3, 4)

--= ok
INSERT INTO t (SELECT a FROM u)

--= ok
INSERT INTO t (a) (SELECT a FROM u)

--= ok
INSERT INTO t TABLE s

--= ok
INSERT INTO t WITH x AS (SELECT 1) SELECT * FROM x

--= ok
INSERT OVERWRITE t SELECT 1

--= 1:18 Incorrect syntax near the keyword 'TABLE' at line 1, column 18.
INSERT OVERWRITE TABLE t SELECT 1

--= 1:13 Incorrect syntax near the keyword 'TABLE' at line 1, column 13.
INSERT INTO TABLE t SELECT 1

--= 1:8 Encountered "t" at line 1, column 8.
INSERT t SELECT 1

--= ok
INSERT INTO t PARTITION (a = 1, b = 'x') SELECT 1

--= ok
INSERT INTO t PARTITION (a = 1) (c, d) SELECT 1, 2

--= 1:27 Encountered ")" at line 1, column 27.
INSERT INTO t PARTITION (a) SELECT 1

--= ok
INSERT INTO t /*+ OPTIONS('a'='b') */ SELECT 1

--= ok
INSERT INTO t /*+ OPTIONS('a'='b') */ (a) SELECT 1

--= ok
INSERT INTO a.b.c SELECT 1

--= 1:15 Incorrect syntax near the keyword 'DEFAULT' at line 1, column 15.
INSERT INTO t DEFAULT VALUES

--= 1:15 Incorrect syntax near the keyword 'SET' at line 1, column 15.
INSERT INTO t SET a = 1

--= ok
INSERT INTO t SELECT 1 ON CONFLICT DO NOTHING

--= 1:34 Encountered "a" at line 1, column 34.
INSERT INTO t SELECT 1 RETURNING a

--= ok
EXECUTE INSERT INTO t SELECT 1

--= ok
EXECUTE SELECT 1

--= ok
EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; INSERT INTO u SELECT 2; END

--= ok
EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT CASE WHEN a THEN 1 END FROM u; END

--= 1:29 Encountered "END" at line 1, column 29.
EXECUTE STATEMENT SET BEGIN END

--= 1:52 Incorrect syntax near the keyword 'END' at line 1, column 52.
EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1 END

--= 1:23 Encountered "INSERT" at line 1, column 23.
EXECUTE STATEMENT SET INSERT INTO t SELECT 1

--= 1:1 Incorrect syntax near the keyword 'STATEMENT' at line 1, column 1.
STATEMENT SET BEGIN INSERT INTO t SELECT 1; END

--= ok
BEGIN STATEMENT SET

--= 1:1 Incorrect syntax near the keyword 'BEGIN' at line 1, column 1.
BEGIN

--= ok
END

--= ok
EXPLAIN SELECT 1

--= ok
EXPLAIN PLAN FOR SELECT 1

--= ok
EXPLAIN ESTIMATED_COST, CHANGELOG_MODE SELECT 1

--= ok
EXPLAIN CHANGELOG_MODE INSERT INTO t SELECT 1

--= ok
EXPLAIN JSON_EXECUTION_PLAN, PLAN_ADVICE SELECT 1

--= 1:9 Non-query expression encountered in illegal context
EXPLAIN FOO SELECT 1

--= 1:9 Incorrect syntax near the keyword 'EXTENDED' at line 1, column 9.
EXPLAIN EXTENDED SELECT 1

--= ok
EXPLAIN INSERT INTO t SELECT 1

--= ok
EXPLAIN STATEMENT SET BEGIN INSERT INTO t SELECT 1; END

--= ok
EXPLAIN EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; END

--= ok
EXPLAIN EXECUTE SELECT 1

--= ok
EXPLAIN CREATE TABLE t AS SELECT 1

--= 1:9 Incorrect syntax near the keyword 'SHOW' at line 1, column 9.
EXPLAIN SHOW TABLES

--= 1:7 Encountered "<EOF>" at line 1, column 7.
EXPLAIN

--= ok
CREATE TABLE t (a INT, b STRING) WITH ('connector' = 'kafka')

--= ok
CREATE TABLE t (a INT NOT NULL, b ROW<x INT, y STRING>, c INT NULL COMMENT 'x', d AS a + 1 COMMENT 'y', e INT METADATA FROM 'k' VIRTUAL COMMENT 'z', f INT METADATA, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND, CONSTRAINT p PRIMARY KEY (a, b) NOT ENFORCED) COMMENT 'hi' DISTRIBUTED BY HASH(a) INTO 3 BUCKETS PARTITIONED BY (a) WITH ('k'='v')

--= ok
CREATE TABLE t (a INT PRIMARY KEY NOT ENFORCED) WITH ('k'='v')

--= 1:23 Encountered "DEFAULT" at line 1, column 23.
CREATE TABLE t (a INT DEFAULT 5) WITH ('k'='v')

--= 1:23 Encountered "AUTO_INCREMENT" at line 1, column 23.
CREATE TABLE t (a INT AUTO_INCREMENT) WITH ('k'='v')

--= 1:23 Encountered "CHECK" at line 1, column 23.
CREATE TABLE t (a INT CHECK (a > 1)) WITH ('k'='v')

--= 1:23 Encountered "GENERATED" at line 1, column 23.
CREATE TABLE t (a INT GENERATED ALWAYS AS (b)) WITH ('k'='v')

--= 1:24 Encountered "USING" at line 1, column 24.
CREATE TABLE t (a INT) USING delta

--= 1:24 Encountered "TBLPROPERTIES" at line 1, column 24.
CREATE TABLE t (a INT) TBLPROPERTIES ('k'='v')

--= 1:30 Encountered "k" at line 1, column 30.
CREATE TABLE t (a INT) WITH (k = 'v')

--= 1:36 Encountered "5" at line 1, column 36.
CREATE TABLE t (a INT) WITH ('k' = 5)

--= 1:40 Encountered ")" at line 1, column 40.
CREATE TABLE t (a INT) WITH ('k' = 'v',)

--= 1:23 Encountered ")" at line 1, column 23.
CREATE TABLE t (a INT,) WITH ('k' = 'v')

--= 1:23 Encountered "b" at line 1, column 23.
CREATE TABLE t (a INT b INT)

--= 1:43 Encountered "COMMENT" at line 1, column 43.
CREATE TABLE t (a INT) PARTITIONED BY (a) COMMENT 'x'

--= ok
CREATE TABLE t (a INT) LIKE u

--= ok
CREATE TABLE t LIKE u

--= ok
CREATE TABLE t WITH ('k'='v') LIKE u (INCLUDING ALL EXCLUDING OPTIONS OVERWRITING WATERMARKS)

--= ok
CREATE TABLE t (b INT) WITH ('k'='v') LIKE u (EXCLUDING CONSTRAINTS INCLUDING GENERATED)

--= ok
CREATE TABLE t LIKE u (OVERWRITING ALL)

--= 1:34 Encountered "FOO" at line 1, column 34.
CREATE TABLE t LIKE u (INCLUDING FOO)

--= 1:17 Incorrect syntax near the keyword 'LIKE' at line 1, column 17.
CREATE TABLE t (LIKE u)

--= ok
CREATE TABLE t (a, b) WITH ('k'='v') AS SELECT 1, 2

--= ok
CREATE TABLE t (x INT, PRIMARY KEY (a) NOT ENFORCED, WATERMARK FOR ts AS ts) WITH ('k'='v') AS SELECT a, ts FROM u

--= ok
CREATE TABLE t AS SELECT 1

--= ok
CREATE TABLE t AS (SELECT 1)

--= ok
CREATE TABLE t AS TABLE u

--= ok
CREATE TABLE t AS VALUES (1)

--= ok
CREATE OR REPLACE TABLE t WITH ('k'='v') AS SELECT 1

--= ok
REPLACE TABLE t AS SELECT 1

--= ok
CREATE TEMPORARY TABLE IF NOT EXISTS a.b.c (a INT)

--= 1:8 Encountered "TEMP" at line 1, column 8.
CREATE TEMP TABLE t (a INT)

--= 1:8 Encountered "EXTERNAL" at line 1, column 8.
CREATE EXTERNAL TABLE t (a INT)

--= 1:8 Encountered "STREAM" at line 1, column 8.
CREATE STREAM t (a INT)

--= ok
CREATE TABLE t (`a.b` INT, `select` STRING)

--= 1:29 Encountered "timestamp" at line 1, column 29.
CREATE TABLE t (key STRING, timestamp STRING)

--= ok
CREATE TABLE t (key STRING, `timestamp` STRING)

--= 1:379 Incorrect syntax near the keyword 'INTERVAL' at line 1, column 379.
CREATE TABLE t (a VARCHAR, b VARCHAR(5), c CHAR, d DECIMAL(10, 2), e NUMERIC, f TIMESTAMP(3), g TIMESTAMP_LTZ(3), h TIMESTAMP(3) WITH LOCAL TIME ZONE, i TIME(0), j DOUBLE PRECISION, k ARRAY<INT>, l MAP<STRING, INT>, m MULTISET<STRING>, n INT ARRAY, o ROW(a INT, b STRING 'c'), p BYTES, q BINARY(3), r VARBINARY(9), s BOOLEAN, t TINYINT, u SMALLINT, v BIGINT, w FLOAT, x DATE, y INTERVAL DAY TO SECOND(3), z VARIANT)

--= 1:23 Encountered "UNSIGNED" at line 1, column 23.
CREATE TABLE t (a INT UNSIGNED)

--= ok
CREATE TABLE t (a VARCHAR(0))

--= 1:23 Encountered "(" at line 1, column 23.
CREATE TABLE t (a ENUM('x'))

--= ok
CREATE TABLE t (a ROW<>)

--= 1:19 Incorrect syntax near the keyword 'ARRAY' at line 1, column 19.
CREATE TABLE t (a ARRAY)

--= 1:19 Incorrect syntax near the keyword 'ARRAY' at line 1, column 19.
CREATE TABLE t (a ARRAY<>)

--= 1:26 Encountered ">" at line 1, column 26.
CREATE TABLE t (a MAP<INT>)

--= 1:23 Incorrect syntax near the keyword 'INT' at line 1, column 23.
CREATE TABLE t (a ROW<INT>)

--= 1:32 Encountered "," at line 1, column 32.
CREATE TABLE t (a DECIMAL(10, 2, 3))

--= 1:34 Encountered "TIME" at line 1, column 34.
CREATE TABLE t (a TIMESTAMP WITH TIME ZONE)

--= ok
CREATE TABLE t (a TIMESTAMP WITHOUT TIME ZONE)

--= 1:25 Encountered "(" at line 1, column 25.
CREATE TABLE t (a STRING(5))

--= 1:22 Encountered "(" at line 1, column 22.
CREATE TABLE t (a INT(5))

--= ok
CREATE TABLE t (WATERMARK FOR a.b AS a.b)

--= ok
CREATE VIEW v AS SELECT 1

--= ok
CREATE TEMPORARY VIEW IF NOT EXISTS v (a, b) COMMENT 'x' AS SELECT 1, 2

--= ok
CREATE OR REPLACE VIEW v AS SELECT 1

--= 1:21 Encountered "VIEW" at line 1, column 21.
CREATE MATERIALIZED VIEW v AS SELECT 1

--= 1:18 Encountered "INT" at line 1, column 18.
CREATE VIEW v (a INT) AS SELECT 1

--= 1:15 Encountered "SELECT" at line 1, column 15.
CREATE VIEW v SELECT 1

--= ok
CREATE CATALOG c WITH ('type'='a')

--= ok
CREATE CATALOG IF NOT EXISTS c COMMENT 'x' WITH ('type'='a')

--= 1:17 Encountered "." at line 1, column 17.
CREATE CATALOG a.b WITH ('type'='a')

--= ok
CREATE DATABASE IF NOT EXISTS c.d COMMENT 'x' WITH ('a'='b')

--= ok
CREATE DATABASE d

--= 1:8 Encountered "SCHEMA" at line 1, column 8.
CREATE SCHEMA d

--= ok
CREATE FUNCTION f AS 'a.b.C'

--= ok
CREATE TEMPORARY SYSTEM FUNCTION IF NOT EXISTS f AS 'x' LANGUAGE PYTHON

--= ok
CREATE FUNCTION a.b.f AS 'x' LANGUAGE JAVA USING JAR 'a.jar', JAR 'b.jar'

--= 1:35 Encountered "RUBY" at line 1, column 35.
CREATE FUNCTION f AS 'x' LANGUAGE RUBY

--= 1:18 Encountered "(" at line 1, column 18.
CREATE FUNCTION f() AS 'x'

--= 1:22 Encountered "x" at line 1, column 22.
CREATE FUNCTION f AS x

--= 1:8 Encountered "INDEX" at line 1, column 8.
CREATE INDEX i ON t (a)

--= 1:8 Encountered "USER" at line 1, column 8.
CREATE USER u

--= ok
ALTER TABLE t ADD a INT

--= ok
ALTER TABLE t ADD (a INT, b STRING FIRST, c INT AFTER a, d AS a + 1)

--= 1:19 Incorrect syntax near the keyword 'COLUMN' at line 1, column 19.
ALTER TABLE t ADD COLUMN a INT

--= ok
ALTER TABLE t ADD PRIMARY KEY (a) NOT ENFORCED

--= ok
ALTER TABLE t ADD WATERMARK FOR a AS a

--= ok
ALTER TABLE t ADD CONSTRAINT c PRIMARY KEY (a) NOT ENFORCED

--= ok
ALTER TABLE t MODIFY a STRING NOT NULL COMMENT 'x' AFTER b

--= ok
ALTER TABLE t MODIFY (a STRING, WATERMARK FOR a AS a - INTERVAL '1' SECOND)

--= ok
ALTER TABLE t DROP a

--= ok
ALTER TABLE t DROP (a, b)

--= 1:20 Incorrect syntax near the keyword 'COLUMN' at line 1, column 20.
ALTER TABLE t DROP COLUMN a

--= ok
ALTER TABLE t DROP PRIMARY KEY

--= ok
ALTER TABLE t DROP CONSTRAINT c

--= ok
ALTER TABLE t DROP WATERMARK

--= ok
ALTER TABLE t RENAME a TO b

--= ok
ALTER TABLE t RENAME TO a.b.c

--= ok
ALTER TABLE t SET ('a'='b')

--= ok
ALTER TABLE t SET ()

--= ok
ALTER TABLE t RESET ('a')

--= ok
ALTER TABLE t RESET ()

--= 1:19 Encountered "<EOF>" at line 1, column 19.
ALTER TABLE t RESET

--= ok
ALTER TABLE IF EXISTS t SET ('a'='b')

--= ok
ALTER TABLE t ADD DISTRIBUTION BY HASH(a) INTO 3 BUCKETS

--= ok
ALTER TABLE t DROP DISTRIBUTION

--= 1:15 Encountered "ALTER" at line 1, column 15.
ALTER TABLE t ALTER COLUMN a TYPE INT

--= ok
ALTER TABLE a.b.c.d RENAME TO e

--= ok
ALTER VIEW v RENAME TO w

--= ok
ALTER VIEW v AS SELECT 1

--= ok
ALTER DATABASE d SET ('a'='b')

--= ok
ALTER CATALOG c SET ('a'='b')

--= ok
ALTER CATALOG c RESET ('a')

--= ok
ALTER CATALOG c RESET ()

--= ok
ALTER CATALOG c COMMENT 'x'

--= ok
ALTER FUNCTION f AS 'x'

--= ok
ALTER TEMPORARY SYSTEM FUNCTION IF EXISTS f AS 'x' LANGUAGE PYTHON

--= ok
DROP TABLE t

--= ok
DROP TABLE IF EXISTS a.b.c

--= 1:13 Encountered "," at line 1, column 13.
DROP TABLE t, u

--= 1:14 Encountered "CASCADE" at line 1, column 14.
DROP TABLE t CASCADE

--= ok
DROP TEMPORARY TABLE t

--= ok
DROP VIEW IF EXISTS v

--= ok
DROP TEMPORARY VIEW v

--= ok
DROP DATABASE IF EXISTS d CASCADE

--= ok
DROP DATABASE d RESTRICT

--= ok
DROP CATALOG IF EXISTS c

--= ok
DROP FUNCTION IF EXISTS f

--= ok
DROP TEMPORARY SYSTEM FUNCTION f

--= ok
DROP TEMPORARY DATABASE d

--= 1:6 Encountered "SCHEMA" at line 1, column 6.
DROP SCHEMA d

--= ok
SHOW CATALOGS

--= ok
SHOW CATALOGS LIKE 'x%'

--= ok
SHOW DATABASES FROM c NOT LIKE 'x'

--= ok
SHOW TABLES

--= ok
SHOW TABLES FROM a.b LIKE 'x'

--= 1:22 Encountered "ILIKE" at line 1, column 22.
SHOW TABLES IN b NOT ILIKE 'x'

--= 1:18 Encountered "x" at line 1, column 18.
SHOW TABLES LIKE x

--= 1:13 Encountered "t" at line 1, column 13.
SHOW TABLES t

--= ok
SHOW VIEWS

--= ok
SHOW VIEWS FROM d LIKE 'x'

--= ok
SHOW COLUMNS FROM t

--= ok
SHOW COLUMNS IN a.b.t NOT LIKE 'x'

--= 1:14 Encountered "t" at line 1, column 14.
SHOW COLUMNS t

--= ok
SHOW PARTITIONS t

--= ok
SHOW PARTITIONS t PARTITION (a = 1)

--= ok
SHOW FUNCTIONS

--= ok
SHOW USER FUNCTIONS LIKE 'x'

--= ok
SHOW FUNCTIONS FROM c.d LIKE 'x'

--= ok
SHOW MODULES

--= ok
SHOW FULL MODULES

--= ok
SHOW JARS

--= ok
SHOW JOBS

--= ok
SHOW CURRENT CATALOG

--= ok
SHOW CURRENT DATABASE

--= ok
SHOW CREATE TABLE a.b.c

--= ok
SHOW CREATE VIEW v

--= ok
SHOW CREATE CATALOG c

--= ok
SHOW PROCEDURES

--= ok
SHOW MODELS

--= ok
SHOW MATERIALIZED TABLES

--= 1:1 Incorrect syntax near the keyword 'SHOW' at line 1, column 1.
SHOW SCHEMAS

--= 1:1 Incorrect syntax near the keyword 'SHOW' at line 1, column 1.
SHOW FOO

--= 1:1 Incorrect syntax near the keyword 'SHOW' at line 1, column 1.
SHOW

--= ok
DESCRIBE t

--= ok
DESCRIBE a.b.c

--= ok
DESC EXTENDED t

--= ok
DESCRIBE CATALOG EXTENDED c

--= ok
DESC DATABASE d

--= ok
DESCRIBE FUNCTION EXTENDED f

--= ok
DESCRIBE JOB '1234'

--= ok
DESCRIBE MODEL m

--= 1:8 Encountered "<EOF>" at line 1, column 8.
DESCRIBE

--= ok
DESCRIBE SELECT 1

--= ok
USE d

--= ok
USE c.d

--= ok
USE a.b.c

--= ok
USE CATALOG c

--= 1:14 Encountered "." at line 1, column 14.
USE CATALOG a.b

--= ok
USE MODULES a, b

--= 1:14 Encountered "d" at line 1, column 14.
USE DATABASE d

--= ok
LOAD MODULE hive

--= ok
LOAD MODULE hive WITH ('a'='b')

--= ok
UNLOAD MODULE hive

--= ok
ADD JAR 'a.jar'

--= ok
REMOVE JAR 'a.jar'

--= ok
STOP JOB '123'

--= ok
STOP JOB '123' WITH SAVEPOINT

--= ok
STOP JOB '123' WITH SAVEPOINT WITH DRAIN

--= 1:16 WITH DRAIN could only be used after WITH SAVEPOINT.
STOP JOB '123' WITH DRAIN

--= 1:10 Encountered "123" at line 1, column 10.
STOP JOB 123

--= ok
COMPILE PLAN 'p' FOR INSERT INTO t SELECT 1

--= ok
EXECUTE PLAN 'p'

--= ok
COMPILE AND EXECUTE PLAN 'p' FOR INSERT INTO t SELECT 1

--= ok
UPDATE t SET a = 1 WHERE b

--= ok
DELETE FROM t WHERE a

--= ok
TRUNCATE TABLE t

--= ok
CALL a.b.f(1, 'x')

--= ok
ANALYZE TABLE t COMPUTE STATISTICS

--= ok
CREATE MODEL m INPUT (a INT) OUTPUT (b STRING) WITH ('provider'='y')

--= ok
CREATE MATERIALIZED TABLE m FRESHNESS = INTERVAL '1' MINUTE AS SELECT 1

--= ok
DROP MATERIALIZED TABLE m

--= ok
DROP MODEL m

--= ok
ALTER MATERIALIZED TABLE m SUSPEND

--= 1:49 Encountered "DELETE" at line 1, column 49.
MERGE INTO t USING u ON a = b WHEN MATCHED THEN DELETE

--= 1:1 Incorrect syntax near the keyword 'GRANT' at line 1, column 1.
GRANT SELECT ON t TO u

--= 1:1 Incorrect syntax near the keyword 'COMMIT' at line 1, column 1.
COMMIT

--= 1:1 Non-query expression encountered in illegal context
CACHE TABLE t

--= 1:1 Incorrect syntax near the keyword 'REFRESH' at line 1, column 1.
REFRESH TABLE t

--= 1:1 Non-query expression encountered in illegal context
MSCK REPAIR TABLE t

--= 1:11 Encountered ". *" at line 1, column 11.
SELECT (r).* FROM t

--= ok
SELECT t.r.* FROM t

--= 1:12 Encountered ". *" at line 1, column 12.
SELECT f(x).* FROM t

--= ok
SELECT f(x).y, f(x).y.z, f(x)[1].y FROM t

--= ok
SELECT CAST('1' AS INTERVAL DAY)

--= ok
SELECT CAST('1' AS INTERVAL DAY TO SECOND(3))

--= 1:24 Incorrect syntax near the keyword 'INTERVAL' at line 1, column 24.
SELECT CAST(a AS ARRAY<INTERVAL DAY>)

--= 1:10 Incorrect syntax near the keyword 'GROUP' at line 1, column 10.
SELECT 1 GROUP BY 1

--= 1:10 Incorrect syntax near the keyword 'HAVING' at line 1, column 10.
SELECT 1 HAVING TRUE

--= ok
SELECT 1 ORDER BY 1

--= ok
SELECT 1 LIMIT 1

--= 1:10 Incorrect syntax near the keyword 'WINDOW' at line 1, column 10.
SELECT 1 WINDOW w AS (ORDER BY 1)

--= ok
SHOW CATALOGS NOT ILIKE 'x'

--= ok
SHOW DATABASES ILIKE 'x'

--= 1:13 Encountered "ILIKE" at line 1, column 13.
SHOW TABLES ILIKE 'x'

--= 1:12 Encountered "ILIKE" at line 1, column 12.
SHOW VIEWS ILIKE 'x'

--= ok
SHOW VIEWS NOT LIKE 'x'

--= ok
SHOW FUNCTIONS ILIKE 'x'

--= 1:21 Encountered "ILIKE" at line 1, column 21.
SHOW COLUMNS FROM t ILIKE 'x'

--= 1:15 Encountered "FROM" at line 1, column 15.
SHOW CATALOGS FROM x

--= ok
SHOW USER FUNCTIONS FROM c NOT ILIKE 'x'

--= ok
USE CATALOG `a.b`

--= ok
SELECT a FROM t -- x

--= ok
SELECT a FROM t // x

--= ok
SELECT E'it\'s; x'

--= ok
SELECT E'a''b'

--= ok
SELECT 'a;b', `c;d`, /* ; */ 1 -- ;

--= ok
SELECT a FROM t WHERE b = 'x' -- it's

--= ok
SELECT a AS order_, b AS `order` FROM t

--= 1:10 Encountered "/*+" at line 1, column 10.
SELECT a /*+ x */ FROM t

--= 1:11 Encountered "/*+" at line 1, column 11.
SELECT a, /*+ OPTIONS('a'='b') */ b FROM t

--= ok
SELECT * FROM t /*+ OPTIONS('a'='b') */, u /*+ OPTIONS('a'='b') */ v

--= ok
SELECT * FROM t /*+ OPTIONS('a'='b') */ FOR SYSTEM_TIME AS OF p AS x

--= ok
SELECT * FROM t /*+ OPTIONS(a='b') */

--= 1:29 Encountered "'a' = 1" at line 1, column 29.
SELECT * FROM t /*+ OPTIONS('a'=1) */

--= ok
SELECT * FROM t /*+ OPTIONS */

--= ok
SELECT * FROM t /* + OPTIONS('a'='b') */

--= ok
SELECT COUNT(a, b) FROM t

--= ok
SELECT SUM(a) OVER () FROM t

--= ok
SELECT SUM(a) OVER (ROWS 2 PRECEDING) FROM t

--= 1:73 Encountered "EXCLUDE" at line 1, column 73.
SELECT SUM(a) OVER (ORDER BY b ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING EXCLUDE TIES) FROM t

--= 1:32 Encountered "GROUPS" at line 1, column 32.
SELECT SUM(a) OVER (ORDER BY b GROUPS 2 PRECEDING) FROM t

--= ok
SELECT LISTAGG(a, ',') WITHIN GROUP (ORDER BY b) FROM t

--= ok
SELECT ARRAY_AGG(a ORDER BY b) FROM t

--= ok
SELECT ARRAY_AGG(a RESPECT NULLS) FROM t

--= ok
SELECT FIRST_VALUE(a) RESPECT NULLS OVER (ORDER BY b) FROM t

--= 1:8 Incorrect syntax near the keyword 'GROUPING' at line 1, column 8.
SELECT GROUPING SETS (a) FROM t

--= ok
SELECT a FROM t GROUP BY CASE WHEN a > 1 THEN 1 ELSE 0 END

--= 1:13 Encountered "\"" at line 1, column 13.
SELECT a AS "x" FROM t

--= 1:13 Encountered "1" at line 1, column 13.
SELECT a AS 1 FROM t

--= 1:10 Encountered "= =" at line 1, column 10.
SELECT a = = b

--= ok
SELECT a = b = c

--= ok
SELECT a < b < c

--= ok
SELECT NOT NOT a

--= ok
SELECT - - a

--= ok
SELECT -a[1], +a, - 1

--= ok
SELECT a IS NULL IS NOT NULL

--= ok
SELECT a LIKE b LIKE c

--= ok
SELECT a BETWEEN 1 AND 2 BETWEEN 3 AND 4

--= ok
SELECT x.y.z(1)

--= ok
SELECT x.`y`(1)

--= 1:11 Encountered "(" at line 1, column 11.
SELECT f()()

--= 1:11 Encountered "(" at line 1, column 11.
SELECT (1)(2)

--= ok
SELECT TRUE, FALSE, NULL, UNKNOWN

--= ok
SELECT * FROM t WHERE (a, b) = (1, 2)

--= ok
SELECT * FROM t WHERE ROW(a, b) = ROW(1, 2)

--= ok
SELECT * FROM t WHERE a

--= 1:30 Encountered ")" at line 1, column 30.
SELECT ROW(1, 'a') AS r, ROW() AS e

--= ok
SELECT (1, 'a')

--= 1:9 Encountered ")" at line 1, column 9.
SELECT ()

--= ok
SELECT MAP['a', 1]['a']

--= ok
SELECT MAP[]

--= ok
SELECT MAP('a', 1)

--= ok
SELECT MULTISET[1, 2]

--= ok
SELECT a.`b c`.d FROM t

--= ok
SELECT CAST(ROW(1, 'a') AS ROW<x INT, y STRING>).x

--= ok
SELECT TUMBLE_END(ts, INTERVAL '1' HOUR), HOP_PROCTIME(ts, INTERVAL '1' HOUR, INTERVAL '1' DAY), SESSION_ROWTIME(ts, INTERVAL '1' HOUR) FROM t

--= ok
SELECT (a - b) DAY FROM t

--= ok
SELECT CURRENT_TIMESTAMP(3), LOCALTIME(0)

--= ok
SELECT TIMESTAMP '2020-01-01'

--= ok
SELECT DATE('2020-01-01'), TIME('10:00:00'), TIMESTAMP('x')

--= 1:8 Incorrect syntax near the keyword 'DATE' at line 1, column 8.
SELECT DATE "2020-01-01"

--= ok
SELECT PERIOD (a, b) OVERLAPS (c, d)

--= ok
SELECT FLOOR(a), CEIL(a), FLOOR(a TO SECOND), CEIL(a TO MILLENNIUM)

--= ok
SELECT NEXT VALUE FOR s

--= ok
SELECT CURRENT_ROW_TIMESTAMP

--= ok
SELECT PROCTIME

--= ok
SELECT PI

--= 1:57 Incorrect syntax near the keyword 'INSERT' at line 1, column 57.
SELECT LEFT('abc', 2), RIGHT('abc', 2), REPEAT('a', 2), INSERT('a', 1, 2, 'b')

--= ok
SELECT TRANSLATE(a, b, c), TRANSLATE(a USING b)

--= ok
SELECT CONVERT(a USING utf8)

--= 1:8 Incorrect syntax near the keyword 'DEFAULT' at line 1, column 8.
SELECT DEFAULT

--= 1:23 Incorrect syntax near the keyword 'CURRENT' at line 1, column 23.
SELECT * FROM t WHERE CURRENT OF c

--= ok
SELECT * FROM (SELECT * FROM t) AS `T` (`A`)

--= ok
SELECT * FROM t AS `a b`

--= ok
SELECT * FROM (VALUES 1, 2) AS t (a)

--= ok
SELECT * FROM (TABLE t)

--= 1:21 Encountered "t" at line 1, column 21.
SELECT * FROM TABLE t

--= 1:22 Encountered ")" at line 1, column 22.
SELECT * FROM TABLE(t)

--= ok
SELECT * FROM TABLE(f(1)) AS x

--= ok
SELECT * FROM TABLE(f(TABLE t))

--= ok
SELECT * FROM TABLE(f(TABLE t PARTITION BY a ORDER BY b))

--= ok
SELECT * FROM f(input => TABLE t PARTITION BY a, uid => 'x')

--= ok
SELECT * FROM ML_PREDICT(TABLE t, MODEL m, DESCRIPTOR(a))

--= ok
SELECT * FROM t, LATERAL TABLE(f(a)) AS x(b) WHERE c

--= ok
SELECT * FROM t LEFT JOIN LATERAL (SELECT 1) AS x ON TRUE

--= ok
SELECT * FROM t JOIN (u JOIN v ON TRUE) ON TRUE

--= ok
SELECT * FROM (t CROSS JOIN u)

--= 1:17 Encountered "," at line 1, column 17.
SELECT * FROM (t, u)

--= ok
SELECT * FROM ((SELECT 1) UNION (SELECT 2)) x

--= ok
SELECT * FROM ((SELECT 1) AS a JOIN (SELECT 2) AS b ON TRUE)

--= ok
SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 ORDER BY 1 LIMIT 2

--= ok
SELECT 1 UNION ALL (SELECT 2 ORDER BY 1)

--= ok
SELECT 1 INTERSECT SELECT 2 EXCEPT ALL SELECT 3

--= ok
VALUES (1) UNION ALL VALUES (2)

--= ok
VALUES (1, 2), (3)

--= ok
VALUES ((1, 2)), (ROW(3, 4))

--= ok
INSERT INTO t (VALUES (1))

--= ok
INSERT INTO t (a, b.c) SELECT 1, 2

--= 1:16 Encountered ")" at line 1, column 16.
INSERT INTO t () SELECT 1

--= 1:19 Incorrect syntax near the keyword 'PARTITION' at line 1, column 19.
INSERT INTO t (a) PARTITION (b = 1) SELECT 1

--= 1:15 Incorrect syntax near the keyword 'AS' at line 1, column 15.
INSERT INTO t AS x SELECT 1

--= ok
INSERT INTO t (SELECT 1) UNION ALL (SELECT 2)

--= 1:23 Encountered ";" at line 1, column 23.
INSERT INTO t SELECT 1;

--= 1:82 Encountered "CREATE" at line 1, column 82.
EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; INSERT OVERWRITE u SELECT 2; CREATE TABLE x AS SELECT 1; END

--= 1:29 Encountered "SELECT" at line 1, column 29.
EXECUTE STATEMENT SET BEGIN SELECT 1; END

--= 1:56 Encountered ";" at line 1, column 56.
EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; END;

--= ok
CREATE TABLE t (a INT, b AS (a + 1) COMMENT 'x', c AS PROCTIME(), d AS f(a).x, WATERMARK FOR e AS e - INTERVAL '0.001' SECOND)

--= ok
CREATE TABLE t (a INT, WATERMARK FOR e AS SOURCE_WATERMARK())

--= 1:40 Encountered "FROM" at line 1, column 40.
CREATE TABLE t (a INT METADATA VIRTUAL FROM 'x')

--= ok
CREATE TABLE t (a METADATA)

--= 1:24 Encountered "NOT NULL" at line 1, column 24.
CREATE TABLE t (a AS b NOT NULL)

--= 1:35 Encountered "NOT" at line 1, column 35.
CREATE TABLE t (a INT COMMENT 'x' NOT NULL)

--= 1:28 Encountered "NOT" at line 1, column 28.
CREATE TABLE t (a INT NULL NOT NULL)

--= ok
CREATE TABLE t (PRIMARY KEY (a))

--= ok
CREATE TABLE t (PRIMARY KEY (a) ENFORCED)

--= 1:29 Encountered "a" at line 1, column 29.
CREATE TABLE t (PRIMARY KEY a NOT ENFORCED)

--= ok
CREATE TABLE t (a INT PRIMARY KEY)

--= 1:42 Encountered "'x'" at line 1, column 42.
CREATE TABLE t (a STRING COMMENT 'it''s' 'x')

--= 1:41 Encountered "=" at line 1, column 41.
CREATE TABLE t (a INT) WITH ('a'='b' 'c'='d')

--= ok
CREATE TABLE t (a INT) WITH ('a'='b', 'a'='c')

--= ok
CREATE TABLE t (a INT) WITH ()

--= 1:36 Encountered "COMMENT" at line 1, column 36.
CREATE TABLE t (a INT) COMMENT 'x' COMMENT 'y'

--= 1:39 Encountered "COMMENT" at line 1, column 39.
CREATE TABLE t (a INT) WITH ('a'='b') COMMENT 'x'

--= 1:39 Encountered "PARTITIONED" at line 1, column 39.
CREATE TABLE t (a INT) WITH ('a'='b') PARTITIONED BY (a)

--= 1:23 Encountered "WITH" at line 1, column 23.
CREATE TABLE t LIKE u WITH ('k'='v')

--= 1:17 Incorrect syntax near the keyword 'LIKE' at line 1, column 17.
CREATE TABLE t (LIKE u INCLUDING ALL)

--= 1:25 Encountered ")" at line 1, column 25.
CREATE TABLE t (a INT, b) AS SELECT 1

--= ok
CREATE TEMPORARY TABLE t AS SELECT 1

--= ok
CREATE TABLE IF NOT EXISTS t AS SELECT 1

--= ok
CREATE TABLE t PARTITIONED BY (a) AS SELECT 1 AS a

--= ok
CREATE TABLE if (a INT)

--= ok
CREATE TABLE t (if INT, temporary INT, like_ INT, comment_ INT, metadata INT, virtual INT)

--= 1:17 Encountered "comment" at line 1, column 17.
CREATE TABLE t (comment STRING)

--= ok
CREATE TABLE t (`comment` STRING)

--= 1:17 Encountered "date" at line 1, column 17.
CREATE TABLE t (date DATE)

--= 1:17 Encountered "language" at line 1, column 17.
CREATE TABLE t (language STRING)

--= 1:17 Encountered "rank" at line 1, column 17.
CREATE TABLE t (rank INT)

--= 1:17 Encountered "count" at line 1, column 17.
CREATE TABLE t (count INT)

--= 1:17 Encountered "user" at line 1, column 17.
CREATE TABLE t (user STRING)

--= 1:17 Encountered "end" at line 1, column 17.
CREATE TABLE t (end STRING)

--= 1:17 Encountered "start" at line 1, column 17.
CREATE TABLE t (start STRING)

--= ok
CREATE TABLE t (status STRING, level INT, name STRING, type STRING, id INT, desc_ INT, category STRING, region STRING, price DOUBLE, amount INT, time_ INT, key STRING, partition_ INT, offset_ INT, headers INT, topic STRING, event_time TIMESTAMP(3), session STRING, action STRING, source STRING, target STRING, description STRING, title STRING, url STRING, host STRING, ip STRING, port INT, model STRING, brand STRING, code INT, zone STRING, tag STRING, tags ARRAY<STRING>, options STRING, schema STRING, state STRING, year_ INT, store STRING, item STRING, quantity INT, total INT, currency STRING, rate DOUBLE, final INT, plan STRING, version INT, first INT, last INT, data STRING, message STRING, log STRING, class STRING, domain STRING, length INT, size INT, path STRING, body STRING, role STRING, work STRING, object STRING, instance STRING, member_ INT, transaction STRING, exception STRING, parameter_mode STRING, ordinality INT, general INT, k INT, c INT, g INT, m INT)

--= 1:17 Encountered "offset" at line 1, column 17.
CREATE TABLE t (offset INT)

--= 1:17 Encountered "partition" at line 1, column 17.
CREATE TABLE t (partition INT)

--= 1:17 Encountered "result" at line 1, column 17.
CREATE TABLE t (result INT)

--= 1:17 Encountered "position" at line 1, column 17.
CREATE TABLE t (position INT)

--= 1:17 Encountered "period" at line 1, column 17.
CREATE TABLE t (period INT)

--= ok
CREATE TABLE t (model INT)

--= 1:17 Encountered "statement" at line 1, column 17.
CREATE TABLE t (statement INT)

--= 1:17 Encountered "system" at line 1, column 17.
CREATE TABLE t (system INT)

--= 1:17 Encountered "match" at line 1, column 17.
CREATE TABLE t (match INT)

--= 1:17 Encountered "window" at line 1, column 17.
CREATE TABLE t (window INT)

--= 1:17 Encountered "percent" at line 1, column 17.
CREATE TABLE t (percent INT)

--= 1:17 Encountered "new" at line 1, column 17.
CREATE TABLE t (new INT)

--= 1:17 Encountered "old" at line 1, column 17.
CREATE TABLE t (old INT)

--= 1:17 Encountered "open" at line 1, column 17.
CREATE TABLE t (open DOUBLE, close DOUBLE)

--= ok
CREATE TABLE t (low DOUBLE)

--= ok
CREATE TABLE t (high DOUBLE)

--= 1:17 Encountered "abs" at line 1, column 17.
CREATE TABLE t (abs DOUBLE)

--= ok
CREATE TABLE t (a CHARACTER VARYING(5), b CHARACTER(3), c BINARY VARYING(3), d DEC(5), e INTEGER, f TIME(3) WITHOUT TIME ZONE, g TIMESTAMP WITHOUT TIME ZONE, h ROW(x INT, y ROW<z INT NOT NULL>) NOT NULL, i INT NOT NULL ARRAY NOT NULL, j INT MULTISET, k ARRAY<ROW<a INT>>, l MAP<STRING NOT NULL, ARRAY<INT>>)

--= ok
CREATE TABLE t (a RAW('x', 'y'))

--= ok
CREATE TABLE t (a STRUCTURED<'x', b INT>)

--= 1:19 Incorrect syntax near the keyword 'NULL' at line 1, column 19.
CREATE TABLE t (a NULL)

--= ok
CREATE TABLE t (a BITMAP)

--= 1:19 Incorrect syntax near the keyword 'DATETIME' at line 1, column 19.
CREATE TABLE t (a DATETIME)

--= ok
CREATE TABLE t (a TEXT)

--= ok
CREATE TABLE t (a REAL)

--= ok
CREATE TABLE t (a NUMBER)

--= 1:27 Encountered "(" at line 1, column 27.
CREATE TABLE t (a NVARCHAR(5))

--= ok
CREATE TABLE t (a INT64)

--= ok
CREATE TABLE t (a SERIAL)

--= ok
CREATE TABLE t (a JSON)

--= 1:25 Encountered "<" at line 1, column 25.
CREATE TABLE t (a STRUCT<b INT>)

--= 1:24 Encountered ":" at line 1, column 24.
CREATE TABLE t (a ROW<b: INT>)

--= 1:22 Encountered "(" at line 1, column 22.
CREATE TABLE t (a MAP(STRING, INT))

--= 1:19 Incorrect syntax near the keyword 'ARRAY' at line 1, column 19.
CREATE TABLE t (a ARRAY(INT))

--= 1:22 Encountered "[" at line 1, column 22.
CREATE TABLE t (a INT[])

--= ok
CREATE TABLE t (a DECIMAL(39, 2))

--= 1:27 Encountered "-" at line 1, column 27.
CREATE TABLE t (a DECIMAL(-1))

--= ok
CREATE TABLE t (a TIMESTAMP(10))

--= 1:44 Encountered "(" at line 1, column 44.
CREATE TABLE t (a DOUBLE PRECISION, b FLOAT(5))

--= 1:27 Encountered "MAX" at line 1, column 27.
CREATE TABLE t (a VARCHAR(MAX))

--= 1:24 Encountered "," at line 1, column 24.
ALTER TABLE t ADD a INT, b INT

--= ok
ALTER TABLE t ADD a.b INT

--= 1:33 Encountered "a" at line 1, column 33.
ALTER TABLE t ADD IF NOT EXISTS a INT

--= ok
ALTER TABLE t ADD PARTITION (a = 1)

--= ok
ALTER TABLE t ADD (a INT METADATA FROM 'x' VIRTUAL FIRST)

--= ok
ALTER TABLE t DROP IF EXISTS PARTITION (a = 1)

--= 1:22 Encountered "<EOF>" at line 1, column 22.
ALTER TABLE t MODIFY a

--= ok
ALTER TABLE t MODIFY WATERMARK FOR a AS a

--= ok
ALTER TABLE t MODIFY PRIMARY KEY (a) NOT ENFORCED

--= ok
ALTER TABLE t MODIFY DISTRIBUTION INTO 3 BUCKETS

--= ok
ALTER TABLE t RENAME a.b TO c

--= 1:22 Incorrect syntax near the keyword 'COLUMN' at line 1, column 22.
ALTER TABLE t RENAME COLUMN a TO b

--= ok
ALTER TABLE t SET ('a'='b', 'c'='d')

--= 1:19 Encountered "'a'" at line 1, column 19.
ALTER TABLE t SET 'a'='b'

--= 1:13 Encountered "<EOF>" at line 1, column 13.
ALTER TABLE t

--= 1:14 Encountered "SET" at line 1, column 14.
ALTER VIEW v SET ('a'='b')

--= ok
ALTER DATABASE c.d SET ('a'='b')

--= ok
ALTER DATABASE a.b.c SET ('a'='b')

--= 1:15 Encountered "<EOF>" at line 1, column 15.
ALTER CATALOG c

--= ok
ALTER FUNCTION IF EXISTS f AS 'x' LANGUAGE SCALA

--= ok
DROP CATALOG c.d

--= 1:15 Encountered "NOT" at line 1, column 15.
DROP TABLE IF NOT EXISTS t

--= 1:6 Encountered "INDEX" at line 1, column 6.
DROP INDEX i

--= 1:4 Encountered "<EOF>" at line 1, column 4.
DROP

--= 1:6 Encountered "<EOF>" at line 1, column 6.
CREATE

--= ok
CREATE OR REPLACE CATALOG c WITH ('a'='b')

--= ok
CREATE OR REPLACE FUNCTION f AS 'x'

--= ok
CREATE DATABASE a.b.c

--= ok
CREATE CATALOG c

--= 1:41 Encountered "'b'" at line 1, column 41.
CREATE FUNCTION f AS 'x' USING JAR 'a', 'b'

--= ok
CREATE FUNCTION f AS 'x' USING ARTIFACT 'a'

--= ok
CREATE TEMPORARY FUNCTION a.b.c.d AS 'x'

--= ok
DESC t

--= ok
DESCRIBE TABLE t

--= ok
DESCRIBE CATALOG c

--= 1:17 Encountered "<EOF>" at line 1, column 17.
DESCRIBE function

--= ok
DESCRIBE FUNCTION f

--= ok
DESCRIBE FUNCTION a.b.f

--= ok
DESCRIBE EXTENDED a.b.c

--= 1:17 Encountered "<EOF>" at line 1, column 17.
SHOW CREATE TABLE

--= 1:14 Encountered "<EOF>" at line 1, column 14.
SHOW TABLES IN

--= 1:14 Encountered "SCHEMA" at line 1, column 14.
SHOW CURRENT SCHEMA

--= 1:21 Encountered "FROM" at line 1, column 21.
SHOW COLUMNS FROM t FROM d

--= 1:11 Encountered "LIKE" at line 1, column 11.
SHOW JOBS LIKE 'x'

--= 1:13 Encountered "DATABASE" at line 1, column 13.
SHOW CREATE DATABASE d

--= 1:13 Encountered "FUNCTION" at line 1, column 13.
SHOW CREATE FUNCTION f

--= 1:12 Encountered ";" at line 1, column 12.
SHOW TABLES;

--= 1:9 Non-query expression encountered in illegal context
EXPLAIN ANALYZE SELECT 1

--= 1:25 Encountered "SELECT" at line 1, column 25.
EXPLAIN CHANGELOG_MODE, SELECT 1

--= ok
EXPLAIN TABLE t

--= ok
EXPLAIN VALUES (1)

--= ok
EXPLAIN WITH x AS (SELECT 1) SELECT * FROM x

--= ok
EXPLAIN (SELECT 1)

--= 1:9 Non-query expression encountered in illegal context
EXPLAIN PLAN SELECT 1
