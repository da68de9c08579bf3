"""The dialect as a library: Flink's SQL as sqlglot's trees, and back."""
