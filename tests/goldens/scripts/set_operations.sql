-- UNION, INTERSECT and EXCEPT over streams: each row once, NULL equal to NULL; a row of EXCEPT goes when it comes on the other side.
CREATE TABLE a (n INT, s STRING)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/a', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE b (n BIGINT, s STRING)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/b', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (kind STRING, n BIGINT, s STRING) WITH ('connector' = 'print');
INSERT INTO answers
SELECT 'union', * FROM (SELECT n, s FROM a UNION SELECT n, s FROM b)
UNION ALL SELECT 'both', * FROM (SELECT n, s FROM a INTERSECT SELECT n, s FROM b)
UNION ALL SELECT 'only', * FROM (SELECT n, s FROM a EXCEPT SELECT n, s FROM b);
--< a {"n": 1, "s": "x"}
--< a {"n": 1, "s": "x"}
--< a {"n": 2, "s": null}
--> +I[union, 1, x] +I[union, 2, null] +I[only, 1, x] +I[only, 2, null]
--< b {"n": 2, "s": null}
--> +I[both, 2, null] -D[only, 2, null]
--! restart
--< b {"n": 2, "s": null}
--< b {"n": 3, "s": "č"}
--< a {"n": 3, "s": "č"}
--> +I[union, 3, č] +I[both, 3, č]
