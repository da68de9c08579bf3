"""Statements about jobs that there are, of this process or of another, and about savepoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.connectors.kafka import positions
from sqlstream.core.errors import ValidationError
from sqlstream.runtime.jobs import registry
from sqlstream.runtime.jobs.requests import Action
from sqlstream.session import results

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlstream.runtime.jobs.jobs import Jobs
    from sqlstream.session.results import Outcome
    from sqlstream.sql.syntax import ast


def stopped(node: ast.StopJob, jobs: Jobs, interrupted: Callable[[], bool]) -> Outcome:
    """STOP JOB, carried out. ``interrupted``: whether the user does not wait for it any more."""
    if node.this.name in jobs:
        made = jobs.stop(node.this.name, savepoint=node.savepoint, drain=node.drain, interrupted=interrupted).savepoint
        return _path(made) if node.savepoint else results.Done()
    action = Action.DRAIN_WITH_SAVEPOINT if node.drain else Action.STOP_WITH_SAVEPOINT if node.savepoint else Action.STOP
    made = registry.find(jobs.kept.jobs, node.this.name).ask(action, interrupted=interrupted)
    return _path(made) if made else results.Done()


def saved(node: ast.SavepointJob, jobs: Jobs, interrupted: Callable[[], bool]) -> Outcome:
    """SAVEPOINT JOB, carried out; ``interrupted`` as of ``stopped``."""
    name = node.this.name
    return _path(jobs.save(name) if name in jobs else registry.find(jobs.kept.jobs, name).ask(Action.SAVEPOINT, interrupted=interrupted))


def altered(node: ast.AlterJob, jobs: Jobs, zone: str) -> Outcome:
    """ALTER JOB .. SET OFFSETS, carried out. ``zone`` is that of times that name none. Raises ValidationError."""
    jobs.await_ended()
    record = registry.find(jobs.kept.jobs, node.this.name)
    record.check_stopped()
    wanted = {}
    for option in node.expressions:
        positions.check(option.expression.name, zone)
        wanted[option.this.name] = option.expression.name
    with record.folder.lock():
        last = record.folder.latest()
        if last is None or not last.is_open or not last.has_read:
            raise ValidationError(f"Job '{record.name}' has nothing to go on with: the options of its sources say where it begins.", at=node.this)
        last.set_offsets({**last.offsets, **wanted} if wanted else {})
    return results.Done()


def dropped(node: ast.DropJob, jobs: Jobs) -> Outcome:
    """DROP JOB, carried out. Raises ValidationError where it runs, or there is none."""
    if node.if_exists and not registry.exists(jobs.kept.jobs, node.this.name):
        return results.Done()
    jobs.await_ended()
    record = registry.find(jobs.kept.jobs, node.this.name)
    record.check_stopped()
    record.drop()
    jobs.forget(record.path)
    return results.Done()


def _path(made: str) -> Outcome:
    return results.text_rows(("savepoint path",), ((made,),))
