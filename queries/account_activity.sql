-- How busy was each account in the last five minutes? One answer a minute.
INSERT INTO account_activity
SELECT window_start, window_end, accountId, COUNT(*) AS cnt, SUM(amount) AS turnover, MAX(amount) AS largest
FROM TABLE(HOP(TABLE transactions, DESCRIPTOR(eventTime_ltz), INTERVAL '1' MINUTE, INTERVAL '5' MINUTES))
GROUP BY window_start, window_end, accountId;
