-- Recipes of a cookbook: joins in time, patterns, late data, hints, hierarchies, statement sets.
SET 'sql-client.execution.result-mode' = 'tableau';
CREATE TEMPORARY TABLE server_logs (
  client_ip STRING, userid STRING, log_time TIMESTAMP(3), request_line STRING, status_code STRING, size INT,
  WATERMARK FOR log_time AS log_time - INTERVAL '30' SECONDS
) WITH ('connector' = 'faker',
  'fields.request_line.expression' = '#{regexify ''(GET|POST|PUT|PATCH){1}''} #{regexify ''(/search\.html|/login\.html|/[^\/]+){1}''}',
  'fields.log_time.expression' = '#{date.past ''15'',''5'',''SECONDS''}');
CREATE TEMPORARY VIEW successful_requests AS
SELECT * -- a comment in a view; it's kept
FROM server_logs WHERE status_code SIMILAR TO '[2,3][0-9][0-9]' AND request_line NOT LIKE '%!_x%' ESCAPE '!';
SELECT COUNT(DISTINCT client_ip) AS ip_addresses, TUMBLE_PROCTIME(proctime, INTERVAL '1' MINUTE) AS minutes
FROM server_logs GROUP BY TUMBLE(proctime, INTERVAL '1' MINUTE);
SELECT o.id, r.rate, CAST(o.total * r.eurusd AS DECIMAL(10, 2)) AS total
FROM transactions AS o LEFT JOIN rates FOR SYSTEM_TIME AS OF o.transaction_time AS r ON o.currency = r.currency;
SELECT s.name, CURRENT_WATERMARK(s.t) AS wm FROM sensors s WHERE CURRENT_WATERMARK(s.t) IS NULL OR s.t > CURRENT_WATERMARK(s.t);
SELECT l.* FROM locations l CROSS JOIN UNNEST(l.readings) AS r (sensor, `value`);
SELECT name, r.pos FROM t LEFT JOIN UNNEST(tags) WITH ORDINALITY AS r (tag, pos) ON TRUE;
SELECT word, length FROM lines, LATERAL TABLE(split_words(line)) AS w (word, length);
SELECT state, city FROM (SELECT DISTINCT state FROM cities) s, LATERAL (SELECT city FROM cities WHERE state = s.state ORDER BY population DESC LIMIT 3);
SELECT * FROM subscriptions MATCH_RECOGNIZE (
  PARTITION BY user_id, type
  ORDER BY proc_time
  MEASURES LAST(PREMIUM.type) AS premium_type, AVG(TIMESTAMPDIFF(DAY, PREMIUM.start_date, PREMIUM.end_date)) AS premium_avg_duration, BASIC.start_date AS downgrade_date
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (PREMIUM+ BASIC{1,3}? LATER* LAST_ONE) WITHIN INTERVAL '1' HOUR
  DEFINE PREMIUM AS PREMIUM.type IN ('premium', 'platinum'), BASIC AS BASIC.type = 'basic' AND LAST(BASIC.start_date, 1) IS NULL) AS m;
SELECT airport, COUNT(*) FROM flights GROUP BY GROUPING SETS ((airport, airline), (airport), ()) HAVING COUNT(*) > 1;
SELECT a, b, GROUPING_ID(a, b) FROM t GROUP BY ROLLUP (a, b), CUBE (c, (d, e)), f;
SELECT order_id, price, SUM(price) OVER w AS sum_price, LAG(price, 1) OVER w AS prev_price
FROM orders WINDOW w AS (PARTITION BY product ORDER BY order_time RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW);
SELECT window_start, window_end, window_time, supplier, SUM(price)
FROM CUMULATE(DATA => TABLE orders, TIMECOL => DESCRIPTOR(order_time), STEP => INTERVAL '2' MINUTES, SIZE => INTERVAL '10' MINUTES, `OFFSET` => INTERVAL '1' MINUTES)
GROUP BY window_start, window_end, window_time, supplier;
SELECT * FROM TABLE(SESSION(TABLE bids PARTITION BY (item, shop), DESCRIPTOR(bidtime), INTERVAL '5' MINUTES)) AS s;
SELECT /*+ BROADCAST(r), STATE_TTL('o' = '1d', 'r' = '12h'), LOOKUP('table' = 'r', 'async' = 'true') */ o.id
FROM orders /*+ OPTIONS('scan.startup.mode' = 'earliest-offset') */ AS o JOIN rates AS r ON o.currency = r.currency;
WITH recent AS (SELECT * FROM orders WHERE total > 1), sums (who, total) AS (SELECT customer, SUM(total) FROM recent GROUP BY customer)
SELECT * FROM sums WHERE total NOT BETWEEN SYMMETRIC 10 AND 5 ORDER BY total DESC NULLS LAST, who LIMIT 10 OFFSET 5;
SELECT a FROM t UNION ALL (SELECT b FROM u INTERSECT SELECT c FROM v) EXCEPT ALL SELECT d FROM w ORDER BY 1 FETCH FIRST 3 ROWS ONLY;
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.x = t.x) AND b NOT IN (SELECT y FROM v) AND (c, d) IN ((1, 2), (3, 4)) AND e = ANY (SELECT 1);
SELECT JSON_VALUE(payload, 'lax $.a' RETURNING INTEGER DEFAULT -1 ON EMPTY ERROR ON ERROR),
  JSON_QUERY(payload, '$.b' WITH CONDITIONAL ARRAY WRAPPER EMPTY ARRAY ON EMPTY), JSON_EXISTS(payload, '$.c' FALSE ON ERROR),
  JSON_OBJECT('a' VALUE 1, KEY 'b' VALUE JSON_ARRAY(1, 'x' NULL ON NULL) ABSENT ON NULL), JSON_OBJECTAGG(KEY k VALUE v), payload IS NOT JSON OBJECT
FROM messages;
SELECT EXTRACT(EPOCH FROM t), FLOOR(t TO HOUR), CEIL(x), TIMESTAMPADD(MONTH, 1, t), SUBSTRING(s FROM 2 FOR 3), TRIM(LEADING 'x' FROM s),
  POSITION('a' IN s), OVERLAY(s PLACING 'x' FROM 1 FOR 2), CURRENT_TIMESTAMP, LOCALTIME, DATE '2026-01-31', TIME '10:11:12.123',
  TIMESTAMP '2026-01-31 10:11:12.123456789', INTERVAL '10 00:00:00.004' DAY TO SECOND, INTERVAL -'2-10' YEAR TO MONTH, X'1F', E'a\tb', U&'\263A'
FROM t;
SELECT arr[1].name, m['k'], ROW(1, 'a'), (1, 2), ARRAY[1, 2], MAP['a', 1], ARRAY[], CARDINALITY(arr), (r).`nested field`, a.b.c.d.e.f, t.r.* FROM t;
SELECT * FROM (a JOIN b ON a.x = b.x) LEFT JOIN c USING (x, y) NATURAL JOIN d CROSS JOIN e, f;
SELECT * FROM (VALUES (1, 'a'), (2, CAST(NULL AS STRING))) AS t (id, name);
SELECT LISTAGG(DISTINCT a, ';') WITHIN GROUP (ORDER BY b DESC), FIRST_VALUE(a) IGNORE NULLS OVER (ORDER BY c), ARRAY_AGG(a) RESPECT NULLS FROM t;
SELECT a FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY b ORDER BY c) = 1;
VALUES (1, 2), ROW(3, 4);
TABLE orders;
INSERT INTO t PARTITION (`day` = '2026-01-01', hr = 10) (id, name) VALUES (1, 'x');
INSERT OVERWRITE c.d.t /*+ OPTIONS('sink.parallelism' = '1') */ SELECT * FROM s;
EXECUTE STATEMENT SET BEGIN
  INSERT INTO a SELECT CASE WHEN x = 1 THEN 'a;b' END FROM t;
  INSERT INTO b SELECT * FROM t;
END;
BEGIN STATEMENT SET;
INSERT INTO a SELECT 1;
END;
EXPLAIN CHANGELOG_MODE, ESTIMATED_COST SELECT * FROM t;
EXPLAIN PLAN FOR INSERT INTO a SELECT 1;
EXPLAIN STATEMENT SET BEGIN INSERT INTO a SELECT 1; END;
EXECUTE INSERT INTO a SELECT 1;
EXECUTE SELECT 1;
