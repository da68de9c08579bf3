"""A small streaming query that nobody sees: what the first one takes seconds for, the classes and their code, is there when the user's comes."""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.core.project_folder import ProjectFolder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_log = logging.getLogger(__name__)
_COLUMNS = ("CAST(value AS STRING) AS n", "upper(concat('a', value)) AS word", "date_format(timestamp, 'HH:mm') AS at")


def warm_up(spark: SparkSession, project: Path) -> None:
    """Run it. What goes wrong, above all that Spark is stopped meanwhile, matters to nobody."""
    # Who lists jobs needs no connectors.
    from sqlstream.connectors.local_rows import LocalRows

    folder = Path(tempfile.mkdtemp(prefix="warm-up-", dir=ProjectFolder(project).own))
    try:
        frame = spark.readStream.format("rate").option("rowsPerSecond", "1").load().selectExpr(*_COLUMNS)
        query = frame.writeStream.format("noop").option("checkpointLocation", str(folder)).start()
        try:
            query.processAllAvailable()
        finally:
            query.stop()
        deque(LocalRows(spark.range(3).selectExpr("CAST(id AS STRING) AS n")), maxlen=0)
    except Exception:
        _log.info("The warm-up has ended early.", exc_info=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
