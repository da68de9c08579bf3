-- Filled by queries/cash_and_cards.sql.
CREATE TABLE cash_withdrawals (
  transactionId STRING,
  accountId     STRING,
  amount        DECIMAL(12, 2),
  happenedAt    TIMESTAMP_LTZ(3)
) WITH (
  'connector' = 'delta',
  'table-path' = '.sqlstream/tables/cash_withdrawals'
);
