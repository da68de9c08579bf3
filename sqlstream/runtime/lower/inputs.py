"""What a static frame reads, as a text that is the same for as long as that is: by it a retried batch write recognizes its input."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CONSTANT = ("LocalRelation", "OneRowRelation", "Range")


def input_state(frame: DataFrame) -> str | None:
    """The files that ``frame`` reads with their lengths and times, the versions of its Delta tables; None where it reads anything else."""
    leaves = frame._jdf.queryExecution().analyzed().collectLeaves()
    states: set[str] = set()
    for i in range(leaves.size()):
        leaf = leaves.apply(i)
        name = leaf.getClass().getSimpleName()
        if name in _CONSTANT:
            continue
        relation = leaf.relation() if name == "LogicalRelation" else None
        if relation is None or relation.getClass().getSimpleName() != "HadoopFsRelation":
            return None
        states.update(_files(frame, relation.location()))
    return json.dumps(sorted(states))


def _files(frame: DataFrame, location: Any) -> list[str]:
    if location.getClass().getSimpleName() == "TahoeLogFileIndex":
        # A file's rows may go without a trace in its name.
        return [f"{location.path()} {location.getSnapshot().version()}"]
    spark = frame.sparkSession
    assert spark._jvm is not None
    paths, configuration = spark._jvm.org.apache.hadoop.fs.Path, spark._jsc.hadoopConfiguration()
    statuses = []
    for file in location.inputFiles():
        path = paths(spark._jvm.java.net.URI(file))
        status = path.getFileSystem(configuration).getFileStatus(path)
        statuses.append(f"{file} {status.getLen()} {status.getModificationTime()}")
    return statuses
