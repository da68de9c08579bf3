"""The physical plan that Spark makes of a logical one, as text."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.core.hidden import PREFIX
from sqlstream.plan.properties import bounded, static
from sqlstream.runtime.engine.failures import as_job_errors
from sqlstream.runtime.lower.context import Lowering
from sqlstream.runtime.lower.lowering import lower

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sqlstream.plan.builder.scope import PlanSettings
    from sqlstream.plan.nodes import Node

# One of ours, as Java writes an object that has no text of its own.
_OBJECT = re.compile(r"sqlstream(?:\.\w+)*\.([\w$]+)@[0-9a-f]+")


def spark_plan(node: Node, spark: SparkSession, settings: PlanSettings, project: Path) -> str:
    """Spark's plan of ``node``; nothing runs. Raises what the lowering meets."""
    with tempfile.TemporaryDirectory() as folder:
        control = Path(folder) / "control"
        control.mkdir()
        streaming = not settings.batch and not static(node)
        to = Lowering(
            spark, streaming=streaming, batch=settings.batch, bounded=bounded(node), zone=settings.zone, project=project,
            state=Path(folder), control=control,
        )  # fmt: skip
        with as_job_errors():
            execution = lower(node, to)._jdf.queryExecution()
            explained = spark._jvm.org.apache.spark.sql.api.python.PythonSQLUtils.explainString(execution, "simple")  # type: ignore[union-attr]
            return readable(str(explained).partition("\n")[2].rstrip())


def readable(plan: str) -> str:
    """A plan of Spark's, in which our columns and operators have short names."""
    return _OBJECT.sub(r"\1", plan).replace(f"{PREFIX}_", "$")
