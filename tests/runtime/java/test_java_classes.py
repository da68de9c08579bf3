"""Python names our classes in Java by their packages, which are the folders of their files."""

from __future__ import annotations

import re
from pathlib import Path

import sqlstream
from sqlstream.core import jars
from sqlstream.runtime.java import compile_into, function_sources, jar, libraries, sources

HOME = Path(sqlstream.__file__).parent
JAVA = HOME / "runtime" / "java"
CLASSES = {
    ".".join(path.with_suffix("").parts[path.parts.index("sqlstream", len(JAVA.parts)) :]): path
    for path in [*sources(libraries()), *function_sources()]
}
NAMES = (
    re.compile(r'"(sqlstream(?:\.[a-z]+)?\.[A-Z]\w+)"'),
    re.compile(r"\bclasses\([\w.]*\)(\.[a-z]+\.[A-Z]\w+)"),
    re.compile(r'_operator\(\w+, "([a-z]+\.[A-Z]\w+)"'),
    re.compile(r"\brows\.java\(\)\.([A-Z]\w+)"),
)


def _named(text: str) -> set[str]:
    whole, of_package, operators, formats = (set(name.findall(text)) for name in NAMES)
    return whole | {f"sqlstream{n}" for n in of_package} | {f"sqlstream.{n}" for n in operators} | {f"sqlstream.formats.{n}" for n in formats}


def test_a_class_is_in_the_folder_of_its_package() -> None:
    for name, path in CLASSES.items():
        assert path.read_text().startswith(f"package {name.rpartition('.')[0]};\n"), name


def test_python_names_classes_that_there_are() -> None:
    named = {name for path in HOME.rglob("*.py") for name in _named(path.read_text())}
    assert len(named) > 30
    assert named <= CLASSES.keys()


def test_the_compiler_warns_of_nothing(tmp_path: Path) -> None:
    (compiler,) = jars.ensure("compiler")
    compile_into(tmp_path, compiler, [*libraries(), *jars.ensure("spark")], sources(libraries()), "-failOnWarning")
    with_flink = [jar(print), *jars.ensure("functions"), *libraries()]
    compile_into(tmp_path, compiler, with_flink, function_sources(), "-failOnWarning")
