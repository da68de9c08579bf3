-- Which transactions are unlike the others? A model in Python (udfs/banking.py) scores each as it comes.
-- :above DOUBLE = 0.65 -- the least score, from 0 to 1
SELECT transactionId, mask_account(accountId) AS account, amount, balance, ROUND(score, 2) AS score
FROM (SELECT *, unusual(amount, balance) AS score FROM transactions)
WHERE score >= :above;
