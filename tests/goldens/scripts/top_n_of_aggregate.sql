-- Top-N of totals without the rank, second to third place: what an item was leaves, the next comes up.
CREATE TABLE bids (item STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, total INT) WITH ('connector' = 'print');
INSERT INTO answers
SELECT item, total FROM (
  SELECT *, ROW_NUMBER() OVER (ORDER BY total DESC, item) AS place FROM (SELECT item, SUM(price) AS total FROM bids GROUP BY item))
WHERE place BETWEEN 2 AND 3;
--= Sink(table=[default_catalog.default_database.answers], fields=[item, total], changelogMode=[I,UB,UA,D])
--= +- Rank(rankRange=[rankStart=2, rankEnd=3], orderBy=[total DESC, item ASC], changelogMode=[I,UB,UA,D])
--=    +- GroupAggregate(groupBy=[item], select=[item, SUM(price) AS total], changelogMode=[I,UB,UA])
--=       +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price], changelogMode=[I])
--< bids {"item": "a", "price": 5}
--< bids {"item": "b", "price": 4}
--< bids {"item": "c", "price": 3}
--< bids {"item": "d", "price": 2}
--> +I[b, 4] +I[c, 3]
--< bids {"item": "d", "price": 4}
--> -D[c, 3] +I[a, 5]
--! restart
--< bids {"item": "d", "price": -5}
--> -D[a, 5] +I[c, 3]
