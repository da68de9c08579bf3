-- Filled by queries/account_activity.sql.
CREATE TABLE account_activity (
  window_start TIMESTAMP(3),
  window_end   TIMESTAMP(3),
  accountId    STRING,
  cnt          BIGINT,
  turnover     DECIMAL(38, 2),
  largest      DECIMAL(12, 2)
) WITH (
  'connector' = 'delta',
  'table-path' = '.sqlstream/tables/account_activity'
);
