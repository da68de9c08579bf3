"""The job that statements are, before anything of it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlstream.plan.nodes import Sink
from sqlstream.session.job_settings import job_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlstream.plan.builder import scope
    from sqlstream.plan.planned import Planned
    from sqlstream.runtime.jobs.job import JobSettings
    from sqlstream.session.context import Context


class PlannedJob(NamedTuple):
    """What is written, what the job is called, how it runs."""

    sinks: tuple[Sink, ...]
    name: str
    settings: JobSettings


def planned_job(context: Context, planned: Sequence[Planned], env: scope.Environment) -> PlannedJob:
    """The job of statements that are ``planned`` in ``env``. Raises ValidationError."""
    sinks = tuple(p.plan for p in planned if isinstance(p.plan, Sink))
    name = context.options.get("pipeline.name") or f"insert-into_{','.join(str(s.table.path) for s in sinks)}"
    text = context.statement.text
    masked = lambda shown: context.secrets.masked_message(shown, text)
    return PlannedJob(sinks, name, job_settings(context.options, env.settings, context.engine.place, context.user.asks, masked))
