-- Columns called as EXPLAIN calls what the planner adds.
CREATE TABLE bids (`$k0` INT, `$side` INT, `$f0` INT, `$agg0` INT, `$now` STRING, k0 INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE items (`$k0` INT, `$left` STRING, `$right` STRING, c0 INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/items', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (a STRING, b STRING, c INT, d INT, e BIGINT, f INT, g STRING, h BOOLEAN) WITH ('connector' = 'print');
INSERT INTO answers
SELECT i.`$left`, i.`$right`, SUM(b.`$side`), SUM(b.`$f0` + 1), COUNT(DISTINCT b.`$agg0`), MAX(b.k0 + i.c0) AS `$agg1`, MAX(b.`$now`) AS `$now`,
    MAX(CURRENT_TIMESTAMP) > TIMESTAMP '2026-01-01 00:00:00' AS `$f2`
FROM bids AS b JOIN items AS i ON b.`$k0` = i.`$k0` AND b.`$side` > i.c0
WHERE b.`$f0` < (SELECT MAX(`$k0`) + 100 FROM items)
GROUP BY i.`$left`, i.`$right`
HAVING COUNT(*) > 0;
--< items {"$k0": 1, "$left": "l", "$right": "r", "c0": 3}
--< bids {"$k0": 1, "$side": 5, "$f0": 7, "$agg0": 9, "$now": "n", "k0": 2}
--< bids {"$k0": 1, "$side": 2, "$f0": 7, "$agg0": 8, "$now": "o", "k0": 2}
--< bids {"$k0": 2, "$side": 6, "$f0": 7, "$agg0": 8, "$now": "p", "k0": 2}
--> +I[l, r, 5, 8, 1, 5, n, true]
--! restart
--< bids {"$k0": 1, "$side": 4, "$f0": 1, "$agg0": 9, "$now": "m", "k0": 4}
--> -U[l, r, 5, 8, 1, 5, n, true] +U[l, r, 9, 10, 1, 7, n, true]
