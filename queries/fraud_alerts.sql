-- Is someone trying out a stolen card? A debit under 1.00, and within a minute, as the account's next transaction, one over 500.00.
INSERT INTO fraud_alerts
SELECT accountId, probe, amount, transactionId, probedAt, happenedAt
FROM transactions
MATCH_RECOGNIZE (
  PARTITION BY accountId
  ORDER BY eventTime_ltz
  MEASURES
    SMALL.amount AS probe,
    BIG.amount AS amount,
    BIG.transactionId AS transactionId,
    SMALL.eventTime_ltz AS probedAt,
    BIG.eventTime_ltz AS happenedAt
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (SMALL BIG) WITHIN INTERVAL '1' MINUTE
  DEFINE
    SMALL AS SMALL.`type` = 'Debit' AND SMALL.amount < 1.00,
    BIG AS BIG.`type` = 'Debit' AND BIG.amount > 500.00
);
