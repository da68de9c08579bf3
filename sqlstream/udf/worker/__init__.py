"""What Spark's Python workers run: calls of functions, their values, their errors."""
