-- The customers: one record for every version of a customer; the topic is compacted and keyed by customerId.
CREATE TABLE customers (
  customerId     STRING,
  firstName      STRING,
  lastName       STRING,
  birthDate      DATE,
  city           STRING,
  updateTime     BIGINT COMMENT 'since when this version holds, in milliseconds since 1970',
  updateTime_ltz AS TO_TIMESTAMP_LTZ(updateTime, 3),
  WATERMARK FOR updateTime_ltz AS updateTime_ltz - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka',
  'topic' = 'customers',
  'properties.bootstrap.servers' = '${env:KAFKA_BOOTSTRAP}',
  'properties.group.id' = 'bank',
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'json'
);
