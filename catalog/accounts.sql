-- The accounts: one record for every version of an account; the topic is compacted and keyed by accountId.
CREATE TABLE accounts (
  accountId      STRING,
  customerId     STRING,
  frequency      STRING COMMENT 'how often its statements are issued',
  openedOn       DATE,
  updateTime     BIGINT COMMENT 'since when this version holds, in milliseconds since 1970',
  updateTime_ltz AS TO_TIMESTAMP_LTZ(updateTime, 3),
  WATERMARK FOR updateTime_ltz AS updateTime_ltz - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka',
  'topic' = 'accounts',
  'properties.bootstrap.servers' = '${env:KAFKA_BOOTSTRAP}',
  'properties.group.id' = 'bank',
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'json'
);
