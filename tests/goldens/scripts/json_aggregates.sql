-- JSON of the values of rows that change: what a row was is taken out.
CREATE TABLE bids (item STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = '${DIR}/bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (expensive BOOLEAN, items STRING, totals STRING) WITH ('connector' = 'print');
INSERT INTO answers
SELECT total > 10, JSON_OBJECTAGG(KEY item VALUE total), JSON_ARRAYAGG(JSON_OBJECT('t' VALUE total))
FROM (SELECT item, SUM(price) AS total FROM bids WHERE item IS NOT NULL GROUP BY item)
GROUP BY total > 10;
--< bids {"item": "a", "price": 6}
--> +I[false, {"a":6}, [{"t":6}]]
--< bids {"item": "b", "price": null}
--> +I[null, {"b":null}, [{"t":null}]]
--! restart
--< bids {"item": "a", "price": 20}
--> -D[false, {"a":6}, [{"t":6}]] +I[true, {"a":26}, [{"t":26}]]
--< bids {"item": "c", "price": 30}
--> -U[true, {"a":26}, [{"t":26}]] +U[true, {"a":26,"c":30}, [{"t":26},{"t":30}]]
--< bids {"item": "a", "price": 1}
--> -U[true, {"a":26,"c":30}, [{"t":26},{"t":30}]] +U[true, {"a":27,"c":30}, [{"t":30},{"t":27}]]
--= Sink(table=[default_catalog.default_database.answers], fields=[expensive, items, totals], changelogMode=[I,UB,UA,D])
--= +- Calc(select=[$f0 AS expensive, EXPR$1 AS items, EXPR$2 AS totals], changelogMode=[I,UB,UA,D])
--=    +- GroupAggregate(groupBy=[$f0], select=[$f0, JSON_OBJECTAGG(item, $f1) AS EXPR$1, JSON_ARRAYAGG($f2) AS EXPR$2], changelogMode=[I,UB,UA,D])
--=       +- Calc(select=[(total > 10) AS $f0, item, JSON_STRING(total) AS $f1, JSON_STRING(JSON PART(JSON_OBJECT(NULL, 't', total))) AS $f2], changelogMode=[I,UB,UA])
--=          +- GroupAggregate(groupBy=[item], select=[item, SUM(price) AS total], changelogMode=[I,UB,UA])
--=             +- Calc(where=[NOT(item IS NULL)], changelogMode=[I])
--=                +- TableSourceScan(table=[[default_catalog, default_database, bids]], fields=[item, price], changelogMode=[I])
