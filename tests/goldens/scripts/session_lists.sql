-- Lists of a session's values are in the order in which the rows have come, not in that of their times.
CREATE TABLE bids (item STRING, v STRING, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, a STRING, b STRING, c ARRAY<INT>, d STRING) WITH ('connector' = 'print');
INSERT INTO answers
SELECT item, LISTAGG(DISTINCT v), LISTAGG(v, '-'), ARRAY_AGG(n), JSON_ARRAYAGG(v)
FROM TABLE(SESSION(TABLE bids PARTITION BY item, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY item, window_start, window_end;
--! ordered
--< bids {"item": "a", "v": "x", "n": 1, "ts": "2026-01-01 00:00:08"}
--< bids {"item": "a", "v": "y", "n": 2, "ts": "2026-01-01 00:00:00"}
--< bids {"item": "a", "v": null, "n": null, "ts": "2026-01-01 00:00:04"}
--< bids {"item": "b", "v": null, "n": 7, "ts": "2026-01-01 00:00:04"}
--! restart
--< bids {"item": "a", "v": "x", "n": 3, "ts": "2026-01-01 00:00:12"}
--< bids {"item": "a", "v": "z", "n": 4, "ts": "2026-01-01 00:00:03"}
--! end
--> +I[a, x,y,z, x-y-x-z, [1, 2, null, 3, 4], ["x","y","x","z"]] +I[b, null, null, [7], []]
--= Sink(table=[default_catalog.default_database.answers], fields=[item, a, b, c, d], changelogMode=[I])
--= +- Calc(select=[item, EXPR$1 AS a, EXPR$2 AS b, EXPR$3 AS c, EXPR$4 AS d], changelogMode=[I])
--=    +- WindowAggregate(groupBy=[item], window=[SESSION(time_col=[ts], gap=[10 s], partition keys=[item])], select=[item, window_start, window_end, LISTAGG(DISTINCT v) AS EXPR$1, LISTAGG(v, '-') AS EXPR$2, ARRAY_AGG(n) AS EXPR$3, JSON_ARRAYAGG($f0) AS EXPR$4], changelogMode=[I])
--=       +- Calc(select=[item, window_start, window_end, v, n, JSON_STRING(v) AS $f0, window_time], changelogMode=[I])
--=          +- WindowTableFunction(window=[SESSION(time_col=[ts], gap=[10 s], partition keys=[item])], changelogMode=[I])
--=             +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '60' SECOND)], changelogMode=[I])
--=                +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, v, n, ts], changelogMode=[I])
