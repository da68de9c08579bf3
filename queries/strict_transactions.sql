-- Is every record of the topic one that its table can read? With the hint the first one that is not fails the query;
-- without it (and in all other queries) a record that is cut off is skipped, and an amount that is no number is NULL.
-- To see it fail, make such records:
--   python -m sqlstream.cli.bank transactions --count 1000 --bad-every 500 > records
--   sqlstream kafka produce transactions records --key-separator '\t'
SELECT transactionId, accountId, amount, `partition`, `offset`, `timestamp`
FROM transactions /*+ OPTIONS('json.ignore-parse-errors' = 'false') */;
