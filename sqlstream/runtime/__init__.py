"""Plans as running Spark queries: the engine, lowering, jobs, SELECT, figures; our operators in Java."""
