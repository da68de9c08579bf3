-- What did each customer order in the last ten seconds?
SELECT window_end, customer, CAST(COUNT(*) AS INT) AS orders, CAST(SUM(amount) AS DECIMAL(10, 2)) AS total
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '10' SECONDS))
GROUP BY window_start, window_end, customer;
