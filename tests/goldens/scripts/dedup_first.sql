-- Deduplication that keeps the first row by rowtime, in an aggregate: an earlier row that comes later replaces the one that is kept.
CREATE TABLE moves (id INT, place STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/moves', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (place STRING, starts BIGINT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT place, COUNT(*) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts) AS n FROM moves) WHERE n = 1 GROUP BY place;
--= Rank(rankRange=[rankStart=1, rankEnd=1], partitionBy=[id], orderBy=[ts ASC], changelogMode=[I,UB,UA])
--< moves {"id": 1, "place": "x", "ts": "2024-01-01 00:00:05"}
--< moves {"id": 2, "place": "x", "ts": "2024-01-01 00:00:05"}
--> +I[x, 2]
--< moves {"id": 1, "place": "y", "ts": "2024-01-01 00:00:04"}
--> -U[x, 2] +U[x, 1] +I[y, 1]
--! restart
--< moves {"id": 2, "place": "y", "ts": "2024-01-01 00:00:03"}
--< moves {"id": 1, "place": "z", "ts": "2024-01-01 00:00:04.500"}
--> -D[x, 1] -U[y, 1] +U[y, 2]
