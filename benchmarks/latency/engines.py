"""The engines: the script of a shape as each runs it, and the process that does."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from benchmarks.latency.shapes import TABLE

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from benchmarks.latency.shapes import Shape

ENGINES = ("sqlstream", "flink")
# Each as it is fastest: Flink sends each record on at once, and moves watermarks on every millisecond.
SETTINGS = {
    "sqlstream": {"parallelism.default": "2"},
    "flink": {
        "parallelism.default": "2",
        "taskmanager.numberOfTaskSlots": "2",
        "execution.buffer-timeout.interval": "0 ms",
        "pipeline.auto-watermark-interval": "1 ms",
        "state.backend.type": "hashmap",
        "execution.checkpointing.interval": "10 s",
    },
}


def check(parser: ArgumentParser, shapes: Sequence[str], known: Collection[str], engines: Sequence[str], there: Collection[str]) -> None:
    """End the program where no shape, or engine, is called so, or Flink's command is not known."""
    for name in (*(s for s in shapes if s not in known), *(e for e in engines if e not in there)):
        parser.error(f"no query or engine of that name: {name}")
    if "flink" in engines and not os.environ.get("FLINK_SQL_CLIENT"):
        parser.error("set FLINK_SQL_CLIENT to the command that runs a script in Flink's SQL client")


def script(engine: str, shape: Shape, bootstrap: str, name: str, home: Path) -> str:
    """The script of a shape, over topics that are called after ``name``."""
    own = {"execution.checkpointing.dir": (home / "checkpoints").as_uri()} if engine == "flink" else {}
    lines = [
        f"SET '{key}' = '{value}';" for key, value in (SETTINGS[engine] | own | {"table.local-time-zone": "UTC", "table.dml-sync": "true"}).items()
    ]
    lines += [TABLE.format(name=table, topic=f"{name}-{table}", bootstrap=bootstrap) for table in shape.tables]
    lines.append(f"CREATE TABLE o {shape.sink.format(out=f'{name}-out', bootstrap=bootstrap, folder=home / 'out')};")
    return "\n".join([*lines, f"INSERT INTO o {shape.insert};\n"])


def start(engine: str, shape: Shape, bootstrap: str, name: str, home: Path, options: dict[str, str]) -> subprocess.Popen[bytes]:
    """The process that runs the shape, in the folder ``home``, which is made anew. ``options`` are sqlstream's besides."""
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    path = home / "script.sql"
    path.write_text(script(engine, shape, bootstrap, name, home), encoding="utf-8")
    if engine == "flink":
        command = [*shlex.split(os.environ["FLINK_SQL_CLIENT"]), str(path)]
    else:
        given = [part for option in options.items() for part in ("-D", "=".join(option))]
        command = [sys.executable, "-m", "sqlstream", "--project", str(home), *given, "-f", str(path)]
    with (home / "engine.log").open("wb") as log:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=os.environ | {"_JAVA_OPTIONS": "-Xmx4g"})
