-- ORDER BY with LIMIT over rows that only come is a Top-N of all of them; OFFSET leaves the first out.
CREATE TABLE bids (item STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item STRING, price INT) WITH ('connector' = 'print');
INSERT INTO answers SELECT item, price FROM bids ORDER BY price DESC, item LIMIT 2 OFFSET 1;
--= Sink(table=[default_catalog.default_database.answers], fields=[item, price], changelogMode=[I,UB,UA,D])
--= +- Rank(rankRange=[rankStart=2, rankEnd=3], orderBy=[price DESC, item ASC], changelogMode=[I,UB,UA,D])
--=    +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price], changelogMode=[I])
--< bids {"item": "a", "price": 5}
--< bids {"item": "b", "price": 4}
--< bids {"item": "c", "price": null}
--> +I[b, 4] +I[c, null]
--! restart
--< bids {"item": "d", "price": 4}
--> -D[c, null] +I[d, 4]
