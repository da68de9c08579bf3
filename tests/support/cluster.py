"""Spark's own daemons, from the jars inside pyspark: a standalone master, its workers."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark

from sqlstream.core.java import require_java
from tests.support import needs
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator

# The second compiler costs more than these short runs gain by it.
QUICK = "-XX:TieredStopAtLevel=1"


@contextlib.contextmanager
def daemon(folder: Path, name: str, *arguments: str, variables: dict[str, str] | None = None) -> Iterator[Path]:
    """A process of Spark's; its log. ``variables``: its environment, in the place of this process's."""
    needs.launcher()
    home = Path(pyspark.__file__).parent
    log = folder / f"{name}.log"
    environment = {
        **(os.environ if variables is None else variables),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_SCALA_VERSION": "2.13",
        **({"PYSPARK_PYTHON": sys.executable} if variables is None else {}),
    }
    command = [str(require_java()), "-Xmx256m", QUICK, "-cp", f"{home}/jars/*", *arguments]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment, cwd=folder)
    try:
        yield log
    finally:
        process.terminate()
        process.wait(20)


def wait_for(log: Path, text: str) -> None:
    until(lambda: re.search(text, log.read_text(errors="replace")), said=lambda: log.read_text(errors="replace"))
