"""Spark's own daemons, from the jars inside pyspark: a standalone master, its workers."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark

from sqlstream.core.java import require_java

if TYPE_CHECKING:
    from collections.abc import Iterator

# The second compiler costs more than these short runs gain by it.
QUICK = "-XX:TieredStopAtLevel=1"


@contextlib.contextmanager
def daemon(folder: Path, name: str, *arguments: str, variables: dict[str, str] | None = None) -> Iterator[Path]:
    """A process of Spark's; its log. ``variables``: its environment, in the place of this process's."""
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
    deadline = time.monotonic() + 60
    while not re.search(text, log.read_text(errors="replace")):
        assert time.monotonic() < deadline, log.read_text(errors="replace")
        time.sleep(0.2)
