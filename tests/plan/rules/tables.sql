CREATE TABLE clicks (who STRING, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'topic' = 'clicks', 'properties.bootstrap.servers' = 'localhost:1', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE visits (who STRING, page STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'topic' = 'visits', 'properties.bootstrap.servers' = 'localhost:1', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE accounts (id INT, owner STRING, city STRING, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'kafka', 'topic' = 'accounts', 'properties.bootstrap.servers' = 'localhost:1', 'format' = 'debezium-json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE homes (owner STRING, city STRING, since TIMESTAMP(3), WATERMARK FOR since AS since, PRIMARY KEY (owner) NOT ENFORCED)
WITH ('connector' = 'kafka', 'topic' = 'homes', 'properties.bootstrap.servers' = 'localhost:1', 'format' = 'debezium-json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE totals (name STRING, total BIGINT, PRIMARY KEY (name) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'totals');
