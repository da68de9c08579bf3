"""A cluster of Kafka brokers without a JVM: the one that librdkafka's own tests use. It speaks no TLS and no SASL, and creates each topic it hears of."""

from __future__ import annotations

from confluent_kafka import Producer


class MockKafka:
    """``bootstrap`` is its address; it lives as long as this object. A topic has four partitions."""

    def __init__(self) -> None:
        self._cluster = Producer({"test.mock.num.brokers": 1, "log_level": 0})
        (broker,) = self._cluster.list_topics(timeout=10).brokers.values()
        self.bootstrap = f"{broker.host}:{broker.port}"

    def produce(self, topic: str, *records: tuple[int, bytes | None, bytes | None], partition: int = 0, codec: str = "none") -> None:
        """Send records of (time, key, value), as one batch."""
        producer = Producer({"bootstrap.servers": self.bootstrap, "compression.type": codec, "linger.ms": 5, "log_level": 0})
        producer.list_topics(topic, timeout=10)
        for time, key, value in records:
            producer.produce(topic, value, key, partition, timestamp=time)
        assert producer.flush(10) == 0
