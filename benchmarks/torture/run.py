"""A run: a project with a job of each shape, fed and killed; after each round of kills its tables are compared with the model."""

from __future__ import annotations

import random
import shutil
import time
from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from benchmarks.torture.load import Load
from benchmarks.torture.modes import MICRO_BATCHES
from benchmarks.torture.points import A_JOB_RUNS, A_SAVEPOINT_IS_COPIED, Armed, an_upgrade_maps_state
from benchmarks.torture.processes import Brokers, Client, Cluster
from benchmarks.torture.results import Found, Round, compared
from benchmarks.torture.shapes import script
from sqlstream.core.errors import ValidationError
from sqlstream.runtime.jobs.begin import savepoints

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from benchmarks.torture.load import Rows
    from benchmarks.torture.modes import Mode
    from benchmarks.torture.points import Point
    from benchmarks.torture.shapes import Shape

AT_ONCE = 20  # events that are sent together
PAUSE_S = 0.3
# How long a point is waited for, how long all rows may take to arrive.
POINT_S, ARRIVAL_S = 60.0, 400.0
# So often the client may end by itself without a kill between.
MOST_ENDINGS = 5
RANDOM = "at any moment"
VICTIMS = ("client", "JVM", "broker", "executor")


class Failed(Exception):
    """Rows are missing, doubled or wrong, or a job does not go on."""


class Torture:
    """A run in ``folder``, all chances from ``seed``."""

    def __init__(
        self, folder: Path, seed: int, mode: Mode = MICRO_BATCHES, shapes: Sequence[Shape] | None = None, say: Callable[[str], None] = print
    ) -> None:
        """``shapes``: some of the mode's, all where None is given."""
        self.folder, self.seed, self._mode, self._say = folder, seed, mode, say
        self._shapes = mode.shapes if shapes is None else shapes
        self._chance = random.Random(seed)
        self._project = folder / "project"
        self._project.mkdir(parents=True)
        self._armed = Armed(folder / "points")
        self._brokers = Brokers(self._project, [s.topic for s in self._shapes if s.topic is not None])
        self._cluster: Cluster | None = None
        self._client = Client(self._project, self._armed.option, mode)
        self._load = Load(seed, self._project / "lines")
        self._readers = {s.name: s.reader(self._project, lambda: self._brokers.bootstrap) for s in self._shapes}
        self._versions = {s.table: 0 for s in self._shapes}
        self._before: dict[str, Rows] = {}
        self._killed: dict[str, Counter[str]] = defaultdict(Counter)
        self._master = mode.master
        self._numbers = self._rounds = self._endings = self._upgrades = self._savepoints = 0
        self._in_a_row = 0
        self._write_script()

    def round(self, kills: int, *, cluster: bool = False) -> Round:
        """Kill ``kills`` processes and compare. ``cluster``: on a cluster, whose executors are killed as well. Raises Failed."""
        begun, self._endings, self._upgrades, self._savepoints = time.monotonic(), 0, 0, 0
        self._rounds += 1
        self._on(cluster=cluster)
        self._killed = defaultdict(Counter)
        while sum(when.total() for when in self._killed.values()) < kills:
            self._kill()
        found = self._compared()
        killed = {who: dict(when) for who, when in self._killed.items()}
        return Round(
            self.seed, self._rounds, "cluster" if cluster else "local", time.monotonic() - begun, killed, found,
            self._endings, self._upgrades, self._savepoints,
        )  # fmt: skip

    def close(self, *, keep: bool) -> None:
        """End all processes; ``keep``: the folder is left for a look."""
        self._armed.disarm()
        self._client.kill()
        if self._cluster is not None:
            self._cluster.stop()
        self._brokers.stop()
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _on(self, *, cluster: bool) -> None:
        if cluster and self._cluster is None:
            self._cluster = Cluster(self.folder / "cluster", self._mode)
        master = self._cluster.master if cluster and self._cluster is not None else self._mode.master
        if master != self._master:
            self._client.stop()
            self._master = master

    def _kill(self) -> None:
        """One kill, of one process or of two at once."""
        chance = self._chance.random()
        if chance < 0.08:
            return self._kill_at_upgrade()
        if chance < 0.16:
            return self._kill_at_savepoint()
        self._running()
        point = self._chance.choice(self._mode.points) if self._chance.random() < 0.5 else None
        when = point.name if point is not None and self._reach(point) else RANDOM
        if when is RANDOM:
            # Often in the midst of what the kill before has begun.
            self._feed(self._chance.uniform(0, self._chance.choice((0.5, 8))))
        # What starts soonest is killed most often.
        weights = (2, 2, 6, 0) if self._master == self._mode.master else (1, 1, 5, 14)
        first, second = (self._chance.choices(VICTIMS, weights)[0] for _ in range(2))
        together = first != second and self._chance.random() < 0.7
        return self._kill_now((first, second) if together else (first,), when)

    def _kill_now(self, victims: Sequence[str], when: str) -> None:
        """Kill these, of one that is not there at the moment later, and start the broker again."""
        for who in victims:
            kill = {"client": self._client.kill, "JVM": self._client.kill_jvm, "broker": self._brokers.kill, "executor": self._kill_executor}[who]
            while not (count := kill()):
                if len(victims) > 1:
                    # It has ended with the one before.
                    break
                # It starts right now.
                when = RANDOM
                self._armed.disarm()
                self._feed(0.5)
                self._running()
            if count:
                self._killed[who][when] += count
                self._say(f"  {who} killed {when}")
        self._in_a_row = 0
        self._armed.disarm()
        if "broker" in victims:
            time.sleep(self._chance.choice((0, 0, 0, 4)))
            self._brokers.start()

    def _kill_at_upgrade(self) -> None:
        """Edit statements, and kill while they go on with the state of what they were; now and then the edit is taken back after that."""
        edited = self._chance.sample(self._shapes, min(2, len(self._shapes)))
        before = dict(self._versions)
        if self._client.runs:
            self._kill_now(("client",), RANDOM)
        self._numbers += 1
        self._versions |= {shape.table: self._numbers for shape in edited}
        self._write_script()
        self._upgrades += 1
        table = self._chance.choice(edited).table
        generations = [p.name for p in self._project.glob(f".sqlstream/jobs/*.{table}/*") if p.name.isdigit()]
        who = self._chance.choice(("client", "JVM"))
        point = an_upgrade_maps_state(table, generations)
        self._kill_now((who,), point.name if generations and self._reach(point) else RANDOM)
        if self._chance.random() < 0.3:
            self._kill_now(("client",), RANDOM)
            self._versions = before
            self._write_script()

    def _kill_at_savepoint(self) -> None:
        """Have a savepoint made, of a job that goes on or stops, and kill while it is copied: what is there of it is refused."""
        self._running()
        stops = self._chance.random() < 0.5
        who = "client" if stops else self._chance.choice(("client", "JVM", "broker"))
        if not self._reach(A_JOB_RUNS):
            return self._kill_now((who,), RANDOM)
        job = self._armed.where.partition("/jobs/")[2].partition("/")[0]
        self._armed.disarm()
        point = A_SAVEPOINT_IS_COPIED
        self._savepoints += 1
        with self._client.asked("stop", job, "--savepoint") if stops else self._client.asked("savepoint", job):
            self._kill_now((who,), point.name if self._reach(point) else RANDOM)
        for folder in (self._project / ".sqlstream" / "savepoints").glob("*"):
            if not (folder / savepoints.FILE).exists() and who != "broker":
                self._refused(folder)
            if who != "broker":
                shutil.rmtree(folder)
        return None

    def _refused(self, folder: Path) -> None:
        try:
            savepoints.read(folder)
        except ValidationError:
            return
        raise Failed(f"half a savepoint is taken for one: {folder}")

    def _kill_executor(self) -> int:
        return 0 if self._cluster is None else self._cluster.kill_executor(both=self._chance.random() < 0.5)

    def _reach(self, point: Point) -> bool:
        """Feed until a thread waits at ``point``; False if none came there in time."""
        self._armed.arm(point, self._chance)
        end = time.monotonic() + POINT_S
        while not self._armed.hit and time.monotonic() < end:
            self._feed(PAUSE_S)
            self._running()
        if not self._armed.hit:
            self._armed.disarm()
            self._say(f"  {point.name}: nobody came there")
            return False
        return True

    def _feed(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while True:
            self._load.send(self._brokers.bootstrap, AT_ONCE)
            if (left := end - time.monotonic()) <= 0:
                return
            time.sleep(min(left, PAUSE_S))

    def _running(self) -> None:
        """Start the client where it does not run."""
        if self._client.runs:
            return
        if (code := self._client.exit_code) is not None and code >= 0:
            self._endings += 1
            self._in_a_row += 1
            if self._in_a_row > MOST_ENDINGS:
                raise Failed(f"the client ends again and again: {self._client.said[-2000:]}")
            self._say(f"  the client ended by itself with exit code {code}: {self._client.said.splitlines()[-1:]}")
        self._client.start(self._master)

    def _write_script(self) -> None:
        (self._project / "script.sql").write_text(script(self._shapes, self._mode.settings, self._brokers.bootstrap, self._versions))

    def _compared(self) -> dict[str, Found]:
        """Wait until all that was sent has come through, and compare. Raises Failed."""
        wanted = {s.name: s.rows(self._load) for s in self._shapes}
        found: dict[str, Found] = {}
        end = time.monotonic() + ARRIVAL_S
        while not found or (any(not f.exact for f in found.values()) and time.monotonic() < end):
            self._running()
            time.sleep(1)
            found = {s.name: compared(wanted[s.name], self._readers[s.name].rows(), s.key) for s in self._shapes}
            if any(f.doubled for f in found.values()):
                break
        new = {name: (rows - self._before.get(name, Counter())).total() for name, rows in wanted.items()}
        self._before = wanted
        return {name: replace(f, rows=new[name]) for name, f in found.items()}
