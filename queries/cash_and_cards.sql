-- What is drawn in cash, one by one, and how often are cards used in a minute? Two tables, one job.
EXECUTE STATEMENT SET
BEGIN
  INSERT INTO cash_withdrawals
  SELECT transactionId, accountId, amount, eventTime_ltz
  FROM debits
  WHERE operation = 'WITHDRAWAL_IN_CASH';

  INSERT INTO card_minutes
  SELECT window_start, window_end, COUNT(*), SUM(amount)
  FROM TABLE(TUMBLE(TABLE transactions, DESCRIPTOR(eventTime_ltz), INTERVAL '1' MINUTE))
  WHERE operation = 'CREDIT_CARD_WITHDRAWAL'
  GROUP BY window_start, window_end;
END;
