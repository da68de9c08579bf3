-- Deduplication that keeps the last row by rowtime: a later row replaces the one that is kept, one of the same time too, an earlier one does not.
CREATE TABLE moves (id INT, place STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/moves', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (id INT, place STRING) WITH ('connector' = 'print');
INSERT INTO answers SELECT id, place FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts DESC) AS n FROM moves) WHERE n = 1;
--! ordered
--= Sink(table=[default_catalog.default_database.answers], fields=[id, place], changelogMode=[I,UB,UA])
--= +- Calc(select=[id, place], changelogMode=[I,UB,UA])
--=    +- Rank(rankRange=[rankStart=1, rankEnd=1], partitionBy=[id], orderBy=[ts DESC], changelogMode=[I,UB,UA])
--=       +- TableSourceScan(table=[[default_catalog, default_database, moves]], fields=[id, place, ts], changelogMode=[I])
--< moves {"id": 1, "place": "x", "ts": "2024-01-01 00:00:05"}
--< moves {"id": null, "place": "n", "ts": "2024-01-01 00:00:05"}
--> +I[1, x] +I[null, n]
--< moves {"id": 1, "place": "y", "ts": "2024-01-01 00:00:04"}
--! restart
--< moves {"id": 1, "place": "z", "ts": "2024-01-01 00:00:05"}
--> -U[1, x] +U[1, z]
--< moves {"id": 1, "place": "w", "ts": "2024-01-01 00:01:05"}
--< moves {"id": null, "place": "m", "ts": "2024-01-01 00:00:01"}
--> -U[1, z] +U[1, w]
