-- Windows with offsets, positive and negative, by place and by name, over a sub-query and without TABLE( ).
CREATE TABLE bids (price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE VIEW high AS SELECT * FROM bids WHERE price > 0;
CREATE TABLE answers (kind STRING, s TIMESTAMP(3), e TIMESTAMP(3), total INT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT 't', window_start, window_end, SUM(price)
FROM TUMBLE(TABLE high, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '-3' SECOND)
GROUP BY window_start, window_end
UNION ALL
SELECT 'c', window_start, window_end, SUM(price)
FROM TABLE(CUMULATE(DATA => TABLE high, TIMECOL => DESCRIPTOR(ts), STEP => INTERVAL '5' SECOND, SIZE => INTERVAL '10' SECOND, `OFFSET` => INTERVAL '1' SECOND))
GROUP BY window_start, window_end
UNION ALL
SELECT 'h', s, e, SUM(price)
FROM (SELECT price, window_start AS s, window_end AS e FROM TABLE(HOP(TABLE high, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND, INTERVAL '12' SECOND)))
GROUP BY s, e;
--= Sink(table=[default_catalog.default_database.answers], fields=[kind, s, e, total], changelogMode=[I])
--= +- Calc(select=[EXPR$0 AS kind, window_start AS s, window_end AS e, EXPR$3 AS total], changelogMode=[I])
--=    +- Union(all=[true], union=[EXPR$0, window_start, window_end, EXPR$3], changelogMode=[I])
--=       +- Calc(select=['t' AS EXPR$0, window_start, window_end, EXPR$3], changelogMode=[I])
--=       |  +- WindowAggregate(window=[TUMBLE(time_col=[ts], size=[10 s], offset=[-3 s])], select=[window_start, window_end, SUM(price) AS EXPR$3], changelogMode=[I])
--=       |     +- Calc(select=[window_start, window_end, price, window_time], changelogMode=[I])
--=       |        +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[10 s], offset=[-3 s])], changelogMode=[I])
--=       |           +- Calc(where=[(price > 0)], changelogMode=[I])
--=       |              +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '1' SECOND)], changelogMode=[I])
--=       |                 +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[price, ts], changelogMode=[I])
--=       +- Calc(select=['c' AS EXPR$0, window_start, window_end, EXPR$3], changelogMode=[I])
--=       |  +- WindowAggregate(window=[CUMULATE(time_col=[ts], max_size=[10 s], step=[5 s], offset=[1 s])], select=[window_start, window_end, SUM(price) AS EXPR$3], changelogMode=[I])
--=       |     +- Calc(select=[window_start, window_end, price, window_time], changelogMode=[I])
--=       |        +- WindowTableFunction(window=[CUMULATE(time_col=[ts], max_size=[10 s], step=[5 s], offset=[1 s])], changelogMode=[I])
--=       |           +- Calc(where=[(price > 0)], changelogMode=[I])
--=       |              +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '1' SECOND)], changelogMode=[I])
--=       |                 +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[price, ts], changelogMode=[I])
--=       +- Calc(select=['h' AS EXPR$0, s, e, EXPR$3], changelogMode=[I])
--=          +- WindowAggregate(window=[HOP(time_col=[ts], size=[10 s], slide=[5 s], offset=[12 s])], select=[s, e, SUM(price) AS EXPR$3], changelogMode=[I])
--=             +- Calc(select=[window_start AS s, window_end AS e, price, window_time], changelogMode=[I])
--=                +- WindowTableFunction(window=[HOP(time_col=[ts], size=[10 s], slide=[5 s], offset=[12 s])], changelogMode=[I])
--=                   +- Calc(where=[(price > 0)], changelogMode=[I])
--=                      +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '1' SECOND)], changelogMode=[I])
--=                         +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[price, ts], changelogMode=[I])
--< bids {"price": 1, "ts": "2026-01-01 00:00:06.999"}
--< bids {"price": 2, "ts": "2026-01-01 00:00:07"}
--< bids {"price": 0, "ts": "2026-01-01 00:00:05"}
--< bids {"price": 4, "ts": "2026-01-01 00:00:10.999"}
--< bids {"price": 8, "ts": "2026-01-01 00:00:11"}
--> +I[t, 2025-12-31T23:59:57, 2026-01-01T00:00:07, 1] +I[h, 2025-12-31T23:59:57, 2026-01-01T00:00:07, 1]
--! restart
--! end
--> +I[t, 2026-01-01T00:00:07, 2026-01-01T00:00:17, 14] +I[c, 2026-01-01T00:00:01, 2026-01-01T00:00:11, 7]
--> +I[c, 2026-01-01T00:00:11, 2026-01-01T00:00:16, 8] +I[c, 2026-01-01T00:00:11, 2026-01-01T00:00:21, 8]
--> +I[h, 2026-01-01T00:00:02, 2026-01-01T00:00:12, 15] +I[h, 2026-01-01T00:00:07, 2026-01-01T00:00:17, 14]
