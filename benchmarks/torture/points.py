"""Named points: where a thread of Spark's stops before it writes a certain file, so that a process is killed at that very moment."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.core import jars
from sqlstream.runtime.java import compile_into, libraries

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

SOURCE = Path(__file__).with_name("java") / "Points.java"
_MANIFEST = "Manifest-Version: 1.0\nPremain-Class: torture.Points\n"


@dataclass(frozen=True)
class Point:
    """``pattern`` is looked for in ``create PATH`` and ``rename PATH``, where PATH is the new name; up to ``passed`` such files are let pass."""

    name: str
    pattern: str
    passed: int = 4


OF_CHECKPOINTS = (
    Point("before the offsets log", r"create .*/checkpoint/[^/]+/offsets/"),
    Point("the offsets log half written", r"rename .*/checkpoint/[^/]+/offsets/\d+$"),
    Point("mid-write of state", r"(create|rename) .*/checkpoint/[^/]+/state/\d+/"),
    Point("between sink and commit", r"create .*/checkpoint/[^/]+/commits/"),
    Point("the commit half written", r"rename .*/checkpoint/[^/]+/commits/\d+$"),
)
OF_TABLES = (
    Point("mid-write of rows", r"create .*/tables/[^/]+/(?!_delta_log).*part-"),
    Point("before a table's commit", r"create .*/_delta_log/\S*\d{20}\.json"),
    Point("a table's commit half written", r"rename .*/_delta_log/\d{20}\.json$"),
)

A_JOB_RUNS = Point("a job runs", r"create .*/jobs/[^/]+/\d+/checkpoint/[^/]+/commits/", passed=0)
A_SAVEPOINT_IS_COPIED = Point("while a savepoint is copied", r"(create|rename) .*/\.sqlstream/savepoints/", passed=20)


def an_upgrade_maps_state(table: str, generations: Sequence[str]) -> Point:
    """While a generation is made that comes after ``generations`` of the job into ``table``."""
    return Point("while an upgrade maps state", rf"(create|rename) .*/jobs/[^/]*{table}/(?!({'|'.join(generations)})/)\d+/checkpoint/", passed=6)


class Armed:
    """The agent and its folder, where one point at a time is armed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._numbers = count()
        folder.mkdir()
        self._jar = _agent(folder)

    @property
    def option(self) -> str:
        """What a JVM is started with."""
        return f"-javaagent:{self._jar}={self.folder}"

    def arm(self, point: Point, chance: Random) -> None:
        part = self.folder / "part"
        part.write_text(f"{next(self._numbers)}\n{chance.randint(0, point.passed)}\n{point.pattern}\n")
        part.replace(self.folder / "armed")

    @property
    def hit(self) -> bool:
        """Whether a thread waits at the point."""
        return (self.folder / "hit").exists()

    @property
    def where(self) -> str:
        """What was about to be written there."""
        return (self.folder / "where").read_text()

    def disarm(self) -> None:
        """Let go of whoever waits."""
        for name in ("armed", "hit"):
            (self.folder / name).unlink(missing_ok=True)


def _agent(folder: Path) -> Path:
    (compiler,) = jars.ensure("compiler")
    classes = compile_into(folder / "classes", compiler, libraries(), [SOURCE])
    agent = folder / "points.jar"
    with zipfile.ZipFile(agent, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", _MANIFEST)
        for path in classes.rglob("*.class"):
            archive.write(path, path.relative_to(classes))
    return agent
