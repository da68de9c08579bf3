-- Filled by queries/money_movements.sql.
CREATE TABLE money_movements (
  transactionId STRING,
  accountId     STRING,
  channel       STRING,
  amount        DECIMAL(13, 2) COMMENT 'below zero where money left the account',
  happenedAt    TIMESTAMP_LTZ(3)
) WITH (
  'connector' = 'delta',
  'table-path' = '.sqlstream/tables/money_movements'
);
