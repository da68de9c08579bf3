"""Kafka: its tables, topics and offsets."""
