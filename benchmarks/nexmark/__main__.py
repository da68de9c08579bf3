"""Nexmark side by side: ``python -m benchmarks.nexmark --events 2000000 --engines sqlstream,pyspark,flink --runs 2``.

See README.md for what is measured and how. The steps: a broker, a topic with all events and a small one, a pass over
the small one whose rows are compared, then the timed passes, one engine after the other.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.nexmark import client, report
from benchmarks.nexmark.memory import Peak, state_bytes
from benchmarks.nexmark.report import Timing
from benchmarks.nexmark.scripts import BLACKHOLE, QUERIES, SQL_ONLY, UPDATING, UPSERTS, Step, rows_sink, script, side_input
from benchmarks.nexmark.topic import PARTITIONS, watermark
from sqlstream.cli.kafka.broker import Broker

if TYPE_CHECKING:
    from collections import Counter

ENGINES = ("sqlstream", "pyspark", "flink")


@dataclass(frozen=True)
class Plan:
    """What to run, and where."""

    bootstrap: str
    work: Path
    events: int
    check_events: int
    queries: tuple[str, ...]
    runs: int

    @property
    def topic(self) -> str:
        return f"nexmark-{self.events}"

    @property
    def small(self) -> str:
        return f"nexmark-{self.check_events}"

    @property
    def steps(self) -> list[Step]:
        """The small topic twice, to start Spark and to see what a job costs almost without events."""
        return [Step(topic, self.queries) for topic in (self.small, self.small, *[self.topic] * self.runs)]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nexmark", description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=2_000_000)
    parser.add_argument("--check-events", type=int, default=300_000, help="events of the small topic")
    parser.add_argument("--queries", default=",".join(QUERIES))
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--work", type=Path, default=Path(".sqlstream/benchmarks/nexmark"), help="folder for all files")
    parser.add_argument("--check", choices=("also", "only", "no"), default="also", help="whether rows are compared")
    given = parser.parse_args(argv)
    queries, engines = tuple(given.queries.split(",")), tuple(given.engines.split(","))
    for name in (*(q for q in queries if q not in QUERIES), *(e for e in engines if e not in ENGINES)):
        parser.error(f"no query or engine of that name: {name}")
    if "flink" in engines and not os.environ.get("FLINK_SQL_CLIENT"):
        parser.error("set FLINK_SQL_CLIENT to the command that runs a script in Flink's SQL client")
    work = given.work.absolute()
    work.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    broker = Broker(work / "broker")
    bootstrap = broker.start(progress=print)
    try:
        plan = Plan(bootstrap, work, given.events, given.check_events, queries, given.runs)
        fill(plan, broker, only_small=given.check == "only")
        equal = True if given.check == "no" else check(plan, engines)
        if given.check != "only":
            timings = [t for engine in engines for t in timed(engine, plan)]
            print(f"\n{plan.events:,} events, best of {plan.runs} runs; fixed: over {plan.check_events:,} events")
            print(report.table(timings, plan.events))
            if "sqlstream" in engines:
                print(report.states({q: state_bytes(work / "sqlstream" / ".sqlstream" / "jobs", q) for q in queries}))
            (work / "timings.json").write_text(json.dumps([vars(t) for t in timings], indent=1))
    finally:
        broker.stop()
    return 0 if equal else 1


def fill(plan: Plan, broker: Broker, *, only_small: bool) -> None:
    """Create and fill the topics that this broker does not have yet."""
    notes = plan.work / "topics.json"
    full: dict[str, int] = json.loads(notes.read_text()) if notes.exists() else {}
    wanted = {plan.small: plan.check_events} | ({} if only_small else {plan.topic: plan.events})
    missing = {topic: count for topic, count in wanted.items() if topic not in full}
    if not missing:
        return
    for topic in missing:
        broker.create_topic(topic, partitions=PARTITIONS)
    arguments = [str(part) for item in missing.items() for part in item]
    subprocess.run([sys.executable, "-m", "benchmarks.nexmark.topic", plan.bootstrap, *arguments], check=True)
    notes.write_text(json.dumps(full | missing))


def check(plan: Plan, engines: tuple[str, ...]) -> bool:
    """Whether all engines give the same rows over the small topic; prints a line for each."""
    folders = {engine: plan.work / "rows" / engine for engine in engines}
    for engine, folder in folders.items():
        shutil.rmtree(folder, ignore_errors=True)
        execute(engine, plan, [Step(plan.small, plan.queries)], folder)
    order = sorted(engines, key=lambda e: e != "flink")
    equal = True
    for query in plan.queries:
        found = {engine: _rows(plan, engine, query, folders[engine]) for engine in order}
        # A hand-written program has no end of input: the windows that are open then stay so.
        until = {} if query in UPDATING else {"pyspark": watermark(plan.check_events)}
        lines = list(report.differences(query, found, until))
        print("\n".join(lines), flush=True)
        equal = equal and not any("DIFFERS" in line for line in lines)
    return equal


def _rows(plan: Plan, engine: str, query: str, folder: Path) -> Counter[str]:
    if query not in UPDATING:
        return report.rows(folder / query)
    if engine == "pyspark":
        return report.rows(folder / query, values=True)
    return report.final_rows(plan.work / f"{engine}.log", query, UPSERTS.get(query))


def timed(engine: str, plan: Plan) -> list[Timing]:
    """The timings of one engine, all in one process of its own."""
    seconds = execute(engine, plan, plan.steps, None)
    fixed = seconds[1]
    return [Timing(engine, query, run, took, fixed[query]) for run, step in enumerate(seconds[2:], 1) for query, took in step.items()]


def execute(engine: str, plan: Plan, steps: list[Step], rows: Path | None) -> list[dict[str, float]]:
    """Run ``steps`` on ``engine``; seconds by query, for each step. A query that fails is left out, with a message."""
    queries = [q for q in steps[0].queries if engine != "pyspark" or q not in SQL_ONLY]
    while queries:
        asked = [Step(s.topic, tuple(queries)) for s in steps]
        order = [(i, q) for i, s in enumerate(asked) for q in s.queries]
        began = time.monotonic()
        inserts, error, memory = (_pyspark if engine == "pyspark" else _client)(engine, plan, asked, rows)
        took = time.monotonic() - began
        print(f"{engine}: {len(inserts)} queries, whole process {took:.1f} s, {memory / 2**30:.1f} GiB of memory at most", flush=True)
        if len(inserts) == len(order):
            break
        failed = order[len(inserts)][1]
        print(f"{engine}: {failed} failed: {error}", flush=True)
        queries.remove(failed)
    else:
        return [{} for _ in steps]
    result: list[dict[str, float]] = [{} for _ in steps]
    for (step, query), took in zip(order, inserts, strict=True):
        result[step][query] = took
    return result


def _client(engine: str, plan: Plan, steps: list[Step], rows: Path | None) -> tuple[tuple[float, ...], str | None, int]:
    sinks = {q: BLACKHOLE if rows is None else rows_sink(rows, q) for q in plan.queries}
    home = plan.work / engine
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    own = {"execution.checkpointing.dir": (home / "checkpoints").as_uri()} if engine == "flink" else {}
    path = home / "script.sql"
    path.write_text(script(engine, plan.bootstrap, steps, sinks, own, side_input(plan.work)), encoding="utf-8")
    if engine == "flink":
        # The client's own -Xmx may be too small for two slots of a job; this variable outranks it.
        command, env = [*shlex.split(os.environ["FLINK_SQL_CLIENT"]), str(path)], {"_JAVA_OPTIONS": "-Xmx4g"}
    else:
        command, env = [sys.executable, "-m", "sqlstream", "--project", str(home), "-f", str(path)], {}
    run = client.run(command, plan.work / f"{engine}.log", env)
    return run.inserts, run.error, run.memory


def _pyspark(engine: str, plan: Plan, steps: list[Step], rows: Path | None) -> tuple[tuple[float, ...], str | None, int]:
    wanted = {
        "bootstrap": plan.bootstrap,
        "rows": str(rows) if rows else None,
        "steps": [{"topic": s.topic, "queries": s.queries} for s in steps],
    }
    log = plan.work / f"{engine}.log"
    with log.open("w", encoding="utf-8") as out:
        command = [sys.executable, "-m", "benchmarks.nexmark.handwritten", json.dumps(wanted)]
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        peak = Peak(process.pid)
        try:
            process.wait()
        finally:
            memory = peak.stop()
            process.kill()
    lines = [line for line in log.read_text(encoding="utf-8").splitlines() if line.startswith("RESULT ")]
    return tuple(json.loads(line.removeprefix("RESULT "))["seconds"] for line in lines), f"see {log}", memory


if __name__ == "__main__":
    sys.exit(main())
