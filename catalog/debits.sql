-- Only the money that leaves accounts. A view keeps the time attribute, so windows can be put over it.
CREATE VIEW debits AS
SELECT transactionId, accountId, customerId, operation, amount, balance, eventTime_ltz
FROM transactions
WHERE `type` = 'Debit';
