-- Filters before, within and behind a windowed query change neither the watermark, which is the source's, nor the end of the input.
CREATE TABLE bids (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE VIEW dear AS SELECT * FROM bids WHERE price > 10;
CREATE TABLE answers (item STRING, window_end TIMESTAMP(3), bids BIGINT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT item, window_end, n FROM (
  SELECT item, window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE dear, DESCRIPTOR(ts), INTERVAL '10' SECOND))
  WHERE item IS NOT NULL GROUP BY item, window_start, window_end HAVING item <> 'x'
) WHERE item LIKE '%a%';
--< bids {"item": "a", "price": 11, "ts": "2026-01-01 00:00:01"}
--< bids {"item": "b", "price": 12, "ts": "2026-01-01 00:00:02"}
--< bids {"item": "cheap", "price": 1, "ts": "2026-01-01 00:00:10"}
--> +I[a, 2026-01-01T00:00:10, 1]
--! restart
--< bids {"item": "ab", "price": 20, "ts": "2026-01-01 00:00:11"}
--< bids {"item": null, "price": 20, "ts": "2026-01-01 00:00:12"}
--! end
--> +I[ab, 2026-01-01T00:00:20, 1]
--= Sink(table=[default_catalog.default_database.answers], fields=[item, window_end, bids], changelogMode=[I])
--= +- Calc(select=[item, window_end, n AS bids], changelogMode=[I])
--=    +- Calc(where=[(item LIKE '%a%')], changelogMode=[I])
--=       +- Calc(select=[item, window_end, n], changelogMode=[I])
--=          +- Calc(where=[(item <> 'x')], changelogMode=[I])
--=             +- WindowAggregate(groupBy=[item], window=[TUMBLE(time_col=[ts], size=[10 s])], select=[item, window_start, window_end, COUNT(*) AS n], changelogMode=[I])
--=                +- Calc(select=[item, window_start, window_end, window_time], changelogMode=[I])
--=                   +- Calc(where=[NOT(item IS NULL)], changelogMode=[I])
--=                      +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[10 s])], changelogMode=[I])
--=                         +- Calc(where=[(price > 10)], changelogMode=[I])
--=                            +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=                               +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price, ts], changelogMode=[I])
