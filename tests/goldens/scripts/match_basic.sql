-- A fall and a rise of a price: references to earlier rows of the match, NULLs, rows of one time in the order of a further column, late rows.
CREATE TABLE ticks (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/ticks', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, top INT, bottom INT, back INT, fall INT, first_low TIMESTAMP(3)) WITH ('connector' = 'print');
INSERT INTO answers
SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY item
  ORDER BY ts, price DESC
  MEASURES S.price AS top, LAST(DOWN.price) AS bottom, UP.price AS back, S.price - LAST(DOWN.price) AS fall, FIRST(DOWN.ts) AS first_low
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (S DOWN+ UP)
  DEFINE
    DOWN AS DOWN.price < S.price AND (LAST(DOWN.price, 1) IS NULL OR DOWN.price < LAST(DOWN.price, 1)),
    UP AS UP.price > LAST(DOWN.price)) AS m;
--! any order
--= Sink(table=[default_catalog.default_database.answers], fields=[item, top, bottom, back, fall, first_low], changelogMode=[I])
--= +- Calc(select=[item, $m0 AS top, $m1 AS bottom, $m2 AS back, ($m0 - $m1) AS fall, $m3 AS first_low], changelogMode=[I])
--=    +- Match(partitionBy=[item], orderBy=[ts ASC, price DESC], measures=[LAST(S.price, 0) AS $m0, LAST(DOWN.price, 0) AS $m1, LAST(UP.price, 0) AS $m2, FIRST(DOWN.ts, 0) AS $m3], rowsPerMatch=[ONE ROW PER MATCH], after=[SKIP PAST LAST ROW], pattern=[S DOWN+ UP], define=[DOWN=((price < LAST(S.price, 0)) AND (LAST(DOWN.price, 1) IS NULL OR (price < LAST(DOWN.price, 1)))), UP=(price > LAST(DOWN.price, 0))], changelogMode=[I])
--=       +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '2' SECOND)], changelogMode=[I])
--=          +- TableSourceScan(table=[[default_catalog, default_database, ticks]], fields=[item, price, ts], changelogMode=[I])
--< ticks {"item": "a", "price": 9, "ts": "2026-01-01 00:00:01"}
--< ticks {"item": "b", "price": 5, "ts": "2026-01-01 00:00:01"}
--< ticks {"item": "a", "price": 6, "ts": "2026-01-01 00:00:03"}
--< ticks {"item": "a", "price": 7, "ts": "2026-01-01 00:00:02"}
--< ticks {"item": null, "price": 3, "ts": "2026-01-01 00:00:02"}
--< ticks {"item": "b", "price": 4, "ts": "2026-01-01 00:00:06"}
--! restart
--< ticks {"item": "a", "price": 8, "ts": "2026-01-01 00:00:05"}
--< ticks {"item": null, "price": 2, "ts": "2026-01-01 00:00:06"}
--< ticks {"item": null, "price": null, "ts": "2026-01-01 00:00:07"}
--< ticks {"item": "b", "price": 5, "ts": "2026-01-01 00:00:12"}
--> +I[a, 9, 6, 8, 3, 2026-01-01T00:00:02]
--<late ticks {"item": "a", "price": 1, "ts": "2026-01-01 00:00:04"}
--< ticks {"item": null, "price": 8, "ts": "2026-01-01 00:00:20"}
--< ticks {"item": null, "price": 1, "ts": "2026-01-01 00:00:20"}
--< ticks {"item": null, "price": 4, "ts": "2026-01-01 00:00:30"}
--> +I[b, 5, 4, 5, 1, 2026-01-01T00:00:06]
--! end
--> +I[null, 8, 1, 4, 7, 2026-01-01T00:00:20]
