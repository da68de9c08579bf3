"""Latency, side by side with Flink: from the creation of a record to the arrival of what a query makes of it.

    python -m benchmarks.latency [--shapes stateless,aggregate,..] [--engines sqlstream,flink] [--rates 100,1000,10000] [--seconds 30]

A broker, two topics of two partitions, a job that is started and warmed up; then each rate for so long. README.md says what is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.latency import engines
from benchmarks.latency.delta_table import Watched
from benchmarks.latency.shapes import PARTITIONS, SHAPES
from sqlstream.cli.kafka.broker import Broker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.latency.shapes import Arrival, Shape

# The first seconds of a rate, in which what it was before is caught up with, are not counted.
SETTLE_S = 3
# For so long rows are waited for behind the last record.
LAST_S = 10
WARM_RATE = 100


@dataclass(frozen=True)
class Latencies:
    """Of ``engine`` for a shape at a rate: milliseconds, sorted; ``missing``: of how many records nothing came."""

    engine: str
    shape: str
    rate: int
    sorted: list[float]

    def percentile(self, of: float) -> float:
        return self.sorted[min(len(self.sorted) - 1, int(len(self.sorted) * of))]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.latency", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", default=",".join(s.name for s in SHAPES), help="some of: " + ", ".join(s.name for s in SHAPES))
    parser.add_argument("--engines", default=",".join(engines.ENGINES))
    parser.add_argument("--rates", default="100,1000,10000", help="records a second")
    parser.add_argument("--seconds", type=float, default=30, help="for each rate")
    parser.add_argument("--warm", type=float, default=30, help="seconds of records before the first rate")
    parser.add_argument("--work", type=Path, default=Path(".sqlstream/benchmarks/latency"), help="folder for all files")
    parser.add_argument("-D", dest="options", action="append", default=[], metavar="KEY=VALUE", help="an option of sqlstream's")
    given = parser.parse_args()
    wanted, names = given.shapes.split(","), given.engines.split(",")
    engines.check(parser, wanted, [s.name for s in SHAPES], names, engines.ENGINES)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    phases = [(int(rate), given.seconds) for rate in given.rates.split(",")]
    options = dict(option.split("=", 1) for option in given.options)
    broker = Broker(given.work.absolute() / "broker")
    broker.start(progress=print)
    found: list[Latencies] = []
    try:
        for shape in (s for s in SHAPES if s.name in wanted):
            for engine in (e for e in names if shape.only in (None, e)):
                found += measured(engine, shape, broker, given.work.absolute(), [(WARM_RATE, given.warm), *phases], options)
                print("\n".join(table(found[-len(phases) :])[2:]), flush=True)
    finally:
        broker.stop()
    print("\n" + "\n".join(table(found)))
    return 0


def measured(engine: str, shape: Shape, broker: Broker, work: Path, phases: list[tuple[int, float]], options: dict[str, str]) -> list[Latencies]:
    """The latencies of each phase but the first, which warms up."""
    name = f"{engine}-{shape.name.replace(' ', '-')}-{os.getpid()}"
    for topic in (*(f"{name}-{table}" for table in shape.tables), f"{name}-out"):
        broker.create_topic(topic, partitions=PARTITIONS)
    home = work / engine
    process = engines.start(engine, shape, broker.bootstrap, name, home, options)
    load = [sys.executable, "-m", "benchmarks.latency.load"]
    sent, came = home / "sent", home / "came"
    watched = Watched(home / "out") if shape.only else None
    receiver = subprocess.Popen([*load, "receive", broker.bootstrap, f"{name}-out", str(came)], stdout=subprocess.DEVNULL)
    try:
        time.sleep(_started(engine))
        topics = ",".join(f"{name}-{table}" for table in shape.tables)
        subprocess.run([*load, "send", broker.bootstrap, topics, json.dumps(phases), str(sent)], check=True)
        time.sleep(LAST_S)
        if process.poll() is not None:
            raise SystemExit(f"{engine} has ended: see {home / 'engine.log'}")
    finally:
        receiver.terminate()
        receiver.wait()
        process.terminate()
        process.wait(60)
    made = array("d")
    made.frombytes(sent.read_bytes())
    arrivals = _rows(came) if watched is None else watched.arrivals()
    return list(_by_phase(engine, shape, made, list(shape.pairs(made, arrivals)), phases))


def _started(engine: str) -> float:
    """The seconds in which an engine starts, beside the warming up."""
    return 25 if engine == "sqlstream" else 10


def _rows(file: Path) -> Iterator[Arrival]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            at, _, row = line.partition(" ")
            yield float(at), json.loads(row)


def _by_phase(
    engine: str, shape: Shape, made: array[float], pairs: list[tuple[float, float]], phases: list[tuple[int, float]]
) -> Iterator[Latencies]:
    began = made[0]
    for number, (rate, seconds) in enumerate(phases):
        first, last = began + SETTLE_S, began + seconds
        began = last
        if number:
            counted = sorted((came - created) * 1000 for created, came in pairs if first <= created < last)
            if not counted:
                raise SystemExit(f"{engine}, {shape.name}: nothing came at {rate}/s")
            yield Latencies(engine, shape.name, rate, counted)


def table(found: list[Latencies]) -> list[str]:
    """Lines of Markdown."""
    lines = ["| query | records/s | engine | rows | p50 ms | p95 ms | p99 ms | mean ms |", "|---|--:|---|--:|--:|--:|--:|--:|"]
    for each in found:
        figures = " | ".join(f"{each.percentile(of):,.0f}" for of in (0.5, 0.95, 0.99))
        lines.append(f"| {each.shape} | {each.rate:,} | {each.engine} | {len(each.sorted):,} | {figures} | {statistics.fmean(each.sorted):,.0f} |")
    return lines


if __name__ == "__main__":
    raise SystemExit(main())
