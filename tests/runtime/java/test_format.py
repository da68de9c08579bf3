"""The Java files are formatted by palantir-java-format; ``pytest --update`` formats them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import sqlstream
from sqlstream.core import jars
from sqlstream.core.java import require_java
from sqlstream.runtime.java import libraries
from tests.support import needs

pytestmark = pytest.mark.spark
ROOT = Path(sqlstream.__file__).parents[1]
FILES = sorted(p for folder in ("sqlstream", "tests", "benchmarks") for p in (ROOT / folder).rglob("*.java"))
LONGEST = 120
# The formatter reads Java by the compiler of the JDK, which lets nobody in unasked.
_EXPORTS = [
    f"--add-exports=jdk.compiler/com.sun.tools.javac.{p}=ALL-UNNAMED" for p in ("api", "code", "file", "main", "parser", "processing", "tree", "util")
]


def test_java_is_formatted(update: bool) -> None:
    class_path = os.pathsep.join(map(str, [*jars.ensure("formatter"), *libraries()]))
    java = [str(require_java()), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", *_EXPORTS, "-cp", class_path]
    how = "--replace" if update else "--dry-run"
    done = subprocess.run(
        [*java, "com.palantir.javaformat.java.Main", "--palantir", how, *map(str, FILES)], capture_output=True, text=True, check=False
    )
    if "Unknown module: jdk.compiler" in done.stderr:
        needs.missing("a JDK, which has the compiler that the formatter is made of")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""


def test_no_line_is_longer() -> None:
    """The formatter leaves comments and texts as they are."""
    long = [f"{path.relative_to(ROOT)}:{n}" for path in FILES for n, line in enumerate(path.read_text().splitlines(), 1) if len(line) > LONGEST]
    assert long == []
