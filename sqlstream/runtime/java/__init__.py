"""Our own classes in Spark's JVM: ``jar`` compiles the Java files below this folder, once, into the user's cache; the session's classpath has it.

The folders of ``sqlstream`` are Java's packages; Python names a class by ``sqlstream.core.java.classes``. What differs by the release of Spark is in
``spark-4.2`` and its like: of these the one is compiled that is for the release that runs. What needs Flink's API is in ``flink``, a jar of its own.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.core import jars, sealed, spark_releases
from sqlstream.core.errors import SetupError
from sqlstream.core.java import require_java

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

EXTENSIONS = "sqlstream.Extensions"
# Beyond the compiler's own set; nothing that is serialized outlives the jar, and a session of Spark's is closed by whoever has opened it.
_WARNINGS = (
    "-warn:+unused,semicolon,staticReceiver,finally,over-ann,syncOverride,typeHiding,hashCode,enumSwitch,fallthrough,paramAssign,intfAnnotation,"
    "unnecessaryElse,uselessTypeCheck,-serial,unusedExceptionParam,unusedArgument,unusedThrown,resource"
)
# Jars of other releases; a JVM that runs has its own open.
_KEPT = 10
_HOME = Path(__file__).parent
_LAUNCHER = re.compile(r"spark-launcher_[\d.]+-(\d+\.\d+)")


def sources(sparks: Sequence[Path]) -> list[Path]:
    """Our Java files for the Spark whose jars these are. Raises SetupError for a release that there are none for."""
    launcher = next(found for each in sparks if (found := _LAUNCHER.match(each.name)))
    if not (own := _HOME / f"spark-{launcher[1]}").is_dir():
        raise SetupError(f"sqlstream does not run on Spark {launcher[1]}.", hint=f"It runs on Spark {' and '.join(spark_releases.RELEASES)}.")
    return sorted([*(_HOME / "sqlstream").rglob("*.java"), *own.rglob("*.java")])


def function_sources() -> list[Path]:
    """Our Java files that need Flink's API."""
    return sorted((_HOME / "flink").rglob("*.java"))


def jar(progress: Callable[[str], None]) -> Path:
    """The jar of our classes. Raises SetupError."""
    class_path = [*libraries(), *jars.ensure("spark", progress)]
    return _compiled("operators", sources(class_path), class_path, progress)


def function_jars(progress: Callable[[str], None]) -> list[Path]:
    """The jars by which functions in Java are called: those of Flink, and of our classes that need them. Raises SetupError."""
    flink, operators = jars.ensure("functions", progress), jar(progress)
    return [_compiled("functions", function_sources(), [operators, *flink, *libraries()], progress), *flink]


def _compiled(name: str, files: Sequence[Path], class_path: list[Path], progress: Callable[[str], None]) -> Path:
    """The jar of the classes of ``files``, which is kept. Raises SetupError."""
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.read_bytes())
    digest.update(" ".join(p.name for p in class_path).encode())
    target = jars.cache_dir() / f"sqlstream-{name}-{digest.hexdigest()[:16]}.jar"
    if not sealed.intact(target):
        (compiler,) = jars.ensure("compiler", progress)
        progress(f"Compiling sqlstream's {name}, once")
        with tempfile.TemporaryDirectory(prefix=".compile-", dir=target.parent) as work:
            _packed(compile_into(Path(work) / "classes", compiler, class_path, files), Path(work) / f"{name}.jar").replace(target)
        sealed.seal(target)
        for old in sorted(target.parent.glob(f"sqlstream-{name}-*.jar"), key=lambda p: p.stat().st_mtime, reverse=True)[_KEPT:]:
            sealed.remove(old)
    return target


def libraries() -> list[Path]:
    """Spark's own jars."""
    spec = importlib.util.find_spec("pyspark")
    places = (spec.submodule_search_locations if spec else None) or ()
    return sorted(p for place in places for p in Path(place).glob("jars/*.jar"))


def compile_into(classes: Path, compiler: Path, class_path: list[Path], files: Sequence[Path], *options: str) -> Path:
    """``classes``, a folder, with the classes of ``files``, our own. Raises SetupError."""
    command = [str(require_java()), "-jar", str(compiler), "-17", "-proc:none", _WARNINGS, *options, "-encoding", "UTF-8", "-d", str(classes)]
    command += ["-cp", os.pathsep.join(map(str, class_path)), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SetupError(f"sqlstream's operators do not compile:\n{done.stderr or done.stdout}")
    return classes


def _packed(classes: Path, packed: Path) -> Path:
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(classes.rglob("*.class")):
            # Its bytes depend on nothing but what is in it.
            archive.writestr(zipfile.ZipInfo(str(path.relative_to(classes))), path.read_bytes())
    return packed
