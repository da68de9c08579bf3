-- An auction site in the style of the Nexmark benchmark: every query shape that it has.
SET 'table.local-time-zone' = 'UTC';
CREATE TABLE events (
  kind INT,
  person ROW<id BIGINT, name VARCHAR, `emailAddress` VARCHAR, city VARCHAR, state VARCHAR, `dateTime` TIMESTAMP(3), extra VARCHAR>,
  auction ROW<id BIGINT, `itemName` VARCHAR, `initialBid` BIGINT, reserve BIGINT, `dateTime` TIMESTAMP(3), expires TIMESTAMP(3),
              seller BIGINT, category BIGINT, extra VARCHAR>,
  bid ROW<auction BIGINT, bidder BIGINT, price BIGINT, channel VARCHAR, url VARCHAR, `dateTime` TIMESTAMP(3), extra VARCHAR>,
  `dateTime` AS CASE WHEN kind = 0 THEN person.`dateTime` WHEN kind = 1 THEN auction.`dateTime` ELSE bid.`dateTime` END,
  WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND
) WITH ('connector' = 'nexmark', 'next-event.rate' = '${TPS}', --//'first-event.rate' = '1' <-- as it pleases
  'events.num' = '0');
CREATE VIEW people AS SELECT person.id, person.name, person.city, person.state, `dateTime`, person.extra FROM events WHERE kind = 0;
CREATE VIEW auctions AS SELECT auction.id, auction.`itemName`, auction.reserve, `dateTime`, auction.expires, auction.seller, auction.category FROM events WHERE kind = 1;
CREATE VIEW bids AS SELECT bid.auction, bid.bidder, bid.price, bid.channel, bid.url, `dateTime`, bid.extra FROM events WHERE kind = 2;
INSERT INTO passed SELECT auction, bidder, price, `dateTime`, extra FROM bids;
INSERT INTO euros SELECT auction, bidder, 0.908 * price AS price, `dateTime` FROM bids;
INSERT INTO chosen SELECT auction, price FROM bids WHERE MOD(auction, 123) = 0;
INSERT INTO sellers
  SELECT p.name, p.city, p.state, a.id FROM auctions AS a INNER JOIN people AS p ON a.seller = p.id
  WHERE a.category = 10 AND (p.state = 'OR' OR p.state = 'ID' OR p.state = 'CA');
INSERT INTO average_by_category
  SELECT q.category, AVG(q.final)
  FROM (SELECT MAX(b.price) AS final, a.category FROM auctions a, bids b
        WHERE a.id = b.auction AND b.`dateTime` BETWEEN a.`dateTime` AND a.expires GROUP BY a.id, a.category) q
  GROUP BY q.category;
INSERT INTO hot_items
  SELECT ab.auction, ab.num
  FROM (SELECT auction, COUNT(*) AS num, window_start AS starttime, window_end AS endtime
        FROM TABLE(HOP(TABLE bids, DESCRIPTOR(`dateTime`), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
        GROUP BY auction, window_start, window_end) AS ab
  JOIN (SELECT MAX(cb.num) AS maxn, cb.starttime, cb.endtime
        FROM (SELECT COUNT(*) AS num, window_start AS starttime, window_end AS endtime
              FROM TABLE(HOP(TABLE bids, DESCRIPTOR(`dateTime`), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
              GROUP BY auction, window_start, window_end) AS cb
        GROUP BY cb.starttime, cb.endtime) AS mb
  ON ab.starttime = mb.starttime AND ab.endtime = mb.endtime AND ab.num >= mb.maxn;
INSERT INTO average_by_seller
  SELECT seller, AVG(final) OVER (PARTITION BY seller ORDER BY `dateTime` ROWS BETWEEN 10 PRECEDING AND CURRENT ROW)
  FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id, seller ORDER BY final DESC) AS rownum
        FROM (SELECT a.id, a.seller, b.price AS final, b.`dateTime` FROM auctions AS a, bids AS b WHERE a.id = b.auction))
  WHERE rownum <= 1;
INSERT INTO highest
  SELECT b.auction, b.price, b.bidder, b.`dateTime`
  FROM bids b JOIN (SELECT MAX(price) AS maxprice, window_end AS `dateTime`
                    FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND)) GROUP BY window_start, window_end) b1
  ON b.price = b1.maxprice
  WHERE b.`dateTime` BETWEEN b1.`dateTime` - INTERVAL '10' SECOND AND b1.`dateTime`;
INSERT INTO new_sellers
  SELECT p.id, p.name, p.starttime
  FROM (SELECT id, name, window_start AS starttime, window_end AS endtime
        FROM TABLE(TUMBLE(TABLE people, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND)) GROUP BY id, name, window_start, window_end) p
  JOIN (SELECT seller, window_start AS starttime, window_end AS endtime
        FROM TABLE(TUMBLE(TABLE auctions, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND)) GROUP BY seller, window_start, window_end) a
  ON p.id = a.seller AND p.starttime = a.starttime AND p.endtime = a.endtime;
INSERT INTO winners
  SELECT id, `itemName`, reserve, auction, bidder, price
  FROM (SELECT a.*, b.auction, b.bidder, b.price, ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.`dateTime` ASC) AS rownum
        FROM auctions a, bids b WHERE a.id = b.auction AND b.`dateTime` BETWEEN a.`dateTime` AND a.expires)
  WHERE rownum <= 1;
INSERT INTO log SELECT auction, price, DATE_FORMAT(`dateTime`, 'yyyy-MM-dd'), DATE_FORMAT(`dateTime`, 'HH:mm') FROM bids;
INSERT INTO sessions
  SELECT bidder, COUNT(*) AS bid_count, SESSION_START(`dateTime`, INTERVAL '10' SECOND) AS starttime, SESSION_END(`dateTime`, INTERVAL '10' SECOND) AS endtime
  FROM bids GROUP BY bidder, SESSION(`dateTime`, INTERVAL '10' SECOND);
INSERT INTO processing
  SELECT bidder, COUNT(*), TUMBLE_START(p_time, INTERVAL '10' SECOND) FROM (SELECT *, PROCTIME() AS p_time FROM bids)
  GROUP BY bidder, TUMBLE(p_time, INTERVAL '10' SECOND);
INSERT INTO enriched
  SELECT b.auction, b.price, s.`value`
  FROM (SELECT *, PROCTIME() AS p_time FROM bids) b
  JOIN side_input FOR SYSTEM_TIME AS OF b.p_time AS s ON MOD(b.auction, 10000) = s.key;
INSERT INTO day_times
  SELECT auction, 0.908 * price,
    CASE WHEN HOUR(`dateTime`) >= 8 AND HOUR(`dateTime`) <= 18 THEN 'dayTime'
         WHEN HOUR(`dateTime`) <= 6 OR HOUR(`dateTime`) >= 20 THEN 'nightTime' ELSE 'otherTime' END AS bidTimeType,
    count_char(extra, 'c') AS c_counts
  FROM bids WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000;
INSERT INTO per_day
  SELECT DATE_FORMAT(`dateTime`, 'yyyy-MM-dd') AS `day`, COUNT(*) AS total_bids,
    COUNT(*) FILTER (WHERE price < 10000) AS rank1_bids,
    COUNT(*) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_bids,
    COUNT(DISTINCT bidder) AS total_bidders,
    COUNT(DISTINCT bidder) FILTER (WHERE price >= 1000000) AS rank3_bidders,
    MAX(DATE_FORMAT(`dateTime`, 'HH:mm')) AS `minute`
  FROM bids GROUP BY DATE_FORMAT(`dateTime`, 'yyyy-MM-dd');
INSERT INTO latest
  SELECT auction, bidder, price FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY bidder, auction ORDER BY `dateTime` DESC) AS rank_number FROM bids)
  WHERE rank_number <= 1;
INSERT INTO joined
  SELECT b.auction, b.bidder, a.`itemName` FROM bids AS b INNER JOIN auctions AS a ON b.auction = a.id WHERE a.category = 10;
INSERT INTO channels
  SELECT auction, channel,
    CASE WHEN LOWER(channel) = 'apple' THEN '0' WHEN LOWER(channel) = 'baidu' THEN '3'
         ELSE REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2) END AS channel_id
  FROM bids WHERE REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2) IS NOT NULL OR LOWER(channel) IN ('apple', 'google', 'facebook', 'baidu');
INSERT INTO directories
  SELECT auction, SPLIT_INDEX(url, '/', 3) AS dir1, SPLIT_INDEX(url, '/', 4) AS dir2 FROM bids;
