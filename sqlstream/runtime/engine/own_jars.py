"""The jars on the class path beside Spark's own: in come a project's options, out come files of this machine.

A JVM gets its class path when it starts, before it knows of any table: which file systems it needs classes for, its options say.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlstream.core import jars
from sqlstream.runtime.java import jar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


def of_sqlstream(options: Mapping[str, str], notify: Callable[[str], None]) -> list[Path]:
    """Those that sqlstream fetches or compiles. Raises SetupError."""
    needed = ["spark", *sets(options)]
    # What compiles our own classes comes with them, if they come.
    jars.ensure_all([*needed, "compiler"], notify)
    return [*jars.ensure_all(needed), jar(notify)]


def sets(options: Mapping[str, str]) -> list[str]:
    """The sets of ``jars.lock`` that not all need: ``s3`` where options have an address or a setting of S3, and the user brings no hadoop-aws."""
    spoken_of = any(key.startswith("spark.hadoop.fs.s3a.") or re.match("s3[ap]?://", value) for key, value in options.items())
    brought = any("hadoop-aws" in options.get(key, "") for key in ("pipeline.jars", "spark.jars", "spark.jars.packages"))
    return ["s3"] if spoken_of and not brought else []
