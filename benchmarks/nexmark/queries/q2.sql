-- The bids of every 123rd auction.
CREATE TABLE q2 (auction BIGINT, price BIGINT) WITH (${SINK});

INSERT INTO q2
SELECT auction, price FROM bid WHERE MOD(auction, 123) = 0;
