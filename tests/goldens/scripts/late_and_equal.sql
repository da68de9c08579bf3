-- A row is late when its window's end - 1 ms has been reached by the watermark, also where both are equal; one whose own time is behind the
-- watermark, but whose window is open, is not.
CREATE TABLE bids (item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '0.001' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (window_end TIMESTAMP(3), bids BIGINT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
--< bids {"item": "a", "ts": "2026-01-01 00:00:09.999"}
--< bids {"item": "b", "ts": "2026-01-01 00:00:09"}
--! restart
--< bids {"item": "c", "ts": "2026-01-01 00:00:01"}
--< bids {"item": null, "ts": "2026-01-01 00:00:10"}
--> +I[2026-01-01T00:00:10, 3]
--! end
--> +I[2026-01-01T00:00:20, 1]
--= Sink(table=[default_catalog.default_database.answers], fields=[window_end, bids], changelogMode=[I])
--= +- Calc(select=[window_end, EXPR$1 AS bids], changelogMode=[I])
--=    +- WindowAggregate(window=[TUMBLE(time_col=[ts], size=[10 s])], select=[window_start, window_end, COUNT(*) AS EXPR$1], changelogMode=[I])
--=       +- Calc(select=[window_start, window_end, window_time], changelogMode=[I])
--=          +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[10 s])], changelogMode=[I])
--=             +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '0.001' SECOND)], changelogMode=[I])
--=                +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, ts], changelogMode=[I])
