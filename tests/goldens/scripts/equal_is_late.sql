-- With a delay of zero, a row whose time is the watermark itself still counts in an open window; once the window's last millisecond has been
-- reached, every row for it is late, also one of just that millisecond.
CREATE TABLE bids (item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (window_end TIMESTAMP(3), bids BIGINT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
--< bids {"item": "a", "ts": "2026-01-01 00:00:05"}
--! restart
--< bids {"item": "b", "ts": "2026-01-01 00:00:05"}
--< bids {"item": "c", "ts": "2026-01-01 00:00:09.5"}
--< bids {"item": "d", "ts": "2026-01-01 00:00:09.999"}
--> +I[2026-01-01T00:00:10, 4]
--<late bids {"item": "e", "ts": "2026-01-01 00:00:09.999"}
--< bids {"item": "f", "ts": "2026-01-01 00:00:10"}
--! end
--> +I[2026-01-01T00:00:20, 1]
--= Sink(table=[default_catalog.default_database.answers], fields=[window_end, bids], changelogMode=[I])
--= +- Calc(select=[window_end, EXPR$1 AS bids], changelogMode=[I])
--=    +- WindowAggregate(window=[TUMBLE(time_col=[ts], size=[10 s])], select=[window_start, window_end, COUNT(*) AS EXPR$1], changelogMode=[I])
--=       +- Calc(select=[window_start, window_end, window_time], changelogMode=[I])
--=          +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[10 s])], changelogMode=[I])
--=             +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
--=                +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, ts], changelogMode=[I])
