-- Which transactions move 20,000 or more?
INSERT INTO large_transactions
SELECT transactionId, accountId, operation, amount, eventTime_ltz
FROM transactions
WHERE amount >= 20000;
