"""What grows with the number of micro-batches of a job: files and bytes below its project, memory, objects and threads of its driver.

    python -m benchmarks.growth [--batches 100000] [--every 1000] [--sink blackhole|delta|filesystem] [--plan copy|counts]

Each micro-batch has ten rows and follows the one before at once. A line of figures each ``--every`` micro-batches, or each minute if they take
longer, as those with a MERGE do; then the files by kind, and per 1,000 micro-batches what the last half of the run has added. One that takes too long
is ended with Ctrl-C or SIGTERM, which print these as well.
"""

from __future__ import annotations

import argparse
import gc
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py4j.finalizer import ThreadSafeFinalizer
from pyspark.sql import functions as F

from sqlstream.connectors import datagen
from sqlstream.connectors.base import SourceFrame
from sqlstream.session.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlstream.connectors.base import Read

SOURCE = "CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen');"
SINKS = {
    "blackhole": "'connector' = 'blackhole'",
    "delta": "'connector' = 'delta', 'table-path' = 'written'",
    "filesystem": "'connector' = 'filesystem', 'path' = 'written', 'format' = 'json'",
}
PLANS = {
    "copy": "CREATE TABLE written (n BIGINT) WITH ({}); INSERT INTO written SELECT n FROM numbers WHERE n >= 0;",
    "counts": "CREATE TABLE written (k BIGINT, cnt BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ({}); "
    "INSERT INTO written SELECT MOD(n, 7), COUNT(*) FROM numbers GROUP BY MOD(n, 7);",
}
ROWS = 10
_LONGEST_SECONDS = 60.0
_NUMBER = re.compile(r"\d+|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}")


@dataclass(frozen=True)
class Sample:
    """What there is after ``batches`` micro-batches: by kind of file how many, and bytes; bytes of memory; blocks of it that Python
    uses, and threads."""

    batches: int
    seconds: float
    files: Counter[str]
    bytes: Counter[str]
    memory: int
    heap: int
    proxies: int
    blocks: int
    threads: tuple[int, int]

    def __str__(self) -> str:
        return (
            f"{self.batches:>8} batches {self.seconds:7.0f} s | {self.files.total():>6} files {self.bytes.total() / 1e6:8.2f} MB | Python "
            f"{self.memory / 1e6:6.1f} MB, {self.blocks} blocks, {self.threads[0]} threads | JVM heap {self.heap / 1e6:6.1f} MB, "
            f"{self.threads[1]} threads, {self.proxies} objects of Python's"
        )


def read(_connector: datagen.Datagen, request: Read) -> SourceFrame:
    """The rows of the table ``numbers``, of which every micro-batch has some."""
    source = request.spark.readStream.name(request.name).format("rate-micro-batch").option("rowsPerBatch", str(ROWS))
    return SourceFrame(source.load().select(F.col("value").alias("n")))


def main() -> int:
    """Run the job and print what it leaves."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", type=int, default=100_000)
    parser.add_argument("--every", type=int, default=1_000)
    parser.add_argument("--sink", choices=SINKS, default="blackhole")
    parser.add_argument("--plan", choices=PLANS, default="copy")
    arguments = parser.parse_args()
    datagen.Datagen.read = read  # type: ignore[method-assign]
    samples: list[Sample] = []
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="growth-") as folder:
        project = Path(folder)
        session = Session(project, options={"spark.master": "local[1]", "spark.sql.shuffle.partitions": "1"}, notify=print)
        try:
            for _ in session.run(SOURCE + PLANS[arguments.plan].format(SINKS[arguments.sink])):
                pass
            for sample in _samples(session, project, arguments.batches, arguments.every):
                samples.append(sample)
                print(sample, flush=True)
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
        finally:
            _report(samples)
            session.close()
    return 0


def _samples(session: Session, project: Path, batches: int, every: int) -> Iterable[Sample]:
    (job,) = session.jobs
    began = sampled = time.monotonic()
    due = every
    while True:
        if job.done.wait(0.2):
            raise job.error or RuntimeError("the job has ended")
        progress = job.queries[0].lastProgress
        if progress is None or (progress["batchId"] < due and time.monotonic() < sampled + _LONGEST_SECONDS):
            continue
        sampled = time.monotonic()
        yield _sample(session, project, progress["batchId"], time.monotonic() - began)
        if progress["batchId"] >= batches:
            return
        due = progress["batchId"] // every * every + every


def _sample(session: Session, project: Path, batches: int, seconds: float) -> Sample:
    view: Any = session.context.engine.engine.spark._jvm
    management = view.java.lang.management.ManagementFactory
    gc.collect()
    view.java.lang.System.gc()
    # Before the files are counted, which takes memory for each.
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    # A list of all objects would have tuples that another thread just makes, which then fails.
    proxies, blocks = len(ThreadSafeFinalizer.finalizers), sys.getallocatedblocks()
    heap = management.getMemoryMXBean().getHeapMemoryUsage().getUsed()
    threads = threading.active_count(), management.getThreadMXBean().getThreadCount()
    files, sizes = _files(project)
    return Sample(batches, seconds, files, sizes, resident, heap, proxies, blocks, threads)


def _files(project: Path) -> tuple[Counter[str], Counter[str]]:
    """How many files of each kind there are below a folder, and their bytes; by a process of its own, whose memory is not the job's."""
    listed = subprocess.run(["find", str(project), "-type", "f", "-printf", "%P\t%s\n"], capture_output=True, text=True, check=False)
    files: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for line in listed.stdout.splitlines():
        name, _, size = line.rpartition("\t")
        kind = _NUMBER.sub("#", name)
        files[kind] += 1
        sizes[kind] += int(size)
    return files, sizes


def _report(samples: list[Sample]) -> None:
    if len(samples) < 2:
        return
    middle, last = samples[(len(samples) - 1) // 2], samples[-1]
    thousands = (last.batches - middle.batches) / 1000
    print(f"\nPer 1,000 micro-batches, from {middle.batches} to {last.batches}:")
    for kind in sorted(last.files.keys() | middle.files.keys()):
        files, size = (last.files[kind] - middle.files[kind]) / thousands, (last.bytes[kind] - middle.bytes[kind]) / thousands
        if abs(files) >= 1 or abs(size) >= 100:
            print(f"  {files:+9.1f} files {size / 1e3:+10.2f} kB  {kind}  (there are {last.files[kind]}, {last.bytes[kind] / 1e3:.1f} kB)")
    for name in ("memory", "heap", "blocks", "proxies"):
        print(f"  {(getattr(last, name) - getattr(middle, name)) / thousands:+12.0f} {name}")


if __name__ == "__main__":
    raise SystemExit(main())
