-- What is each transaction: small, ordinary, large or huge, and how does its operation read in plain words?
SELECT
  transactionId,
  CASE
    WHEN amount IS NULL THEN 'unknown'
    WHEN amount < 500 THEN 'small'
    WHEN amount < 5000 THEN 'ordinary'
    WHEN amount < 20000 THEN 'large'
    ELSE 'huge'
  END AS category,
  LOWER(REPLACE(operation, '_', ' ')) AS operation,
  CASE `type` WHEN 'Debit' THEN -amount ELSE amount END AS change,
  CAST(amount AS INT) AS crowns,
  COALESCE(UPPER(SUBSTRING(customerId FROM 2)), 'nobody') AS customer
FROM transactions;
