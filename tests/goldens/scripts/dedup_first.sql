-- Deduplication that keeps the first row by rowtime: it comes out when the watermark has passed it, so that it never changes.
CREATE TABLE moves (id INT, place STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/moves', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (place STRING, starts BIGINT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT place, COUNT(*) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts) AS n FROM moves) WHERE n = 1 GROUP BY place;
--! any order
--= Sink(table=[default_catalog.default_database.answers], fields=[place, starts], changelogMode=[I,UB,UA])
--= +- Calc(select=[place, EXPR$1 AS starts], changelogMode=[I,UB,UA])
--=    +- GroupAggregate(groupBy=[place], select=[place, COUNT(*) AS EXPR$1], changelogMode=[I,UB,UA])
--=       +- Calc(select=[place], changelogMode=[I])
--=          +- Rank(rankRange=[rankStart=1, rankEnd=1], partitionBy=[id], orderBy=[ts ASC], changelogMode=[I])
--=             +- WatermarkAssigner(rowtime=[ts], watermark=[(ts - INTERVAL '1' SECOND)], changelogMode=[I])
--=                +- TableSourceScan(table=[[default_catalog, default_database, moves]], fields=[id, place, ts], changelogMode=[I])
--< moves {"id": 1, "place": "x", "ts": "2024-01-01 00:00:05"}
--< moves {"id": 2, "place": "x", "ts": "2024-01-01 00:00:05"}
--! wait
--< moves {"id": 1, "place": "y", "ts": "2024-01-01 00:00:04"}
--! restart
--<late moves {"id": 2, "place": "y", "ts": "2024-01-01 00:00:03"}
--< moves {"id": 3, "place": "z", "ts": "2024-01-01 00:00:09"}
--> +I[x, 1] +I[y, 1]
--< moves {"id": 1, "place": "z", "ts": "2024-01-01 00:00:08.5"}
--< moves {"id": 4, "place": null, "ts": "2024-01-01 00:00:09"}
--< moves {"id": null, "place": "z", "ts": "2024-01-01 00:00:08.2"}
--! end
--> +I[z, 2] +I[null, 1]
