-- What goes through an account, window by window?
-- :account STRING -- the account, as A00017
-- :size INTERVAL = 1 MINUTE -- the length of a window
-- :least DECIMAL(12, 2) = 0 -- smaller amounts are left out
SELECT window_start, window_end, COUNT(*) AS cnt, SUM(amount) AS turnover
FROM TABLE(TUMBLE(TABLE transactions, DESCRIPTOR(eventTime_ltz), :size))
WHERE accountId = :account AND amount >= :least
GROUP BY window_start, window_end;
