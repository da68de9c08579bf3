-- Aggregates in conditions, with the row that is looked at, and in measures: of one variable, and of all rows; of no rows too.
CREATE TABLE ticks (item STRING, price BIGINT, amount DECIMAL(10, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/ticks', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, n BIGINT, total BIGINT, average BIGINT, least BIGINT, most BIGINT, mean DECIMAL(38, 6), all_rows BIGINT, names STRING, b BIGINT)
WITH ('connector' = 'print');
INSERT INTO answers
SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY item ORDER BY ts
  MEASURES COUNT(A.price) AS n, SUM(A.price) AS total, AVG(A.price) AS average, MIN(A.price) AS least, MAX(A.price) AS most, AVG(A.amount) AS mean,
    COUNT(*) AS all_rows, LISTAGG(CAST(price AS STRING), '-') AS names, SUM(B.price) AS b
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (B? A+ C)
  DEFINE B AS price = 0, A AS AVG(A.price) < 10, C AS SUM(price) > 10) AS m;
--= Sink(table=[default_catalog.default_database.answers], fields=[item, n, total, average, least, most, mean, all_rows, names, b], changelogMode=[I])
--= +- Calc(select=[item, $m0 AS n, $m1 AS total, $m2 AS average, $m3 AS least, $m4 AS most, $m5 AS mean, $m6 AS all_rows, $m7 AS names, $m8 AS b], changelogMode=[I])
--=    +- Match(partitionBy=[item], orderBy=[ts ASC], measures=[COUNT(A.price) AS $m0, SUM(A.price) AS $m1, AVG(A.price) AS $m2, MIN(A.price) AS $m3, MAX(A.price) AS $m4, AVG(A.amount) AS $m5, COUNT(*) AS $m6, LISTAGG(CAST(*.price AS STRING), '-') AS $m7, SUM(B.price) AS $m8], rowsPerMatch=[ONE ROW PER MATCH], after=[SKIP PAST LAST ROW], pattern=[B? A+ C], define=[B=(price = 0), A=(AVG(A.price) < 10), C=(SUM(*.price) > 10)], changelogMode=[I])
--=       +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=          +- TableSourceScan(table=[[default_catalog, default_database, ticks]], fields=[item, price, amount, ts], changelogMode=[I])
--< ticks {"item": "i", "price": 4, "amount": 1.5, "ts": "2026-01-01 00:00:01"}
--< ticks {"item": "j", "price": 0, "amount": 1, "ts": "2026-01-01 00:00:01.500"}
--< ticks {"item": "i", "price": null, "amount": 2.25, "ts": "2026-01-01 00:00:02"}
--! restart
--< ticks {"item": "i", "price": 9, "amount": null, "ts": "2026-01-01 00:00:03"}
--< ticks {"item": "j", "price": 3, "amount": 1, "ts": "2026-01-01 00:00:03.500"}
--< ticks {"item": "i", "price": 40, "amount": 7, "ts": "2026-01-01 00:00:04"}
--> +I[i, 2, 13, 6, 4, 9, 1.875000, 4, 4-9-40, null]
--<late ticks {"item": "j", "price": 90, "amount": 1, "ts": "2026-01-01 00:00:02"}
--< ticks {"item": "j", "price": 50, "amount": 1, "ts": "2026-01-01 00:00:05"}
--> +I[j, 1, 3, 3, 3, 3, 1.000000, 3, 0-3-50, 0]
--! end
