"""The physical plan that Spark makes of a logical one, as text."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.plan.nodes import Node
from sqlstream.plan.properties import static
from sqlstream.spark.failures import job_error
from sqlstream.spark.lower import Lowering, lower

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sqlstream.plan.scope import Settings


def spark_plan(node: Node, spark: SparkSession, settings: Settings, project: Path) -> str:
    """Spark's plan of ``node``; nothing runs. Raises what the lowering meets."""
    with tempfile.TemporaryDirectory() as folder:
        control = Path(folder) / "control"
        control.mkdir()
        to = Lowering(spark, not settings.batch and not static(node), settings.zone, project, Path(folder), control)
        try:
            return _text(lower(node, to))
        except Exception as error:
            raise job_error(error) from error


def _text(frame: object) -> str:
    execution = frame._jdf.queryExecution()  # type: ignore[attr-defined]
    plan = execution.optimizedPlan() if frame.isStreaming else execution.executedPlan()  # type: ignore[attr-defined]
    return str(plan.toString()).rstrip()
