-- Filled by queries/cash_and_cards.sql.
CREATE TABLE card_minutes (
  window_start TIMESTAMP(3),
  window_end   TIMESTAMP(3),
  cnt          BIGINT,
  total        DECIMAL(38, 2)
) WITH (
  'connector' = 'delta',
  'table-path' = '.sqlstream/tables/card_minutes'
);
