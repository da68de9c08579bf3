-- Every movement of money, as the bank's systems report it: JSON, 5 partitions, keyed by account.
-- KAFKA_BOOTSTRAP is the broker's address, as localhost:9092; `sqlstream demo` sets it for itself.
--
-- A record that is no JSON is skipped, and a field that does not fit its type is NULL ('json.ignore-parse-errors').
-- Without that option the first such record fails the job; queries/strict_transactions.sql reads that way.
CREATE TABLE transactions (
  transactionId STRING,
  accountId     STRING,
  customerId    STRING,
  eventTime     BIGINT COMMENT 'when it happened, in milliseconds since 1970',
  `type`        STRING COMMENT 'Credit or Debit',
  operation     STRING COMMENT 'what was done, as WITHDRAWAL_IN_CASH',
  amount        DECIMAL(12, 2),
  balance       DECIMAL(14, 2) COMMENT 'of the account, after it',
  eventTime_ltz AS TO_TIMESTAMP_LTZ(eventTime, 3),
  `partition`   INT METADATA VIRTUAL,
  `offset`      BIGINT METADATA VIRTUAL,
  `timestamp`   TIMESTAMP_LTZ(3) METADATA VIRTUAL,
  WATERMARK FOR eventTime_ltz AS eventTime_ltz - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka',
  'topic' = 'transactions',
  'properties.bootstrap.servers' = '${env:KAFKA_BOOTSTRAP}',
  'properties.group.id' = 'bank',
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'json',
  'json.ignore-parse-errors' = 'true'
);
