"""Kills the client, its JVM, the broker and executors, at any moment and at named points, and counts rows that are lost, doubled or wrong.

    python -m benchmarks.torture [--kills 1000] [--minutes M] [--seed N] [--results torture.jsonl] [--shapes append,session,..]
                                 [--jobs 8] [--round 15] [--rounds 6] [--where both|local|cluster] [--real-time]

The kills go in rounds; behind each of them all tables are compared with a model, and a line is added to the file of results. The table at the end
has all runs of that file: a run can be interrupted (Ctrl-C) and another one be started. Every second round is on a cluster of its own.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.torture import results
from benchmarks.torture.modes import MICRO_BATCHES, REAL_TIME, Mode
from benchmarks.torture.run import Torture
from sqlstream.core import spark_releases

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.torture.shapes import Shape


def main() -> int:
    """Run, and print the table of all runs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.torture", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--minutes", type=float, help="begin no round after so long")
    parser.add_argument("--round", type=int, default=15, help="kills between two comparisons")
    parser.add_argument("--rounds", type=int, default=6, help="rounds until a new project is begun")
    parser.add_argument("--seed", type=int, help="that of an earlier run, to repeat its chances")
    parser.add_argument("--shapes", help="some of: " + ", ".join(dict.fromkeys(s.name for m in (MICRO_BATCHES, REAL_TIME) for s in m.shapes)))
    parser.add_argument("--jobs", type=int, default=len(MICRO_BATCHES.shapes), help="how many of the shapes a project has, each project others")
    parser.add_argument("--results", type=Path, default=Path("torture.jsonl"))
    parser.add_argument("--where", choices=("both", "local", "cluster"), default="both", help="on which kind of Spark")
    parser.add_argument("--real-time", action="store_true", help="queries with state in real time, on Spark 4.3")
    arguments = parser.parse_args()
    mode = REAL_TIME if arguments.real_time else MICRO_BATCHES
    spark_releases.use(spark_releases.RELEASES[mode.release], print)
    names = arguments.shapes.split(",") if arguments.shapes else [s.name for s in mode.shapes]
    shapes = [s for s in mode.shapes if s.name in names]
    # As Ctrl-C: all processes are ended.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    code = 0
    try:
        code = _run(arguments, mode, shapes)
    except KeyboardInterrupt:
        print("interrupted; the round that was begun does not count", file=sys.stderr)
    print(results.table(results.read(arguments.results)))
    return code


def _run(arguments: argparse.Namespace, mode: Mode, shapes: Sequence[Shape]) -> int:
    killed, end = 0, None if arguments.minutes is None else time.monotonic() + arguments.minutes * 60
    seed = arguments.seed if arguments.seed is not None else random.randrange(1 << 32)
    while killed < arguments.kills and (end is None or time.monotonic() < end):
        folder = Path(tempfile.mkdtemp(prefix="torture-"))
        print(f"seed {seed}, in {folder}", flush=True)
        run, keep = Torture(folder, seed, mode, random.Random(seed).sample(shapes, min(arguments.jobs, len(shapes))), say), True
        try:
            for number in range(arguments.rounds):
                if killed >= arguments.kills or (end is not None and time.monotonic() > end):
                    break
                cluster = arguments.where == "cluster" or (arguments.where == "both" and number % 2 == 1)
                one = run.round(min(arguments.round, arguments.kills - killed), cluster=cluster)
                results.add(arguments.results, one)
                killed += one.killed
                print(f"{killed} kills, {one.seconds:.0f} s: {'exact' if one.exact else one.found}", flush=True)
                if not one.exact:
                    print(f"The project is left in {folder}.")
                    return 1
            keep = False
        finally:
            run.close(keep=keep)
        seed += 1
    return 0


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')}{text}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
