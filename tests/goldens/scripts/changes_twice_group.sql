-- An aggregate above what makes changes of upserts.
SET 'table.exec.source.cdc-events-duplicate' = 'true';
CREATE TABLE people (id INT, city STRING, age INT, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/people', 'format' = 'debezium-json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (city STRING, people BIGINT, oldest INT) WITH ('connector' = 'print');
INSERT INTO answers SELECT city, COUNT(*), MAX(age) FROM people GROUP BY city;
--= Sink(table=[default_catalog.default_database.answers], fields=[city, people, oldest], changelogMode=[I,UB,UA,D])
--= +- Calc(select=[city, EXPR$1 AS people, EXPR$2 AS oldest], changelogMode=[I,UB,UA,D])
--=    +- GroupAggregate(groupBy=[city], select=[city, COUNT(*) AS EXPR$1, MAX(age) AS EXPR$2], changelogMode=[I,UB,UA,D])
--=       +- Calc(select=[city, age], changelogMode=[I,UB,UA,D])
--=          +- ChangelogNormalize(key=[id], changelogMode=[I,UB,UA,D])
--=             +- TableSourceScan(table=[[default_catalog, default_database, people]], fields=[id, city, age], changelogMode=[I,UB,UA,D])
--< people {"before": null, "after": {"id": 1, "city": "Brno", "age": 30}, "op": "c"}
--< people {"before": null, "after": {"id": 2, "city": "Brno", "age": 40}, "op": "c"}
--< people {"before": null, "after": {"id": 2, "city": "Brno", "age": 40}, "op": "c"}
--< people {"before": null, "after": {"id": 3, "city": null, "age": null}, "op": "c"}
--> +I[Brno, 2, 40]  +I[null, 1, null]
--! restart
--< people {"before": {"id": 2, "city": "Brno", "age": 40}, "after": {"id": 2, "city": "Oslo", "age": 41}, "op": "u"}
--< people {"before": {"id": 3, "city": null, "age": null}, "after": null, "op": "d"}
--> -U[Brno, 2, 40]  +U[Brno, 1, 30]  +I[Oslo, 1, 41]  -D[null, 1, null]
