-- How many debits of each size are there in two minutes, and what share of an account's money is the largest of them?
WITH sized AS (
  SELECT window_start, window_end, amount, share,
    CASE WHEN amount < 500 THEN 'small' WHEN amount < 5000 THEN 'ordinary' ELSE 'large' END AS category
  FROM (
    SELECT window_start, window_end, amount, amount / (amount + balance) AS share
    FROM TABLE(TUMBLE(TABLE debits, DESCRIPTOR(eventTime_ltz), INTERVAL '2' MINUTES))
  )
)
SELECT window_start, window_end, category, COUNT(*) AS cnt, ROUND(MAX(share) * 100, 1) AS largest_percent
FROM sized
GROUP BY window_start, window_end, category;
