"""The grammar of Flink's SQL: text to lexemes, tokens and sqlglot's trees."""
