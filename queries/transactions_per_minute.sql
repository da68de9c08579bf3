-- How many transactions of each type does the bank see in a minute, and how much money do they move?
INSERT INTO transactions_per_minute
SELECT window_start, window_end, `type`, COUNT(*) AS cnt, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE transactions, DESCRIPTOR(eventTime_ltz), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, `type`;
