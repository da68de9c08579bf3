"""Sessions in this process: opened, given statements, fed with files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlstream.session.results import Stream, Submitted
from sqlstream.session.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from sqlstream.runtime.jobs.job import Job


# By the test that runs: jobs of one that has failed would run on beside all that follow.
opened: list[Session] = []


def _silent(line: str) -> None:
    pass


def open_session(
    project: Path, declared: str = "", *, options: Mapping[str, str] | None = None, notify: Callable[[str], None] = _silent, **more: Any
) -> Session:
    """A session that has run ``declared``; in UTC, where ``options`` do not say otherwise. ``more``: what else a Session is given."""
    session = Session(project, options={"table.local-time-zone": "UTC", **(options or {})}, notify=notify, **more)
    opened.append(session)
    run(session, declared)
    return session


def run(session: Session, sql: str) -> list[Any]:
    """The outcomes of all statements."""
    return list(session.run(sql))


def rows(session: Session, sql: str) -> list[tuple]:
    """The rows that the statements answer, in their order; those of a stream without the kinds of changes."""
    found: list[tuple] = []
    for outcome in session.run(sql):
        found += [change.row for change in outcome.changes] if isinstance(outcome, Stream) else getattr(outcome, "rows", ())
    return found


def explained(session: Session, statement: str) -> str:
    """What EXPLAIN says of a statement."""
    ((text,),) = rows(session, f"EXPLAIN {statement}")
    return text


def plans(session: Session, statement: str) -> str:
    """The same, without Spark's plan: that has other numbers of columns each time, and is there only once Spark has started."""
    text, heading, _ = explained(session, statement).partition("== Spark Plan ==")
    assert heading, text
    return text


def optimized_plan(session: Session, statement: str) -> str:
    return explained(session, statement).partition("== Optimized Physical Plan ==\n")[2].partition("\n\n==")[0]


def submit(session: Session, sql: str) -> Job:
    """The job of the last statement, which runs on."""
    outcome = run(session, sql)[-1]
    assert isinstance(outcome, Submitted)
    return session.jobs.find(outcome.job_id)


def catch_up(job: Job) -> None:
    """Wait until the job has read what there is."""
    for query in job.queries:
        query.processAllAvailable()


def feed(folder: Path, *records: Mapping[str, object]) -> None:
    """A new file of JSON lines, which a stream of files sees when it is whole; its name is a number, from 1."""
    number = 1 + len(list(folder.iterdir()))
    part = folder / f".{number}"
    part.write_text("".join(json.dumps(record) + "\n" for record in records))
    part.rename(folder / f"{number}.json")
