"""Kafka without a JVM: the latest records of a topic, producers, and what is said where there is no answer."""

import socket
import threading
import time

import pytest

from sqlstream.connectors.kafka.client import BrokerError, KafkaClient
from tests.support.kafka_mock import MockKafka

DAY = 1_767_225_600_000


@pytest.fixture
def kafka():
    return MockKafka()


def client(kafka):
    return KafkaClient({"bootstrap.servers": kafka.bootstrap})


def record(i):
    return DAY + i, f"k{i}".encode(), b'{"n": %d}' % i


def offsets(found):
    return [(r.partition, r.offset) for r in found]


def test_the_last_records_of_all_partitions_by_time(kafka):
    kafka.produce("t", record(0), record(2))
    kafka.produce("t", record(4), record(6), codec="gzip")
    kafka.produce("t", record(1), (DAY + 3, None, None), partition=1)
    kafka.produce("empty")
    assert client(kafka).topics() == {"empty": 4, "t": 4}
    found = client(kafka).latest("t", 4)
    assert offsets(found) == [(0, 1), (1, 1), (0, 2), (0, 3)]
    assert [(r.key, r.value) for r in found] == [(b"k2", b'{"n": 2}'), (None, None), (b"k4", b'{"n": 4}'), (b"k6", b'{"n": 6}')]
    assert [r.timestamp - DAY for r in found] == [2, 3, 4, 6]
    assert len(client(kafka).latest("t", 100)) == 6
    assert client(kafka).latest("empty", 3) == client(kafka).latest("t", 0) == []


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_compressed_records(kafka, codec):
    kafka.produce("t", *[(DAY + i, None, b"abc" * i) for i in range(1000)], codec=codec)
    assert [r.value for r in client(kafka).latest("t", 2000)] == [b"abc" * i for i in range(1000)]
    assert offsets(client(kafka).latest("t", 2)) == [(0, 998), (0, 999)]


def test_records_that_come_meanwhile_are_not_waited_for(kafka):
    kafka.produce("t", record(0))
    ended = threading.Event()

    def writes():
        while not ended.is_set():
            kafka.produce("t", *map(record, range(100)))

    writer = threading.Thread(target=writes)
    writer.start()
    try:
        for _ in range(5):
            found = client(kafka).latest("t", 50)
            assert [r.offset for r in found] == list(range(found[0].offset, found[0].offset + len(found)))
    finally:
        ended.set()
        writer.join()


def test_produced_and_read_again(kafka):
    kafka.produce("t")
    lines = [(b"k%d" % (i % 7), b"v%d" % i) for i in range(20_000)]
    assert client(kafka).produce("t", lines) == 20_000
    found = list(client(kafka).records("t", from_beginning=True, idle_s=1))
    assert sorted((r.key, r.value) for r in found) == sorted(lines)
    for key in {k for k, _ in lines}:
        assert [r.value for r in found if r.key == key] == [v for k, v in lines if k == key]
    # Where Java's producers put a key: murmur2 of its bytes.
    assert {r.partition for r in found if r.key == b"k0"} == {_murmur2(b"k0") % 4}


def _murmur2(data: bytes) -> int:
    """The hash of org.apache.kafka.common.utils.Utils.murmur2, made positive."""
    m, mask = 0x5BD1E995, 0xFFFFFFFF
    h = (0x9747B28C ^ len(data)) & mask
    whole = len(data) // 4 * 4
    for i in range(0, whole, 4):
        k = int.from_bytes(data[i : i + 4], "little") * m & mask
        k = (k ^ k >> 24) * m & mask
        h = h * m & mask ^ k
    if rest := data[whole:]:
        h = (h ^ int.from_bytes(rest, "little")) * m & mask
    h = (h ^ h >> 13) * m & mask
    return (h ^ h >> 15) & 0x7FFFFFFF


def test_an_unknown_topic(kafka):
    kafka.produce("clicks")
    with pytest.raises(BrokerError, match="There is no topic 'click'") as caught:
        client(kafka).latest("click", 1)
    assert caught.value.hint == "Did you mean 'clicks'?"
    with pytest.raises(BrokerError, match="There is no topic 'click'"):
        next(client(kafka).records("click", from_beginning=True))


def test_no_broker_answers():
    began = time.monotonic()
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # and no one listens
        for ask in (KafkaClient.topics, lambda c: c.latest("t", 1), lambda c: c.produce("t", [(None, b"x")]), lambda c: c.create_topic("t", 1, {})):
            with pytest.raises(BrokerError, match=r"No Kafka broker answers at 127.0.0.1:\d+\.$") as caught:
                ask(KafkaClient({"bootstrap.servers": f"127.0.0.1:{closed.getsockname()[1]}"}))
            assert "properties.bootstrap.servers" in caught.value.hint
    assert time.monotonic() - began < 30, "refused connections need no long wait"
    with pytest.raises(BrokerError, match="the host is not known"):
        KafkaClient({"bootstrap.servers": "nowhere.invalid:9092"}).topics()


def test_a_port_that_says_nothing_ends_the_wait_in_time():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        began = time.monotonic()
        with pytest.raises(BrokerError, match="No Kafka broker answers"):
            KafkaClient({"bootstrap.servers": f"127.0.0.1:{silent.getsockname()[1]}"}, timeout=0.5).topics()
        assert time.monotonic() - began < 20


def test_tls_to_a_broker_that_speaks_none(kafka):
    with pytest.raises(BrokerError, match=r"does not speak TLS|ends the TLS handshake|No Kafka broker answers") as caught:
        KafkaClient({"bootstrap.servers": kafka.bootstrap, "security.protocol": "SSL"}, timeout=3).topics()
    assert "properties.security.protocol" in caught.value.hint
