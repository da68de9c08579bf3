"""The development broker: a Kafka of one's own, and its commands."""
