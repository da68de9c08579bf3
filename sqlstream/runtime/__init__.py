"""Plans as running Spark queries: jobs, SELECT, the operators, the engine."""
