"""What makes records, and what waits for rows, each in a process of its own: ``send`` and ``receive``."""

from __future__ import annotations

import json
import signal
import sys
import time
from array import array
from pathlib import Path
from typing import TYPE_CHECKING

from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.latency.shapes import KEYS, PARTITIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

_TICK_S = 0.001


def send(bootstrap: str, topics: Sequence[str], phases: Sequence[tuple[int, float]], file: Path) -> None:
    """Send records for each phase, so many a second for so many seconds; ``file`` gets the seconds at which they were created."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0, "acks": 1, "queue.buffering.max.messages": 1_000_000})
    made = array("d")
    for rate, seconds in phases:
        began, first = time.time(), len(made)
        while (now := time.time()) < began + seconds:
            while len(made) - first < (now - began) * rate:
                number, created = len(made), time.time()
                record = json.dumps({"id": number, "k": number % KEYS, "ms": int(created * 1000)})
                for topic in topics:
                    producer.produce(topic, record, partition=number % PARTITIONS)
                made.append(created)
            producer.poll(0)
            time.sleep(_TICK_S)
    if producer.flush(60):
        raise RuntimeError("the broker has not taken all records")
    file.write_bytes(made.tobytes())


def receive(bootstrap: str, topic: str, file: Path) -> None:
    """Write the rows of a topic and the seconds at which they came into ``file``, until a SIGTERM."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "latency", "auto.offset.reset": "earliest", "fetch.error.backoff.ms": 50})
    consumer.assign([TopicPartition(topic, partition, 0) for partition in range(PARTITIONS)])
    found: list[tuple[float, bytes]] = []
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    print("ready", flush=True)
    while not ended:
        message = consumer.poll(0.1)
        if message is not None and message.error() is None and (value := message.value()) is not None:
            found.append((time.time(), value))
    with file.open("w", encoding="utf-8") as out:
        for at, value in found:
            out.write(f"{at} {value.decode()}\n")


if __name__ == "__main__":
    what, bootstrap, *rest = sys.argv[1:]
    if what == "send":
        send(bootstrap, rest[0].split(","), json.loads(rest[1]), Path(rest[2]))
    else:
        receive(bootstrap, rest[0], Path(rest[1]))
