-- INTERSECT ALL and EXCEPT ALL count: a row comes as often as it is on both sides, or on the left more than on the right.
CREATE TABLE a (n INT, s STRING)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/a', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE b (n INT, s STRING)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/b', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (kind STRING, n INT, s STRING) WITH ('connector' = 'print');
INSERT INTO answers
SELECT 'both', * FROM (SELECT n, s FROM a INTERSECT ALL SELECT n, s FROM b)
UNION ALL SELECT 'only', * FROM (SELECT n, s FROM a EXCEPT ALL SELECT n, s FROM b);
--< a {"n": 1, "s": "x"}
--< a {"n": 1, "s": "x"}
--< a {"n": 2, "s": null}
--> +I[only, 1, x] +I[only, 1, x] +I[only, 2, null]
--< b {"n": 1, "s": "x"}
--< b {"n": 2, "s": null}
--< b {"n": 2, "s": null}
--> +U[both, 1, x] +U[both, 2, null] -U[only, 1, x] -U[only, 1, x] +U[only, 1, x] -U[only, 2, null]
--! restart
--< b {"n": 1, "s": "x"}
--> -U[both, 1, x] +U[both, 1, x] +U[both, 1, x] -U[only, 1, x]
