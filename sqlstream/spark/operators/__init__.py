"""Our own Spark operators, in Java, and how Python plans them.

``jar`` compiles the Java files beside this one, once, into the user's cache; the session's classpath has it. Each operator has a function
here that puts it above a DataFrame.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream import jars
from sqlstream.errors import SetupError
from sqlstream.java import require_java
from sqlstream.sql.types import quote

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

EXTENSIONS = "sqlstream.Extensions"
_SOURCES = sorted(Path(__file__).parent.glob("*.java"))


_NO_TIME = -(1 << 63)


def split_watermark(frame: DataFrame, time: str, split: str, splits: int, end: int | None = None) -> DataFrame:
    """``frame`` under a watermark: the minimum over ``splits`` splits of the greatest ``time`` (TIMESTAMP) of each.

    ``split`` (INT, from 0) says where a row comes from; a row where it is NULL raises the watermark of all of them and is taken out.
    ``end`` is the watermark, in milliseconds since 1970, after a micro-batch that has all that there is.
    """
    from pyspark.sql import DataFrame
    from pyspark.sql import functions as F

    spark = frame.sparkSession
    times = spark._jvm.sqlstream.SplitTimes(splits, _NO_TIME if end is None else end)  # type: ignore[union-attr]
    millis = F.expr(f"coalesce(unix_millis({quote(time)}), {_NO_TIME + 1}L - 1L)")
    numbers = F.expr(f"coalesce({quote(split)}, -1)")
    return DataFrame(times.watermark(frame._jdf, millis._jc, numbers._jc, time), spark)


def jar(progress: Callable[[str], None]) -> Path:
    """The operators' jar. Raises SetupError."""
    libraries = _libraries()
    digest = hashlib.sha256()
    for path in _SOURCES:
        digest.update(path.read_bytes())
    digest.update(" ".join(p.name for p in libraries).encode())
    target = jars.cache_dir() / f"sqlstream-operators-{digest.hexdigest()[:16]}.jar"
    if not target.exists():
        (compiler,) = jars.ensure("compiler", progress)
        progress("Compiling sqlstream's operators (once)")
        with tempfile.TemporaryDirectory(prefix=".compile-", dir=target.parent) as work:
            _compile(compiler, libraries, Path(work)).replace(target)
    return target


def _libraries() -> list[Path]:
    spec = importlib.util.find_spec("pyspark")
    places = (spec.submodule_search_locations if spec else None) or ()
    return sorted(p for place in places for p in Path(place).glob("jars/*.jar"))


def _compile(compiler: Path, libraries: list[Path], work: Path) -> Path:
    classes = work / "classes"
    command = [str(require_java()), "-jar", str(compiler), "-17", "-proc:none", "-nowarn", "-encoding", "UTF-8", "-d", str(classes)]
    command += ["-cp", os.pathsep.join(map(str, libraries)), *map(str, _SOURCES)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SetupError(f"sqlstream's operators do not compile:\n{done.stderr or done.stdout}")
    packed = work / "operators.jar"
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(classes.rglob("*.class")):
            archive.write(path, path.relative_to(classes))
    return packed
