"""One of two processes that do to the jobs of a project whatever comes, from several threads: submit, stop, save, fail, restart, drop.

In: the project, a seed, how many steps. Out: a line of JSON: how often each was done, or refused with a reason. What a job runs is played: that
only one process runs it, and that its folder is nobody else's while it is saved, is looked at from within.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
import time
import traceback
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from sqlstream.core import storage
from sqlstream.core.errors import JobFailed, SqlStreamError
from sqlstream.runtime.jobs import jobs as module
from sqlstream.runtime.jobs.begin import carry_out, savepoints
from sqlstream.runtime.jobs.control import attendant, registry, requests
from sqlstream.runtime.jobs.control.ask import ask
from sqlstream.runtime.jobs.control.requests import Action
from sqlstream.runtime.jobs.folder import locks
from sqlstream.runtime.jobs.job import Job, JobSettings
from sqlstream.runtime.jobs.jobs import Jobs
from sqlstream.runtime.jobs.restarts import Restarts
from sqlstream.session.session import Session
from sqlstream.sql.statements.parsing import parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from sqlstream.plan.nodes import Sink

NAMES = ("one", "two", "three")
THREADS = 3
DECLARED = """CREATE TABLE a (k STRING) WITH ('connector' = 'filesystem', 'path' = 'a', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE o (k STRING) WITH ('connector' = 'filesystem', 'path' = 'o', 'format' = 'json');"""
wrong: list[str] = []


class Played:
    """What runs a job: a thread that waits for what is to happen."""

    running: dict[str, Played] = {}

    def __init__(self, job: Job, spark: SparkSession, again: Any, settings: JobSettings, project: Path, emit: Any, notify: Any,
                 busy: Callable[[], int], ended: Callable[[Job], None]) -> None:  # fmt: skip
        self.job, self.spark, self.project, self._ended = job, spark, project, ended
        self.event = ""
        self.work = self

    def start(self, *, resumed: bool) -> None:
        self._mark = Path(str(self.job.folder.parent), "running")
        self._enter()
        storage.make(self.job.checkpoint)
        Played.running[self.job.id] = self
        threading.Thread(target=self._run, daemon=True).start()

    def _enter(self) -> None:
        try:
            os.close(os.open(str(self._mark), os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            wrong.append(f"{self.job.name} runs twice")

    def _run(self) -> None:
        machine = self.job.machine
        try:
            while not machine.stopping.wait(0.002) and self.event not in ("fail", "finish") and not machine.draining.is_set():
                if self.event == "retry":
                    self.event = ""
                    machine.retry(JobFailed("It fails."), Restarts((1,), 1, machine.state.restarts.count + 1, 1))
                    machine.stopping.wait(0.002)
                    if not machine.stopping.is_set():
                        machine.started()
            self._mark.unlink()
            if self.event == "fail":
                machine.fail(JobFailed("It has failed."))
            else:
                machine.end(lambda: None)
        except Exception as error:
            wrong.append(f"{self.job.name} could not end: {error!r}")
        finally:
            Played.running.pop(self.job.id, None)
            self._ended(self.job)

    def forget(self, sink: str, writer: str) -> None: ...
    def request(self, index: int) -> None: ...


def saved(job: Job, runner: Any, folder: Any, *, drained: bool, notify: Any) -> Any:
    """A savepoint that takes its time: meanwhile the folder is this process's."""
    for _ in range(3):
        owner = locks.holder(job.folder.parent)
        if owner is None or owner.pid != os.getpid():
            wrong.append(f"{job.name} is saved, and its folder belongs to {owner}")
        time.sleep(0.001)
    return SimpleNamespace(folder=folder / "s")


def main(project: Path, seed: int, steps: int) -> None:
    """See the module."""
    module.JobRunner = Played  # type: ignore[misc, assignment]
    Job.await_pause = lambda self, seconds=0.0: time.sleep(0.001)  # type: ignore[method-assign]
    carry_out.check_checkpoint = lambda *a: None  # type: ignore[assignment]
    savepoints.make = saved  # type: ignore[assignment]
    attendant._LOOK_SECONDS = requests._LOOK_SECONDS = 0.005
    requests._AFTER_SECONDS = 0.5
    session = Session(project, notify=lambda line: None)
    list(session.run(DECLARED))
    sinks = (cast("Sink", session.planner.plans(parse("INSERT INTO o SELECT k FROM a"))[0].plan),)
    spark = cast("SparkSession", None)
    jobs = Jobs(project, session.context.engine.job_folders, print, lambda line: None, lambda: spark)
    done: Counter[str] = Counter()
    print("ready", flush=True)
    sys.stdin.readline()

    def own(chance: random.Random) -> Job | None:
        living = [job for job in jobs if job.lives]
        return chance.choice(living) if living else None

    def step(chance: random.Random) -> str:
        name = chance.choice(NAMES)
        what = chance.choice(
            ("submit", "submit", "submit", "stop", "stop", "save", "stop saving", "drain", "retry", "fail", "finish", "restart", "drop")
        )
        match what:
            case "submit":
                jobs.submit(spark, sinks, name, JobSettings("UTC"), "INSERT ..")
            case "stop" | "save" | "stop saving" | "drain" | "restart":
                action = {"stop": Action.STOP, "save": Action.SAVEPOINT, "stop saving": Action.STOP_WITH_SAVEPOINT, "drain": Action.DRAIN}
                one = own(chance)
                # Half of them are another process's, or nobody's.
                ask(jobs, one.id if one is not None and chance.random() < 0.5 else name, action.get(what, Action.RESTART), lambda: False)
            case "drop":
                registry.find(jobs.folders.jobs, name).drop()
            case _:
                if (one := own(chance)) is None or (played := Played.running.get(one.id)) is None:
                    return f"no {what}"
                played.event = what
        return what

    def work(number: int) -> None:
        chance = random.Random(seed * 100 + number)
        for _ in range(steps // THREADS):
            try:
                done[step(chance)] += 1
            except SqlStreamError as error:
                done["refused"] += 1
                if not error.message or "Traceback" in error.message:
                    wrong.append(f"no reason: {error!r}")
            except Exception as error:
                wrong.append("".join(traceback.format_exception(error)))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    jobs.stop_all()
    jobs.settle()
    jobs.let_go()
    unended = [(job.name, job.status.value, job.done.is_set()) for job in jobs if job.lives or not job.done.is_set()]
    print(json.dumps({"done": done, "wrong": wrong, "unended": unended}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
