"""A job's folder: found by the job's name, held by one process at a time; its generations; files that are written completely or not at all."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.core import storage
from sqlstream.core.errors import ValidationError
from sqlstream.core.job_names import short_name
from sqlstream.runtime.jobs.control.status import Status
from sqlstream.runtime.jobs.folder import locks
from sqlstream.runtime.jobs.folder.versions import VERSION_FILE, Version

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from sqlstream.core.storage import Place
    from sqlstream.plan.nodes import Sink
    from sqlstream.plan.upgrade import PlanRecord
    from sqlstream.runtime.jobs.folder.locks import Lock

# How the folders of jobs are laid out. Those of layout 1 are called after the digest of a plan, and keep no version.
LAYOUT = 2
# In the folder of a generation: a file for each sink whose query has run.
STARTED = "started"
# What the query of each sink reads and keeps.
OPERATORS = "operators"
# It is being drained, or was; it is done.
DRAINING = "draining"
# For as long as it is there, the queries of a job in real time read nothing.
PAUSE = "pause"
FINISHED = "finished"
# In the folder of a job: somebody has stopped it by its name or id.
STOPPED = "stopped"
# What ALTER JOB .. SET OFFSETS has said of it.
OFFSETS = "offsets.json"
_LONGEST = 80


@dataclass(frozen=True)
class Generation:
    """A lineage of checkpoints of a job, in ``folder``. ``version`` is None where layout 1 kept none."""

    folder: Place
    version: Version | None

    @property
    def is_open(self) -> bool:
        """Whether it can go on: it has not finished."""
        return not (self.folder / FINISHED).exists()

    @property
    def draining(self) -> bool:
        """Whether it is being drained, or was."""
        return (self.folder / DRAINING).exists()

    @property
    def drained(self) -> bool:
        """Whether it ended by being drained."""
        return self.draining and not self.is_open

    @property
    def has_read(self) -> bool:
        """Whether anything that its sources had may be processed: a micro-batch that was begun may be in its sink, committed or not."""
        return any(self.folder.glob("checkpoint/*/offsets/[0-9]*"))

    @property
    def has_begun(self) -> bool:
        """Whether it is known from where its sources are read: the first start looks that up, and later ones begin there, too."""
        return self.has_read or any(self.folder.glob("checkpoint/*/sources/*/0"))

    @property
    def has_committed(self) -> bool:
        """Whether a micro-batch is known to be in its sink."""
        return any(self.folder.glob("checkpoint/*/commits/[0-9]*"))

    @property
    def gone(self) -> Place | None:
        """The first of its checkpoints that is not there, and was: its query has run."""
        checkpoints = (self.folder / "checkpoint" / started.name for started in self.folder.glob(f"{STARTED}/*"))
        return next((checkpoint for checkpoint in checkpoints if not checkpoint.exists()), None)

    def runs(self, digest: str) -> bool:
        """Whether it is one of the plan with this digest. One of layout 1 is: its folder is called after it."""
        return self.version is None or self.version.digest == digest

    @property
    def offsets(self) -> Mapping[str, str]:
        """From where topics are to be read instead, when it is gone on with."""
        file = self.folder / OFFSETS
        return dict(json.loads(file.read_text())) if file.exists() else {}

    def set_offsets(self, wanted: Mapping[str, str]) -> None:
        """Keep from where topics are to be read; nothing where it is as it was."""
        storage.write(self.folder / OFFSETS, json.dumps(dict(wanted)) + "\n")

    @property
    def shared(self) -> Place:
        """The folder of what its queries must have the same: see Read."""
        return self.folder / "inputs" / "shared"

    @property
    def savepoint(self) -> str | None:
        """The id of the savepoint that it, or an earlier one that it goes on with, began with."""
        return self.version.origin.savepoint if self.version is not None and self.version.origin is not None else None


@dataclass(frozen=True)
class JobFolder:
    """The folder of the job ``name``."""

    path: Place
    name: str

    def generations(self) -> list[Generation]:
        """The generations that were begun, in their order."""
        layout = self.layout
        numbers = sorted(int(p.name) for p in self.path.iterdir() if p.name.isdigit()) if self.path.exists() else []
        begun = [Generation(self.path / str(n), Version.read(self.path / str(n))) for n in numbers]
        # One of layout 1 has no version until it is continued.
        return [g for g in begun if g.version is not None or layout == 1]

    def check_whole(self) -> None:
        """Raises ValidationError where what a generation has kept is not all there: another start would write its rows again."""
        numbered = [p for p in self.path.iterdir() if p.name.isdigit()] if self.path.exists() else []
        lost = [p for p in numbered if any(p.glob(f"{STARTED}/*")) and not (p / VERSION_FILE).exists()]
        if lost:
            raise damaged(self.name, f"{lost[0] / VERSION_FILE} is missing, which says what was run there")
        last, status = self.latest(), Status.read(self.path)
        if status is not None and status.generation.isdigit() and int(status.generation) > (0 if last is None else int(last.folder.name)):
            raise damaged(self.name, f"the folder {self.path / status.generation} is missing")
        if last is not None and last.is_open and (gone := last.gone) is not None:
            raise damaged(self.name, f"the checkpoint {gone} is missing")

    def latest(self) -> Generation | None:
        """The last generation that was begun."""
        begun = self.generations()
        return begun[-1] if begun else None

    @property
    def layout(self) -> int:
        """Its layout; the newest one where there is nothing yet."""
        file = self.path / "job.json"
        layout = int(str(_description(file).get("layout", 1))) if file.exists() else LAYOUT
        if layout > LAYOUT:
            raise ValidationError(f"The job's folder {self.path} has layout {layout}, of a newer release: this one reads layouts up to {LAYOUT}.")
        return layout

    def describe(self, sinks: tuple[Sink, ...]) -> None:
        """Write down what the folder is."""
        description = {"layout": LAYOUT, "name": self.name, "sinks": [str(s.table.path) for s in sinks]}
        storage.write(self.path / "job.json", json.dumps(description, indent=2) + "\n")

    def forget(self) -> None:
        """It is no job's, but for its lock: what was described has not begun."""
        (self.path / "job.json").unlink(missing_ok=True)

    def next_generation(self) -> Place:
        """Where the next generation goes: nothing is there."""
        last = self.latest()
        folder = self.path / str(1 if last is None else int(last.folder.name) + 1)
        # What was being made when the process ended has no version.
        storage.delete(folder)
        return folder

    @property
    def stays_stopped(self) -> bool:
        """Whether somebody has stopped it, and nobody has started it since."""
        return (self.path / STOPPED).exists()

    def keep_stopped(self) -> None:
        """Somebody stops it: a script that is started again by itself leaves it so."""
        (self.path / STOPPED).touch()

    def let_start(self) -> None:
        """Somebody starts it."""
        (self.path / STOPPED).unlink(missing_ok=True)

    def lock(self, run: str = "", notify: Callable[[str], None] = lambda line: None) -> Lock:
        """Hold the folder until the lock is closed; see locks. Raises ValidationError where another process has it."""
        return locks.lock(self.path, self.name, run, notify)


class Damaged(ValidationError):
    """What a job has kept is not all there."""


def damaged(job: str, what: str) -> Damaged:
    """That ``job`` can't go on, since of what it has kept ``what`` is so."""
    return Damaged(
        f"Job '{short_name(job)}' can't resume from its state: {what}.",
        hint="Put it back from a copy, or begin with a savepoint. "
        f"DROP JOB '{short_name(job)}' forgets the job: it begins anew, and writes its rows again.",
    )


def find(jobs: Place, sinks: tuple[Sink, ...], name: str, digest: str, zone: str, taken: Collection[Place]) -> JobFolder:
    """The folder of the job that ``sinks`` are under ``name``: of those that are not ``taken`` the one with this plan, else the first.

    A further job of one name is called ``name-2``, and so on.
    """
    known = {n: f for n, f in _named(jobs, name).items() if f.path not in taken}
    for folder in known.values():
        if (last := folder.latest()) is not None and last.runs(digest):
            return folder
    if (before := _first_layout(jobs, sinks, name, zone, taken)) is not None:
        return before
    if known:
        return known[min(known)]
    return unused(jobs, name, taken)


def unused(jobs: Place, name: str, taken: Collection[Place]) -> JobFolder:
    """The folder of a job under ``name`` that is new."""
    ordinal = 1
    # One whose start was refused has left nothing but its lock.
    while (folder := _folder(jobs, name, ordinal)).path in taken or (folder.path / "job.json").exists():
        ordinal += 1
    return folder


def other_plan(folder: JobFolder, taken: Collection[Place]) -> Generation | None:
    """The latest generation that is open, of another plan, in the folders of layout 1 under the name of ``folder``."""
    others = [JobFolder(p.parent, folder.name) for p in folder.path.parent.glob("*-*/job.json") if p.parent not in (folder.path, *taken)]
    same_name = (f for f in others if (said := description_of(f.path / "job.json")).get("name") == f.name and said.get("layout", 1) == 1)
    open_ones = [last for f in same_name if (last := f.latest()) is not None and last.is_open]
    return max(open_ones, key=lambda last: storage.modified(last.folder), default=None)


def stopped(jobs: Place, but: Collection[Place]) -> Iterator[tuple[str, PlanRecord]]:
    """The jobs that could go on, and that no process has, each with its plan, without the folders ``but``."""
    for file in jobs.glob("*/job.json"):
        home = JobFolder(file.parent, str(description_of(file).get("name", "")))
        if not home.name or home.path in but or locks.holder(home.path) is not None:
            continue
        last = home.latest()
        if last is not None and last.is_open and last.version is not None and last.version.plan is not None:
            yield home.name, last.version.plan


def _named(jobs: Place, name: str) -> dict[int, JobFolder]:
    """The folders of the jobs that are called ``name`` and ``name-2`` and so on, by these numbers. Raises Damaged where one can't be read."""
    pattern = re.compile(re.escape(name) + r"(?:-([2-9]|[1-9]\d+))?")
    found = {}
    for file in jobs.glob("*/job.json"):
        number = re.search(r"-([2-9]|[1-9]\d+)$", file.parent.name)
        own = file.parent.name in (_slug(name), _slug(f"{name}{number[0]}") if number is not None else "")
        description = _description(file) if own else description_of(file)
        if description.get("layout") and (match := pattern.fullmatch(str(description.get("name")))):
            found[int(match[1] or 1)] = JobFolder(file.parent, match[0])
    return dict(sorted(found.items()))


def _folder(jobs: Place, name: str, ordinal: int) -> JobFolder:
    own = name if ordinal == 1 else f"{name}-{ordinal}"
    return JobFolder(jobs / _slug(own), own)


def _slug(name: str) -> str:
    """What the folder of a job is called: its name, with a digest of it where that can't be a folder's or looks like one of layout 1."""
    safe = re.sub(r"[^\w.-]+", "_", name, flags=re.ASCII)[:_LONGEST]
    if safe == name and not safe.startswith((".", "_")) and not re.search(r"-[0-9a-f]{12}(-\d+)?$", safe):
        return safe
    return f"{safe.lstrip('._')}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _first_layout(jobs: Place, sinks: tuple[Sink, ...], name: str, zone: str, taken: Collection[Place]) -> JobFolder | None:
    """The folder of layout 1 with the plan of ``sinks``."""
    from sqlstream.runtime.jobs.begin.digests import first_digest

    slug = re.sub(r"[^\w.-]+", "_", name, flags=re.ASCII)[:_LONGEST]
    ordinal, own = 1, jobs / f"{slug}-{first_digest(sinks, zone)}"
    while (path := own if ordinal == 1 else own.with_name(f"{own.name}-{ordinal}")).exists():
        folder = JobFolder(path, name)
        if path not in taken and folder.layout == 1:
            return folder
        ordinal += 1
    return None


def _description(file: Place) -> Mapping[str, object]:
    """What ``file`` says of its folder; nothing where it is not there. Raises Damaged where it can't be read."""
    try:
        found = json.loads(file.read_text())
        if not isinstance(found, dict):
            raise ValueError("it has no JSON object")
        return found
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise damaged(file.parent.name, f"{file}, which says what the folder is, can't be read: {error}") from error


def description_of(file: Place) -> Mapping[str, object]:
    """The same of the folder of another job, of which nothing is known where it can't be read."""
    try:
        return _description(file)
    except Damaged:
        return {}


def folder_of(jobs: Place, name: str) -> Place:
    """Where the first job of this name has its folder."""
    return _folder(jobs, name, 1).path


def sink_name(index: int, sink: Sink) -> str:
    """What the folder of a sink's checkpoint is called."""
    name = re.sub(r"\W", "_", sink.table.path.name, flags=re.ASCII)
    return f"{index}_{name}"


def sink_names(generation: Place, count: int) -> list[str]:
    """What the folders of the checkpoints of so many sinks are called; a number alone where one has none."""
    begun = {p.name.partition("_")[0]: p.name for p in (generation / "checkpoint").glob("*_*")}
    return [begun.get(str(index), str(index)) for index in range(count)]


def interrupted(checkpoint: Place) -> int | None:
    """The number of the micro-batch of this checkpoint, of which no query runs, that was begun and not ended; None where there is none."""
    begun, ended = _ends(checkpoint)
    return begun if begun > ended else None


def _ends(checkpoint: Place) -> tuple[int, int]:
    """The numbers of the last micro-batch that was begun and of the last that has ended; -1 for none."""
    begun, ended = (max((int(p.name) for p in checkpoint.glob(f"{log}/*") if p.name.isdigit()), default=-1) for log in ("offsets", "commits"))
    return begun, ended


def lacking(generation: Place, name: str) -> str | None:
    """What of the checkpoint of the query ``name``, which does not run, is missing, as far as the parts of it say; None where nothing is."""
    checkpoint = generation / "checkpoint" / name
    begun, ended = _ends(checkpoint)
    if not (checkpoint / "metadata").exists() and (begun >= 0 or ended >= 0 or (generation / STARTED / name).exists()):
        return f"the file 'metadata' of the checkpoint {checkpoint}, by which tables know their writer, is missing"
    files = [checkpoint / "metadata", *(checkpoint / log / str(last) for log, last in (("offsets", begun), ("commits", ended)) if last >= 0)]
    for file in (*files, generation / OPERATORS / f"{name}.json"):
        if storage.empty(file):
            return f"the file {file} is empty"
    if not ended <= begun <= ended + 1:
        ends = [f"end with micro-batch {last}" if last >= 0 else "are missing" for last in (begun, ended)]
        return f"the offsets in the checkpoint {checkpoint} {ends[0]}, and the commits in it {ends[1]}"
    return _unlisted(checkpoint, begun)


def _unlisted(checkpoint: Place, begun: int) -> str | None:
    """What is missing of the lists of files, one for each source of files, that the micro-batch ``begun`` has read."""
    if begun < 0:
        return None
    offsets = [line for line in (checkpoint / "offsets" / str(begun)).read_text().splitlines() if line.startswith('{"logOffset":')]
    wanted = sorted((json.loads(line)["logOffset"] for line in offsets), reverse=True)
    lists: dict[str, int] = {}
    for file in checkpoint.glob("sources/*/[0-9]*") if wanted else ():
        lists[file.parent.name] = max(int(file.name.partition(".")[0]), lists.get(file.parent.name, -1))
    there = [*sorted(lists.values(), reverse=True), *[-1] * len(wanted)]
    short = next(((end, has) for end, has in zip(wanted, there, strict=False) if has < end), None)
    if short is None:
        return None
    end, has = short
    ends = "is missing" if has < 0 else f"ends with number {has}"
    return f"a list in {checkpoint / 'sources'} of the files that were read {ends}, and the offsets name number {end}"
