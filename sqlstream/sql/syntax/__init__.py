"""Flink's SQL as sqlglot's trees, and back."""
