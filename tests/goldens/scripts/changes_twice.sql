-- Changes that may be told twice: by its primary key a row is what was told of it last, and what changes nothing gives nothing.
SET 'table.exec.source.cdc-events-duplicate' = 'true';
CREATE TABLE people (id INT, name STRING, shout AS UPPER(name), PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/people', 'format' = 'debezium-json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (id INT, shout STRING) WITH ('connector' = 'print');
INSERT INTO answers SELECT id, shout FROM people WHERE id < 10;
--= Sink(table=[default_catalog.default_database.answers], fields=[id, shout], changelogMode=[I,UB,UA,D])
--= +- Calc(where=[(id < 10)], changelogMode=[I,UB,UA,D])
--=    +- Calc(select=[id, UPPER(name) AS shout], changelogMode=[I,UB,UA,D])
--=       +- ChangelogNormalize(key=[id], changelogMode=[I,UB,UA,D])
--=          +- TableSourceScan(table=[[default_catalog, default_database, people]], fields=[id, name], changelogMode=[I,UB,UA,D])
--< people {"before": null, "after": {"id": 1, "name": "ann"}, "op": "c"}
--< people {"before": null, "after": {"id": 2, "name": null}, "op": "c"}
--< people {"before": null, "after": {"id": 20, "name": "zoe"}, "op": "c"}
--> +I[1, ANN]  +I[2, null]
--< people {"before": null, "after": {"id": 1, "name": "ann"}, "op": "c"}
--< people {"before": {"id": 1, "name": "ann"}, "after": {"id": 1, "name": "anna"}, "op": "u"}
--> -U[1, ANN]  +U[1, ANNA]
--! restart
--< people {"before": {"id": 1, "name": "ann"}, "after": {"id": 1, "name": "anna"}, "op": "u"}
--< people {"before": {"id": 2, "name": null}, "after": null, "op": "d"}
--> -D[2, null]
--< people {"before": {"id": 2, "name": null}, "after": null, "op": "d"}
--< people {"before": null, "after": {"id": 2, "name": "bob"}, "op": "c"}
--> +I[2, BOB]
