"""``sqlstream package``. In: scripts of a project. Out: a tar with what ``spark-submit`` takes, and ``submit``, which calls it."""

from __future__ import annotations

import importlib.metadata
import json
import shlex
import tempfile
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from sqlstream.cli.arguments import Parser
from sqlstream.cli.packaging import environment, kubernetes, project
from sqlstream.cli.packaging.archive import Entry, compressed, plain
from sqlstream.core import user_jars
from sqlstream.core.errors import SqlStreamError, ValidationError
from sqlstream.core.project_folder import PACKAGE
from sqlstream.formats.protobuf_files import COMPILER
from sqlstream.formats.protobuf_files import FOLDER as PROTOS
from sqlstream.shell.screen import Screen

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

_HERE = Path(__file__).parent
# Spark's parser and optimizer call themselves for each level of an expression.
_DRIVER_STACK = "-Xss64m"
# Where Spark runs, and what of it, is said when the package is submitted.
_NOT_PACKED = ("spark.master", "spark.submit.", "spark.jars", "spark.archives", "spark.pyspark.", "spark.driver.host", "spark.driver.bindAddress")


class _Text(Template):
    """A file of text with ``@name@`` for values: it has dollar signs of its own."""

    pattern = r"@(?:(?P<named>[a-z_]+)@|(?P<braced>\b\B)|(?P<escaped>\b\B)|(?P<invalid>\b\B))"  # type: ignore[assignment]


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    made = Parser(
        prog="sqlstream package",
        description="Packs a project for spark-submit, which runs its scripts on a cluster that has Spark and Java, and nothing else: tables, saved"
        " queries, functions, sqlstream.toml, jars, and Python with the packages that sqlstream and the functions import.",
    )
    add = made.add_argument
    add("scripts", nargs="+", type=Path, metavar="FILE", help="a script to run there; of several one is named when the package is submitted")
    add("-o", "--output", type=Path, metavar="FILE", help="default: the project's name, with .tar, in the current folder")
    by_name = "an installed package that no function imports by itself; NAME[EXTRA]: with what its extra needs"
    add("--with", dest="packages", action="append", default=[], metavar="NAME", help=by_name)
    add("-j", "--jar", action="append", default=[], type=Path, metavar="JAR", help="a jar for Spark, such as a JDBC driver (repeat for more)")
    add("--no-environment", action="store_true", help="without Python: every machine has one with sqlstream, of the same minor version")
    add("--project", type=Path, metavar="DIR", help="the project's folder (default: found from here upwards)")
    return made


def main(argv: list[str], folder: Path, options: Mapping[str, str]) -> int:
    """Pack the project in ``folder``, whose settings are ``options``; the exit code."""
    arguments = parser().parse_args(argv)
    screen = Screen()
    name = folder.resolve().name if arguments.output is None else arguments.output.name.removesuffix(".tar")
    output = Path(f"{name}.tar") if arguments.output is None else arguments.output
    try:
        if not name or output.suffix != ".tar":
            raise ValidationError(f"'{output}' does not end with .tar.")
        packed = package(
            folder.resolve(), output, name, arguments.scripts, options, screen.notify, jars_too=arguments.jar, packages=arguments.packages,
            with_environment=not arguments.no_environment,
        )  # fmt: skip
    except SqlStreamError as error:
        screen.error(error)
        return 1
    screen.notify(f"{output}: {output.stat().st_size / 1e6:.0f} MB, {packed}. On a machine of the cluster, with Spark {_spark()}:")
    first = "" if len(arguments.scripts) == 1 else " -- SCRIPT"
    screen.emit(f"tar -xf {shlex.quote(output.name)} && {shlex.quote(f'{name}/submit')} --master .. [--deploy-mode cluster]{first}")
    return 0


def package(
    folder: Path, output: Path, name: str, scripts: Sequence[Path], options: Mapping[str, str], notify: Callable[[str], None], *,
    jars_too: Sequence[Path] = (), packages: Sequence[str] = (), with_environment: bool = True,
) -> str:  # fmt: skip
    """Write ``output``, the package ``name`` of the project in ``folder``; what is in it, in words. Raises SqlStreamError."""
    files, names = project.entries(folder, scripts, options, own_python=with_environment)
    listed = _jars(folder, options, jars_too, notify)
    modules = [e.content for e in files if e.name.endswith(".py") and isinstance(e.content, Path)]
    compilers = [COMPILER] if any(e.name.startswith(f"{PROTOS}/") for e in files) else []
    distributions = environment.needed([*packages, *compilers], modules) if with_environment else []
    manifest = {"name": name, "scripts": names, "spark": _spark(), "python": environment.VERSION}
    files.append(Entry(PACKAGE, (json.dumps(manifest, indent=1, sort_keys=True) + "\n").encode()))
    with tempfile.TemporaryDirectory(prefix="sqlstream-package-") as work:
        archives = {"project.tar.gz": (Path(work) / "project.tar.gz", files)}
        if with_environment:
            notify(f"Packing Python {environment.VERSION} with {', '.join(distributions)}")
            archives["environment.tar.gz"] = (Path(work) / "environment.tar.gz", list(environment.entries(distributions)))
        digests = [compressed(*archive) for archive in archives.values()]
        values = {"name": shlex.quote(name), "scripts": ", ".join(map(repr, names)), "digest": "-".join(d[:12] for d in digests)}
        inside = [
            *(Entry(n, path) for n, (path, _) in archives.items()),
            *(Entry(f"jars/{n}", path) for n, path in listed.items()),
            Entry("submit", _Text((_HERE / "submit.txt").read_text("utf-8")).substitute(values).encode(), executable=True),
            Entry("main.py", (_HERE / "application.txt").read_bytes()),
            Entry("spark.conf", _spark_conf(options).encode()),
            Entry("Dockerfile", kubernetes.dockerfile(name, _spark(), with_environment=with_environment).encode()),
            Entry("kubernetes.yaml", kubernetes.manifests(name, names, list(listed), options, with_environment=with_environment).encode()),
        ]
        output.parent.mkdir(parents=True, exist_ok=True)
        plain(output, (Entry(f"{name}/{e.name}", e.content, e.executable) for e in inside))
    python = f"Python {environment.VERSION} with {len(distributions)} packages" if with_environment else "no Python"
    return f"{len(files) - 1} files of the project, {len(listed)} jars, {python}"


def _jars(folder: Path, options: Mapping[str, str], too: Sequence[Path], notify: Callable[[str], None]) -> dict[str, Path]:
    """sqlstream's jars and the user's, by their names in the package."""
    from sqlstream.runtime.engine import own_jars

    named = [*(folder / name for key in (user_jars.OPTION, "spark.jars") for name in user_jars.written(options, key)), *too]
    found: dict[str, Path] = {}
    for path in [*own_jars.of_sqlstream(options, notify), *named]:
        if not path.is_file():
            raise ValidationError(f"There is no jar '{path}'.")
        if "," in path.name or found.setdefault(path.name, path) != path:
            raise ValidationError(
                f"The jar '{path}' can't be packed under its name.", hint="Name it otherwise: two have it, or there is a comma in it."
            )
    return found


def _spark_conf(options: Mapping[str, str]) -> str:
    """What the driver's JVM starts with: the project's ``spark.*``, but for references to variables, which are known where the driver runs."""
    from sqlstream.runtime.engine.jvm import properties

    users = {k: v for k, v in options.items() if k.startswith("spark.") and not k.startswith(_NOT_PACKED) and "${" not in v}
    return properties({"spark.driver.defaultJavaOptions": _DRIVER_STACK, **dict(sorted(users.items()))})


def _spark() -> str:
    return importlib.metadata.version("pyspark")
