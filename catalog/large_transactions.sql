-- Filled by queries/large_transactions.sql. A relative path starts at the project's folder.
CREATE TABLE large_transactions (
  transactionId STRING,
  accountId     STRING,
  operation     STRING,
  amount        DECIMAL(12, 2),
  happenedAt    TIMESTAMP_LTZ(3)
) WITH (
  'connector' = 'delta',
  'table-path' = '.sqlstream/tables/large_transactions'
);
