"""The Spark session that the hand-written programs and the generator use: sqlstream's own settings."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from sqlstream.core import jars
from sqlstream.runtime.engine.session import spark_conf

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def session() -> SparkSession:
    """A Spark session as sqlstream starts it, with two shuffle partitions."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for key, value in spark_conf({"parallelism.default": "2"}, jars.ensure("spark")).items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark
