-- How much money came in and went out so far? The numbers change with every transaction.
SELECT -- noqa: L001: there are two types
  `type`,
  COUNT(*) AS cnt,
  SUM(amount) AS total,
  MIN(amount) AS smallest,
  MAX(amount) AS largest
FROM transactions
GROUP BY `type`;
