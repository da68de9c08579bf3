-- Rows of the query meet at one key of the sink: the latest stands there, and the one before it comes back when it goes.
CREATE TABLE clicks (who STRING) WITH ('connector' = 'filesystem', 'path' = '${DIR}/clicks', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (clicks BIGINT, who STRING, PRIMARY KEY (clicks) NOT ENFORCED) WITH ('connector' = 'print');
INSERT INTO answers SELECT COUNT(*), who FROM clicks GROUP BY who ON CONFLICT DO DEDUPLICATE;
--< clicks {"who": "a"}
--> +I[1, a]
--< clicks {"who": "b"}
--> +U[1, b]
--< clicks {"who": "a"}
--> +I[2, a]
--! restart
--< clicks {"who": "c"}
--> +U[1, c]
--< clicks {"who": "c"}
--> +U[1, b]  +U[2, c]
--< clicks {"who": null}
--< clicks {"who": "c"}
--> +U[1, null]  +U[2, a]  +I[3, c]
--= Sink(table=[default_catalog.default_database.answers], fields=[clicks, who], conflictStrategy=[DEDUPLICATE], changelogMode=[I,UA,D])
--= +- Rank(rankRange=[rankStart=1, rankEnd=1], partitionBy=[clicks], changelogMode=[I,UA,D])
--=    +- Calc(select=[EXPR$0 AS clicks, who], changelogMode=[I,UB,UA])
--=       +- GroupAggregate(groupBy=[who], select=[who, COUNT(*) AS EXPR$0], changelogMode=[I,UB,UA])
--=          +- TableSourceScan(table=[[default_catalog, default_database, clicks]], fields=[who], changelogMode=[I])
