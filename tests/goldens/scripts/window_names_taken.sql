-- Windows, in both forms, over windows whose bounds are among the input's columns; those of the outer window are reached by other names.
CREATE TABLE bids (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE VIEW by_second AS
SELECT window_start, window_end, window_time, SUM(price) AS total FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '1' SECOND))
GROUP BY window_start, window_end, window_time;
CREATE VIEW by_five AS
SELECT s AS window_start, e AS window_end, t, MAX(first_start) AS latest, SUM(total) AS total
FROM TABLE(TUMBLE(TABLE by_second, DESCRIPTOR(window_time), INTERVAL '5' SECOND)) AS w (first_start, first_end, first_time, total, s, e, t)
GROUP BY s, e, t;
CREATE TABLE answers (s TIMESTAMP(3), e TIMESTAMP(3), first_start TIMESTAMP(3), latest TIMESTAMP(3), total INT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT TUMBLE_START(t, INTERVAL '10' SECOND), TUMBLE_END(t, INTERVAL '10' SECOND), MIN(window_start), MAX(latest), SUM(total)
FROM by_five GROUP BY TUMBLE(t, INTERVAL '10' SECOND) HAVING MIN(window_start) < TUMBLE_END(t, INTERVAL '10' SECOND);
--= Sink(table=[default_catalog.default_database.answers], fields=[s, e, first_start, latest, total], changelogMode=[I])
--= +- Calc(select=[window_start AS s, window_end AS e, EXPR$2 AS first_start, EXPR$3 AS latest, EXPR$4 AS total], changelogMode=[I])
--=    +- Calc(where=[(EXPR$2 < window_end)], changelogMode=[I])
--=       +- WindowAggregate(window=[TUMBLE(time_col=[t], size=[10 s])], select=[window_start, window_end, window_time, MIN(window_start0) AS EXPR$2, MAX(latest) AS EXPR$3, SUM(total) AS EXPR$4], changelogMode=[I])
--=          +- Calc(select=[window_start, window_end, window_time, window_start0, latest, total], changelogMode=[I])
--=             +- WindowTableFunction(window=[TUMBLE(time_col=[t], size=[10 s])], changelogMode=[I])
--=                +- Calc(select=[s AS window_start0, e AS window_end0, t, latest, total], changelogMode=[I])
--=                   +- WindowAggregate(window=[TUMBLE(time_col=[window_time0], size=[5 s])], select=[s, e, t, MAX(first_start) AS latest, SUM(total) AS total], changelogMode=[I])
--=                      +- Calc(select=[window_start AS s, window_end AS e, window_time AS t, window_start0 AS first_start, total], changelogMode=[I])
--=                         +- WindowTableFunction(window=[TUMBLE(time_col=[window_time0], size=[5 s])], changelogMode=[I])
--=                            +- Calc(select=[window_start AS window_start0, window_end AS window_end0, window_time AS window_time0, total], changelogMode=[I])
--=                               +- WindowAggregate(window=[TUMBLE(time_col=[ts], size=[1 s])], select=[window_start, window_end, window_time, SUM(price) AS total], changelogMode=[I])
--=                                  +- Calc(select=[window_start, window_end, window_time, price], changelogMode=[I])
--=                                     +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[1 s])], changelogMode=[I])
--=                                        +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=                                           +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price, ts], changelogMode=[I])
--< bids {"item": "a", "price": 1, "ts": "2026-01-01 00:00:05.100"}
--< bids {"item": "a", "price": 2, "ts": "2026-01-01 00:00:05.900"}
--< bids {"item": "a", "price": 7, "ts": "2026-01-01 00:00:08"}
--! restart
--< bids {"item": "c", "price": 4, "ts": "2026-01-01 00:00:10"}
--> +I[2026-01-01T00:00, 2026-01-01T00:00:10, 2026-01-01T00:00:05, 2026-01-01T00:00:08, 10]
--! end
--> +I[2026-01-01T00:00:10, 2026-01-01T00:00:20, 2026-01-01T00:00:10, 2026-01-01T00:00:10, 4]
