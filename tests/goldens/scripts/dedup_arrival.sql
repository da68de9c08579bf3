-- Deduplication that keeps the row that came first: it stays, so rows only come.
CREATE TABLE moves (id INT, place STRING, p AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = '${DIR}/moves', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (id INT, place STRING, n BIGINT) WITH ('connector' = 'print');
INSERT INTO answers SELECT id, place, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY p) AS n FROM moves) WHERE n = 1;
--= Sink(table=[default_catalog.default_database.answers], fields=[id, place, n], changelogMode=[I])
--= +- Calc(select=[id, place, $over0 AS n], changelogMode=[I])
--=    +- Rank(rankRange=[rankStart=1, rankEnd=1], partitionBy=[id], orderBy=[p ASC], changelogMode=[I])
--=       +- Calc(select=[id, place, PROCTIME() AS p], changelogMode=[I])
--=          +- TableSourceScan(table=[[default_catalog, default_database, moves]], fields=[id, place], changelogMode=[I])
--< moves {"id": 1, "place": "x"}
--< moves {"id": null, "place": "n"}
--> +I[1, x, 1] +I[null, n, 1]
--! restart
--< moves {"id": 1, "place": "y"}
--< moves {"id": 2, "place": "y"}
--> +I[2, y, 1]
