"""The throughput of a backlog, side by side: records a second that a job works off which it finds in its topic.

    python -m benchmarks.latency.backlog [--shapes stateless,aggregate] [--engines micro-batches,real-time,flink] [--records 3000000]

A job starts on a topic of many records, and on one of few: the difference of their times is that of the records, without the start.
"""

from __future__ import annotations

import argparse
import json
import signal
import time
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.latency import engines
from benchmarks.latency.shapes import KEYS, PARTITIONS, SHAPES, Shape
from sqlstream.cli.kafka.broker import Broker

FEW = 1_000
# A job that says nothing for so long has worked its backlog off; one that starts may take longer. One in real time that is behind changes to
# micro-batches, of which the first gives its rows all at once.
QUIET_S, START_S = 25.0, 90.0
# Starts differ by a second or two: of less time than this nothing can be said.
LEAST_S = 3.0
ENGINES = {
    "micro-batches": ("sqlstream", {"execution.real-time": "false"}),
    "real-time": ("sqlstream", {"execution.real-time": "true", "spark.master": "local[12]"}),
    "flink": ("flink", {}),
}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.latency.backlog", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shapes", default="stateless,aggregate", help="some of: " + ", ".join(s.name for s in SHAPES if not s.only))
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--records", type=int, default=3_000_000)
    parser.add_argument("--work", type=Path, default=Path(".sqlstream/benchmarks/backlog"), help="folder for all files")
    parser.add_argument("-D", dest="options", action="append", default=[], metavar="KEY=VALUE", help="an option of sqlstream's")
    given = parser.parse_args()
    wanted, names = given.shapes.split(","), given.engines.split(",")
    engines.check(parser, wanted, [s.name for s in SHAPES if not s.only], names, ENGINES)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    options = dict(option.split("=", 1) for option in given.options)
    broker = Broker(given.work.absolute() / "broker")
    broker.start(progress=print)
    try:
        print("| query | engine | records/s |\n|---|---|--:|", flush=True)
        for shape in (s for s in SHAPES if s.name in wanted):
            for name in names:
                engine, own = ENGINES[name]
                few, many = (_worked_off(engine, shape, broker, given.work.absolute(), records, own | options) for records in (FEW, given.records))
                told = "more --records are needed" if many - few < LEAST_S else f"{(given.records - FEW) / (many - few):,.0f}"
                print(f"| {shape.name} | {name} | {told} |", flush=True)
    finally:
        broker.stop()
    return 0


def _worked_off(engine: str, shape: Shape, broker: Broker, work: Path, records: int, options: dict[str, str]) -> float:
    """The seconds from the start of a job to the last row of so many records."""
    name = f"{engine}-{shape.name.replace(' ', '-')}-{records}-{time.time_ns()}"
    for topic in (*(f"{name}-{table}" for table in shape.tables), f"{name}-out"):
        broker.create_topic(topic, partitions=PARTITIONS)
    _fill(broker.bootstrap, [f"{name}-{table}" for table in shape.tables], records)
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "backlog", "auto.offset.reset": "earliest"})
    consumer.assign([TopicPartition(f"{name}-out", partition, 0) for partition in range(PARTITIONS)])
    process = engines.start(engine, shape, broker.bootstrap, name, work / engine, options)
    began = time.time()
    last, heard = 0.0, began + START_S
    try:
        while time.time() < heard + QUIET_S and process.poll() is None:
            for message in consumer.consume(10_000, 0.5):
                if message.error() is None:
                    last, heard = max(last, message.timestamp()[1] / 1000), time.time()
    finally:
        consumer.close()
        process.terminate()
        process.wait(60)
    if not last:
        raise SystemExit(f"{engine} has written nothing: see {work / engine / 'engine.log'}")
    return last - began


def _fill(bootstrap: str, topics: list[str], records: int) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 20, "compression.type": "lz4", "queue.buffering.max.messages": 1_000_000})
    for number in range(records):
        record = json.dumps({"id": number, "k": number % KEYS, "ms": int(time.time() * 1000)})
        for topic in topics:
            producer.produce(topic, record, partition=number % PARTITIONS)
        if number % 10_000 == 0:
            producer.poll(0)
            while len(producer) > 500_000:
                producer.poll(0.1)
    if producer.flush(120):
        raise RuntimeError("the broker has not taken all records")


if __name__ == "__main__":
    raise SystemExit(main())
