"""What runs the statements of a session that have a plan: Spark, or nothing."""
