-- Made-up orders, ten a second, so that there is something to query. A table of a Kafka topic: \infer TOPIC.
CREATE TABLE orders (
  order_id BIGINT,
  customer INT,
  amount DECIMAL(10, 2),
  order_time AS LOCALTIMESTAMP,
  WATERMARK FOR order_time AS order_time - INTERVAL '1' SECOND
) WITH (
  'connector' = 'datagen',
  'rows-per-second' = '10',
  'fields.order_id.min' = '1',
  'fields.order_id.max' = '1000000',
  'fields.customer.min' = '1',
  'fields.customer.max' = '5',
  'fields.amount.min' = '1',
  'fields.amount.max' = '500'
);
