-- Where does money come from and go to: cash, other banks, cards? Debits count below zero.
INSERT INTO money_movements
SELECT transactionId, accountId, 'cash' AS channel, amount, eventTime_ltz
FROM transactions
WHERE operation = 'CREDIT_IN_CASH'
UNION ALL
SELECT transactionId, accountId, 'cash', -amount, eventTime_ltz
FROM debits
WHERE operation = 'WITHDRAWAL_IN_CASH'
UNION ALL
SELECT transactionId, accountId, 'other bank', CASE WHEN `type` = 'Debit' THEN -amount ELSE amount END, eventTime_ltz
FROM transactions
WHERE operation LIKE '%ANOTHER_BANK'
UNION ALL
SELECT transactionId, accountId, 'card', -amount, eventTime_ltz
FROM debits
WHERE operation = 'CREDIT_CARD_WITHDRAWAL';
