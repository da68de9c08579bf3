-- Windows over windows over windows: each over the window_time of the one below.
CREATE TABLE bids (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE VIEW by_second AS
SELECT item, window_time AS t, SUM(price) AS total FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '1' SECOND))
GROUP BY item, window_start, window_end, window_time;
CREATE VIEW by_five AS
SELECT window_time AS t, MAX(total) AS highest, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE by_second, DESCRIPTOR(t), INTERVAL '5' SECOND))
GROUP BY window_start, window_end, window_time;
CREATE TABLE answers (window_start TIMESTAMP(3), window_end TIMESTAMP(3), highest INT, n BIGINT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT window_start, window_end, MAX(highest), SUM(n) FROM TABLE(TUMBLE(TABLE by_five, DESCRIPTOR(t), INTERVAL '10' SECOND))
GROUP BY window_start, window_end;
--! any order
--= Sink(table=[default_catalog.default_database.answers], fields=[window_start, window_end, highest, n], changelogMode=[I])
--= +- Calc(select=[window_start, window_end, EXPR$2 AS highest, EXPR$3 AS n], changelogMode=[I])
--=    +- WindowAggregate(window=[TUMBLE(time_col=[t], size=[10 s])], select=[window_start, window_end, MAX(highest) AS EXPR$2, SUM(n) AS EXPR$3], changelogMode=[I])
--=       +- Calc(select=[window_start, window_end, highest, n, window_time], changelogMode=[I])
--=          +- WindowTableFunction(window=[TUMBLE(time_col=[t], size=[10 s])], changelogMode=[I])
--=             +- Calc(select=[window_time AS t, highest, n], changelogMode=[I])
--=                +- WindowAggregate(window=[TUMBLE(time_col=[t], size=[5 s])], select=[window_start, window_end, window_time, MAX(total) AS highest, COUNT(*) AS n], changelogMode=[I])
--=                   +- Calc(select=[window_start, window_end, window_time, total], changelogMode=[I])
--=                      +- WindowTableFunction(window=[TUMBLE(time_col=[t], size=[5 s])], changelogMode=[I])
--=                         +- Calc(select=[item, window_time AS t, total], changelogMode=[I])
--=                            +- WindowAggregate(groupBy=[item], window=[TUMBLE(time_col=[ts], size=[1 s])], select=[item, window_start, window_end, window_time, SUM(price) AS total], changelogMode=[I])
--=                               +- Calc(select=[item, window_start, window_end, window_time, price], changelogMode=[I])
--=                                  +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[1 s])], changelogMode=[I])
--=                                     +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=                                        +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price, ts], changelogMode=[I])
--< bids {"item": "a", "price": 1, "ts": "2026-01-01 00:00:00.100"}
--< bids {"item": "a", "price": 2, "ts": "2026-01-01 00:00:00.900"}
--< bids {"item": "b", "price": 2, "ts": "2026-01-01 00:00:00.500"}
--< bids {"item": "a", "price": 7, "ts": "2026-01-01 00:00:06"}
--! restart
--< bids {"item": "c", "price": 4, "ts": "2026-01-01 00:00:09.999"}
--> +I[2026-01-01T00:00, 2026-01-01T00:00:10, 7, 4]
--< bids {"item": "c", "price": 4, "ts": "2026-01-01 00:00:10"}
--! end
--> +I[2026-01-01T00:00:10, 2026-01-01T00:00:20, 4, 1]
