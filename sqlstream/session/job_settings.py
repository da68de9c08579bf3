"""How a job runs, by the options of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.core import settings
from sqlstream.core.errors import ValidationError
from sqlstream.runtime.jobs.job import JobSettings
from sqlstream.runtime.jobs.restarts import strategy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlstream.core.storage import Place
    from sqlstream.plan.builder.scope import PlanSettings

_RECOVERY = "execution.state-recovery.path", "execution.savepoint.path"
_RETAINED = "execution.checkpointing.num-retained", "state.checkpoints.num-retained"


def job_settings(
    options: Mapping[str, str],
    plan: PlanSettings,
    place: Callable[[str], Place],
    agrees: Callable[[str], bool] | None,
    masked: Callable[[str], str],
) -> JobSettings:
    """Those of a job that is planned by ``plan``. ``place`` finds a folder, ``agrees`` and ``masked``: see JobSettings. Raises ValidationError."""
    path = _set_one_of(options, _RECOVERY)
    return JobSettings(
        plan.zone, streaming=not plan.batch, idle_ms=idle_ms(options), future_ms=future_ms(options), restart=strategy(options),
        trigger_ms=settings.read(options, "execution.checkpointing.interval") or settings.read(options, "table.exec.mini-batch.allow-latency"),
        upgrade_mode=settings.read(options, "execution.upgrade-mode"),
        may_lose=settings.read(options, "execution.state-recovery.ignore-unclaimed-state"), agrees=agrees,
        real_time=plan.real_time, spark=plan.release.name,
        recovery=None if path is None else place(path), masked=masked, retained=_retained(options),
    )  # fmt: skip


def idle_ms(options: Mapping[str, str]) -> int:
    """After how long without a row a source does not hold the watermark back; 0 for never."""
    return int(settings.read(options, "table.exec.source.idle-timeout"))


def future_ms(options: Mapping[str, str]) -> int:
    """How far a row's time may be ahead of the clock; 0 for any."""
    return int(settings.read(options, "table.exec.source.max-future-rowtime"))


def _set_one_of(options: Mapping[str, str], keys: tuple[str, ...]) -> str | None:
    return next((value for key in keys if (value := settings.read(options, key))), None)


def _retained(options: Mapping[str, str]) -> int | None:
    for key in _RETAINED:
        if (number := settings.read(options, key)) is not None:
            if number < 1:
                raise ValidationError(f"Invalid value for option '{key}': it must be at least 1.")
            return int(number)
    return None
