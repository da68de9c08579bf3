"""A jar of functions in Java for tests, compiled of ``tests/udf/java``, as a user's build makes one."""

from __future__ import annotations

import zipfile
from pathlib import Path

from sqlstream.core import jars
from sqlstream.runtime.java import compile_into

SOURCES = Path(__file__).parents[1] / "udf" / "java"


def function_jar(folder: Path, replaced: dict[str, str] | None = None) -> Path:
    """The jar, in ``folder``; in the sources texts may be ``replaced``."""
    (compiler,) = jars.ensure("compiler")
    sources = folder / "java"
    for path in SOURCES.rglob("*.java"):
        text = path.read_text()
        for old, new in (replaced or {}).items():
            text = text.replace(old, new)
        (sources / path.name).parent.mkdir(exist_ok=True, parents=True)
        (sources / path.name).write_text(text)
    classes = compile_into(folder / "classes", compiler, jars.ensure("functions"), sorted(sources.glob("*.java")), "-parameters")
    with zipfile.ZipFile(folder / "functions.jar", "w") as archive:
        for path in classes.rglob("*.class"):
            archive.write(path, path.relative_to(classes))
    return folder / "functions.jar"
