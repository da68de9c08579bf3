-- Filled by queries/fraud_alerts.sql.
CREATE TABLE fraud_alerts (
  accountId     STRING,
  probe         DECIMAL(12, 2),
  amount        DECIMAL(12, 2),
  transactionId STRING,
  probedAt      TIMESTAMP_LTZ(3),
  happenedAt    TIMESTAMP_LTZ(3)
) WITH (
  'connector' = 'delta',
  'table-path' = '.sqlstream/tables/fraud_alerts'
);
