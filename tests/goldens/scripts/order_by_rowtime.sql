-- Bids in the order of their times, of one time the dearest first and NULL behind the others, as the watermark passes them.
CREATE TABLE bids (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, price INT, ts TIMESTAMP(3)) WITH ('connector' = 'print');
INSERT INTO answers SELECT item, price, ts FROM bids ORDER BY ts, price DESC;
--= Sink(table=[default_catalog.default_database.answers], fields=[item, price, ts], changelogMode=[I])
--= +- TemporalSort(orderBy=[ts ASC, price DESC], changelogMode=[I])
--=    +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '2' SECOND)], changelogMode=[I])
--=       +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price, ts], changelogMode=[I])
--< bids {"item": "a", "price": 7, "ts": "2026-01-01 00:00:03"}
--< bids {"item": "b", "price": null, "ts": "2026-01-01 00:00:01"}
--< bids {"item": null, "price": 1, "ts": "2026-01-01 00:00:01"}
--< bids {"item": "c", "price": 1, "ts": "2026-01-01 00:00:04"}
--> +I[null, 1, 2026-01-01T00:00:01] +I[b, null, 2026-01-01T00:00:01]
--! restart
--< bids {"item": "d", "price": 8, "ts": "2026-01-01 00:00:03"}
--< bids {"item": "e", "price": 1, "ts": "2026-01-01 00:00:05.500"}
--> +I[d, 8, 2026-01-01T00:00:03] +I[a, 7, 2026-01-01T00:00:03]
--<late bids {"item": "late", "price": 1, "ts": "2026-01-01 00:00:03"}
--! end
--> +I[c, 1, 2026-01-01T00:00:04] +I[e, 1, 2026-01-01T00:00:05.500]
