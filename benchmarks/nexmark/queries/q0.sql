-- Pass through.
CREATE TABLE q0 (auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), extra VARCHAR) WITH (${SINK});

INSERT INTO q0
SELECT auction, bidder, price, `dateTime`, extra FROM bid;
