"""From the logical plan to Spark DataFrames."""
