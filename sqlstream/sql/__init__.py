"""Flink SQL as text, syntax and types: no catalog, no plan, no Spark."""
