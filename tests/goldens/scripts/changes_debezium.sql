-- Changes of a database's table, as Debezium tells them: an update takes the old row away and brings the new one.
CREATE TABLE people (id INT, name STRING, born DATE, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/people', 'format' = 'debezium-json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (id INT, name STRING, y BIGINT) WITH ('connector' = 'print');
INSERT INTO answers SELECT id, UPPER(name), YEAR(born) FROM people;
--= Sink(table=[default_catalog.default_database.answers], fields=[id, name, y], changelogMode=[I,UB,UA,D])
--= +- Calc(select=[id, UPPER(name) AS name, YEAR(born) AS y], changelogMode=[I,UB,UA,D])
--=    +- TableSourceScan(table=[[default_catalog, default_database, people]], fields=[id, name, born], changelogMode=[I,UB,UA,D])
--< people {"before": null, "after": {"id": 1, "name": "ann", "born": "1990-01-02"}, "op": "c"}
--< people {"before": null, "after": {"id": 2, "name": "bob"}, "op": "r"}
--> +I[1, ANN, 1990]  +I[2, BOB, null]
--< people {"before": {"id": 1, "name": "ann", "born": "1990-01-02"}, "after": {"id": 1, "name": "žofie", "born": "1990-01-02"}, "op": "u"}
--> -U[1, ANN, 1990]  +U[1, ŽOFIE, 1990]
--! restart
--< people {"before": {"id": 2, "name": "bob"}, "op": "d"}
--> -D[2, BOB, null]
