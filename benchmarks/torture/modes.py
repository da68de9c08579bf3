"""How the jobs of a run run: by micro-batches, or in real time on the release of Spark that keeps state there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.torture.points import OF_CHECKPOINTS, OF_TABLES
from benchmarks.torture.shapes import REAL_TIME_SHAPES, SHAPES

if TYPE_CHECKING:
    from benchmarks.torture.points import Point
    from benchmarks.torture.shapes import Shape


@dataclass(frozen=True)
class Mode:
    """``settings`` are the script's, ``options`` the client's, ``on_cluster`` those besides where ``cores`` and ``memory`` are a worker's.

    ``release``: the Spark that all run on; ``master``: that of a run on one machine.
    """

    release: str
    shapes: tuple[Shape, ...]
    points: tuple[Point, ...]
    settings: str
    options: tuple[str, ...]
    master: str
    on_cluster: tuple[str, ...]
    cores: int
    memory: str


_ALWAYS = """
SET 'execution.upgrade-mode' = 'last-state';
SET 'restart-strategy.exponential-delay.max-backoff' = '4 s';
"""
_OPTIONS = (
    "spark.sql.shuffle.partitions=2", "table.local-time-zone=UTC", "spark.driver.memory=1g",
    # A broker that is away is noticed, and so is an executor.
    "spark.network.timeout=8s", "spark.network.timeoutInterval=8s",
)  # fmt: skip
_ON_A_CLUSTER = ("spark.executor.heartbeatInterval=2s", "spark.driver.host=127.0.0.1")

MICRO_BATCHES = Mode(
    "4.2",
    SHAPES,
    (*OF_CHECKPOINTS, *OF_TABLES),
    f"{_ALWAYS}SET 'execution.checkpointing.interval' = '1 s';\n",
    (*_OPTIONS, "execution.real-time=false"),
    "local[2]",
    (*_ON_A_CLUSTER, "spark.executor.memory=512m", "spark.executor.cores=1", "spark.cores.max=2"),
    2,
    "1200m",
)
# Each long task has a slot, on however many cores.
REAL_TIME = Mode(
    "4.3",
    REAL_TIME_SHAPES,
    OF_CHECKPOINTS,
    f"{_ALWAYS}SET 'execution.checkpointing.interval' = '5 s';\n",
    (*_OPTIONS, "execution.real-time=true", "spark.version=4.3"),
    "local[40]",
    (*_ON_A_CLUSTER, "spark.executor.memory=1g", "spark.executor.cores=20", "spark.cores.max=40"),
    40,
    "2200m",
)
