"""sqlstream: Flink SQL scripts, unchanged, as Spark Structured Streaming jobs over Kafka and Delta."""
