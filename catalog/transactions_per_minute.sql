-- Filled by queries/transactions_per_minute.sql.
CREATE TABLE transactions_per_minute (
  window_start TIMESTAMP(3),
  window_end   TIMESTAMP(3),
  `type`       STRING,
  cnt          BIGINT,
  total        DECIMAL(38, 2)
) WITH (
  'connector' = 'delta',
  'table-path' = '.sqlstream/tables/transactions_per_minute'
);
