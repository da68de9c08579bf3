"""The Spark session that the hand-written programs and the generator use: sqlstream's own settings."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from sqlstream.core.java import home, require_java
from sqlstream.runtime.engine import own_jars
from sqlstream.runtime.engine.session import spark_conf

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def configuration() -> dict[str, str]:
    """Spark's settings, with two shuffle partitions; ``spark.jars`` has every class that they name."""
    return spark_conf({"parallelism.default": "2"}, own_jars.of_sqlstream({}, print))


def session() -> SparkSession:
    """A Spark session of that configuration."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if (java := home(require_java())) is not None:
        os.environ["JAVA_HOME"] = str(java)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for key, value in configuration().items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark
