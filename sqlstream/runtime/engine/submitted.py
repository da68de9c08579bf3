"""Where ``spark-submit`` has started this process: its JVM runs, with the jars and the settings that it was given."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# What is settled when the driver's JVM starts: a project's own values come too late for it.
_SETTLED = ("spark.master", "spark.submit.", "spark.jars", "spark.files", "spark.archives", "spark.driver.", "spark.pyspark.", "spark.app.")

ENDED = "Spark has ended: the cluster has stopped its application, or its JVM has died."
HINT = "Submit it again: its jobs continue."


def configuration() -> dict[str, str] | None:
    """What ``spark-submit`` has set, with the cluster's own defaults; None where it has not started this process."""
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        return None
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()
    return dict(SparkConf().getAll())


def joined(
    submitted: Mapping[str, str], options: Mapping[str, str], fixed: Mapping[str, str], merged: frozenset[str], notify: Callable[[str], None]
) -> dict[str, str]:
    """``options``, the project's and the script's, above what was ``submitted``; what is settled is as it was submitted.

    A ``fixed`` key that a cluster sets otherwise is told and left out, unless its values are ``merged``.
    """
    taken = {}
    for key, value in submitted.items():
        if key not in merged and fixed.get(key, value) != value:
            notify(f"'{key}' is '{value}' on this cluster; sqlstream needs '{fixed[key]}' to keep Flink's meaning, and sets it for its own session.")
        else:
            taken[key] = value
    return {**taken, **{k: v for k, v in options.items() if not k.startswith(_SETTLED)}}
