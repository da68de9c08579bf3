-- A script of two hundred lines as people write them: tables, views that build on each other, and a statement set over all kinds of queries.
SET 'table.local-time-zone' = 'UTC';
SET 'execution.runtime-mode' = 'streaming';

CREATE TABLE bids (
    auction BIGINT,
    bidder BIGINT,
    price DECIMAL(12, 2),
    channel STRING,
    url STRING,
    tags ARRAY<STRING>,
    details ROW<city STRING, device ROW<name STRING, os STRING>>,
    attributes MAP<STRING, STRING>,
    ts TIMESTAMP(3),
    day_of AS DATE_FORMAT(ts, 'yyyy-MM-dd'),
    arrived AS PROCTIME(),
    `partition` INT METADATA VIRTUAL,
    WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
    'connector' = 'kafka',
    'topic' = 'bids',
    'properties.bootstrap.servers' = 'localhost:9092',
    'scan.startup.mode' = 'earliest-offset',
    'format' = 'json',
    'json.ignore-parse-errors' = 'true'
);
CREATE TABLE auctions (
    id BIGINT,
    item STRING,
    category INT,
    seller BIGINT,
    reserve DECIMAL(12, 2),
    expires TIMESTAMP(3),
    ts TIMESTAMP(3),
    WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
    'connector' = 'kafka',
    'topic' = 'auctions',
    'properties.bootstrap.servers' = 'localhost:9092',
    'scan.startup.mode' = 'earliest-offset',
    'format' = 'json'
);
CREATE TABLE people (
    id BIGINT,
    name STRING,
    email STRING,
    city STRING,
    state STRING,
    PRIMARY KEY (id) NOT ENFORCED
) WITH (
    'connector' = 'delta',
    'table-path' = 'people'
);
CREATE TABLE prices (auction BIGINT, price DECIMAL(12, 2), price_class STRING, host STRING, at_ TIMESTAMP(3)) WITH ('connector' = 'blackhole');
CREATE TABLE minutes (channel STRING, starts TIMESTAMP(3), ends TIMESTAMP(3), bids BIGINT, bidders BIGINT, total DECIMAL(38, 2), mean DECIMAL(38, 6)) WITH ('connector' = 'blackhole');
CREATE TABLE sellers (seller BIGINT, auctions BIGINT, reserve DECIMAL(38, 2), categories STRING) WITH ('connector' = 'blackhole');
CREATE TABLE best (auction BIGINT, bidder BIGINT, price DECIMAL(12, 2), place BIGINT) WITH ('connector' = 'blackhole');
CREATE TABLE latest (bidder BIGINT, channel STRING, ts TIMESTAMP(3)) WITH ('connector' = 'blackhole');
CREATE TABLE matched (auction BIGINT, item STRING, price DECIMAL(12, 2), above DECIMAL(13, 2), took INT) WITH ('connector' = 'blackhole');
CREATE TABLE totals (bidder BIGINT, ts TIMESTAMP(3), total DECIMAL(38, 2), bids BIGINT, below DECIMAL(13, 2)) WITH ('connector' = 'blackhole');
CREATE TABLE words (auction BIGINT, tag STRING, long_tag STRING, size_of_tags INT) WITH ('connector' = 'blackhole');
CREATE TABLE texts (c0 STRING, c1 STRING, c2 BIGINT, c3 STRING, c4 STRING, c5 BOOLEAN, c6 STRING, c7 STRING) WITH ('connector' = 'blackhole');

CREATE VIEW normal AS
SELECT
    auction,
    bidder,
    price * 0.908 AS euros,
    CASE
        WHEN price < 100 THEN 'low'
        WHEN price BETWEEN 100 AND 10000 THEN 'middle'
        WHEN price IS NULL THEN 'none'
        ELSE 'high'
    END AS price_class,
    LOWER(TRIM(BOTH ' ' FROM channel)) AS channel,
    REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2) AS channel_id,
    SPLIT_INDEX(url, '/', 3) AS host,
    details.device.name AS device,
    COALESCE(attributes['country'], details.city, 'unknown') AS place,
    tags,
    ts
FROM bids
WHERE bidder IS NOT NULL
    AND MOD(auction, 2) = 0
    AND (channel IN ('Google', 'Apple', 'Baidu') OR url LIKE '%item%');

CREATE VIEW windowed AS
SELECT *
FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '1' MINUTE));

CREATE VIEW expensive AS
SELECT a.id, a.item, a.seller, a.category, a.reserve, b.price, b.bidder, a.ts AS opened, b.ts AS bid_at
FROM auctions AS a
JOIN bids AS b ON a.id = b.auction AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '10' MINUTE
WHERE b.price > a.reserve;

CREATE VIEW numbered AS
SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC, bidder) AS place
FROM bids;

EXPLAIN STATEMENT SET BEGIN

INSERT INTO prices
SELECT auction, CAST(euros AS DECIMAL(12, 2)), price_class, host, ts
FROM normal
WHERE price_class <> 'none' AND CHAR_LENGTH(host) > 3;

INSERT INTO minutes
SELECT
    channel,
    window_start,
    window_end,
    COUNT(*) AS bids,
    COUNT(DISTINCT bidder) AS bidders,
    SUM(price) AS total,
    AVG(price) AS mean
FROM windowed
GROUP BY channel, window_start, window_end
HAVING COUNT(*) > 1;

INSERT INTO minutes
SELECT
    channel,
    window_start,
    window_end,
    COUNT(*) FILTER (WHERE price > 100),
    COUNT(DISTINCT bidder) FILTER (WHERE price > 100),
    SUM(price) FILTER (WHERE price > 100),
    AVG(price) FILTER (WHERE price > 100)
FROM TABLE(HOP(TABLE bids, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE))
GROUP BY channel, window_start, window_end;

INSERT INTO sellers
SELECT
    seller,
    COUNT(*) AS auctions,
    SUM(reserve) AS reserve,
    LISTAGG(CAST(category AS STRING), '|') AS categories
FROM auctions
GROUP BY seller;

INSERT INTO best
SELECT auction, bidder, price, place
FROM numbered
WHERE place <= 10;

INSERT INTO latest
SELECT bidder, channel, ts
FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY bidder ORDER BY ts DESC) AS n
    FROM bids
)
WHERE n = 1;

INSERT INTO matched
SELECT
    id,
    UPPER(item),
    price,
    price - reserve,
    TIMESTAMPDIFF(SECOND, opened, bid_at)
FROM expensive
WHERE seller IN (SELECT id FROM people WHERE state IN ('OR', 'ID', 'CA'));

INSERT INTO totals
SELECT
    bidder,
    ts,
    SUM(price) OVER w,
    COUNT(*) OVER w,
    MAX(price) OVER w - price
FROM bids
WINDOW w AS (PARTITION BY bidder ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW);

INSERT INTO words
SELECT n.auction, t.tag, UPPER(t.tag) || '-' || n.device, CARDINALITY(n.tags)
FROM normal AS n
CROSS JOIN UNNEST(n.tags) AS t (tag)
WHERE t.tag <> '';

INSERT INTO texts
SELECT
    CONCAT_WS('-', a.item, p.name, p.city),
    IF(p.email IS NULL, 'nobody', SUBSTRING(p.email FROM 1 FOR POSITION('@' IN p.email))),
    EXTRACT(DAY FROM a.ts) + CAST(ROUND(a.reserve) AS INT),
    DATE_FORMAT(a.expires, 'yyyy-MM-dd HH:mm'),
    REGEXP_REPLACE(LPAD(p.name, 10, '*'), '[aeiou]', '_'),
    a.expires > a.ts + INTERVAL '1' DAY AND NOT p.state = 'OR',
    JSON_VALUE(p.city, '$.name'),
    CASE p.state WHEN 'OR' THEN 'Oregon' WHEN 'ID' THEN 'Idaho' ELSE NULLIF(p.state, '') END
FROM auctions AS a
LEFT JOIN people AS p ON a.seller = p.id;

END;
