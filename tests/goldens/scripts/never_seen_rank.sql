-- A row goes that never came: it is none of the first.
CREATE TABLE d (k INT, v INT) WITH ('connector' = 'filesystem', 'path' = '${DIR}/d', 'format' = 'debezium-json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (k INT, v INT) WITH ('connector' = 'print');
INSERT INTO answers SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS n FROM d) WHERE n <= 2;
--= Sink(table=[default_catalog.default_database.answers], fields=[k, v], changelogMode=[I,UB,UA,D])
--= +- Rank(rankRange=[rankStart=1, rankEnd=2], partitionBy=[k], orderBy=[v ASC], changelogMode=[I,UB,UA,D])
--=    +- TableSourceScan(table=[[default_catalog, default_database, d]], fields=[k, v], changelogMode=[I,UB,UA,D])
--< d {"before": {"k": 1, "v": 10}, "after": null, "op": "d"}
--< d {"before": null, "after": {"k": 1, "v": 10}, "op": "c"}
--< d {"before": null, "after": {"k": 2, "v": 20}, "op": "c"}
--< d {"before": {"k": 2, "v": 20}, "after": null, "op": "d"}
--< d {"before": {"k": 2, "v": 20}, "after": null, "op": "d"}
--< d {"before": null, "after": {"k": 2, "v": 20}, "op": "c"}
--< d {"before": {"k": 4, "v": 40}, "after": null, "op": "d"}
--< d {"before": null, "after": {"k": 7, "v": 70}, "op": "c"}
--< d {"before": null, "after": {"k": 7, "v": 71}, "op": "c"}
--< d {"before": {"k": 7, "v": 99}, "after": null, "op": "d"}
--< d {"before": {"k": 7, "v": 98}, "after": null, "op": "d"}
--> +I[1, 10]  +I[2, 20]  +I[7, 70]  +I[7, 71]
--! restart
--< d {"before": {"k": 7, "v": 97}, "after": null, "op": "d"}
--< d {"before": null, "after": {"k": 7, "v": 72}, "op": "c"}
--< d {"before": {"k": 7, "v": 70}, "after": null, "op": "d"}
--< d {"before": {"k": 7, "v": 70}, "after": null, "op": "d"}
--< d {"before": null, "after": {"k": 4, "v": 40}, "op": "c"}
--> -D[7, 70]  +I[7, 72]  +I[4, 40]
