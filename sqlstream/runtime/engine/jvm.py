"""Spark's JVM. Spark's own launcher starts two, the first one to find out how the second is started, and gives that all that is in pyspark.

Where Spark runs inside of this process's JVM and nothing is asked for that only the launcher knows, the JVM is started right away: without
MLlib, which takes two seconds to make its functions known, and with an archive of its classes (see ``archive``).
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import shlex
import tempfile
import time
import zipfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlstream.core import private
from sqlstream.core.errors import JobFailed, SetupError
from sqlstream.core.java import OLDEST, has_module, home

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sqlstream.runtime.engine.java_process import JavaProcess

# Starts a process with a command and an environment.
Run: TypeAlias = "Callable[[Sequence[str], Mapping[str, str]], JavaProcess]"
# What only the launcher, or what it starts, knows to do.
_LAUNCHERS_KEYS = (
    "spark.jars.", "spark.submit.", "spark.files", "spark.archives", "spark.kerberos.", "spark.driver.extraLibraryPath",
    "spark.driver.extraClassPath", "spark.driver.defaultJavaOptions", "spark.driver.userClassPathFirst",
)  # fmt: skip
_LAUNCHERS_VARIABLES = (
    "SPARK_HOME", "SPARK_CONF_DIR", "SPARK_SUBMIT_OPTS", "SPARK_JAVA_OPTS", "SPARK_DIST_CLASSPATH", "HADOOP_CONF_DIR", "YARN_CONF_DIR",
    "PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT",
)  # fmt: skip
# Jars that no query here needs. MLlib's session extension starts Scala's reflection; breeze and its like are MLlib's.
_LEFT_OUT = re.compile(r"(spark-mllib|spark-graphx|spark-pipelines|spark-connect|spark-kubernetes|spark-yarn|breeze|spire|cats-kernel|kubernetes-)")
# What it asks the JVM for, that no query here needs.
_LAUNCHERS_MODULE = "jdk.incubator.vector"
# The class whose ``main`` such a JVM runs.
GATEWAY = "sqlstream.gateway.Gateway"
_SECONDS = 120
_TOLERANT = ("-XX:+IgnoreUnrecognizedVMOptions",)
_ESCAPED_ARGUMENT = re.compile(r'[\\"\n\r\t\f]')
_ESCAPED_PROPERTY = re.compile(r"[\\:=#! \n\r\t\f]")


def without_launcher(options: Mapping[str, str], environment: Mapping[str, str]) -> bool:
    """Whether Spark's launcher is not needed. ``options``: the user's ``spark.*`` keys."""
    needs_launcher = any(key == "spark.jars" or key.startswith(_LAUNCHERS_KEYS) for key in options)
    return os.name == "posix" and not needs_launcher and not any(environment.get(name) for name in _LAUNCHERS_VARIABLES)


def class_path(sparks: Sequence[Path], ours: Sequence[Path]) -> list[Path]:
    """The jars of such a JVM, of those of Spark and our own."""
    return [*(jar for jar in sparks if not _LEFT_OUT.match(jar.name)), *ours]


def module_options(sparks: Sequence[Path]) -> list[str]:
    """What Spark needs to be let into, of the JDK: its launcher has it."""
    launcher = next(jar for jar in sparks if jar.name.startswith("spark-launcher"))
    with zipfile.ZipFile(launcher) as archive:
        constants = archive.read("org/apache/spark/launcher/JavaModuleOptions.class")
    return sorted(option.decode() for option in set(re.findall(rb"--add-opens=[\w./]+=ALL-UNNAMED|-Dio\.netty\.[\w.]+=\w+", constants)))


def start(java: Path, jars: Sequence[Path], options: Sequence[str], memory: str, environment: Mapping[str, str], run: Run) -> Any:
    """A gateway to a new JVM, whose process ``run`` starts. Raises SetupError where it does not start."""
    with tempfile.TemporaryDirectory(prefix="sqlstream-") as folder:
        arguments = Path(folder) / "arguments"
        private.write_file(arguments, argument_file([f"-Xmx{memory}", *_TOLERANT, *options, "-cp", os.pathsep.join(map(str, jars))]))
        return _started([str(java), f"@{arguments}", GATEWAY], environment, Path(folder), run)


def through_launcher(java: Path, settings: Mapping[str, str], options: Sequence[str], environment: Mapping[str, str], run: Run) -> Any:
    """The same through Spark's launcher, with ``settings`` and the JVM's ``options``."""
    from pyspark.find_spark_home import _find_spark_home

    if not has_module(java, _LAUNCHERS_MODULE):
        raise SetupError(
            f"A cluster, Spark's own jars and Spark's own variables need Spark's launcher, which does not start on '{java}': it has no module"
            f" {_LAUNCHERS_MODULE}.",
            hint=f"Install a whole JDK, {OLDEST} or newer, and put it on PATH, or set JAVA_HOME to it. Jars for Spark on this machine can stand in"
            " pipeline.jars, which needs no launcher.",
        )
    if (java_home := home(java)) is not None:
        environment = {**environment, "JAVA_HOME": str(java_home)}
    with tempfile.TemporaryDirectory(prefix="sqlstream-") as folder:
        arguments, file = Path(folder) / "arguments", Path(folder) / "spark.properties"
        private.write_file(arguments, argument_file(options))
        private.write_file(file, properties({**settings, "spark.driver.extraJavaOptions": f"@{arguments}"}))
        submit_arguments = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
        submit = str(Path(_find_spark_home()) / "bin" / "spark-submit")
        return _started([submit, "--extra-properties-file", str(file), *submit_arguments], environment, Path(folder), run)


def _started(command: Sequence[str], environment: Mapping[str, str], folder: Path, run: Run) -> Any:
    port_file = folder / "gateway"
    process = run(command, {**os.environ, **environment, "SPARK_CONNECT_MODE": "0", "_PYSPARK_DRIVER_CONN_INFO_PATH": str(port_file)})
    end = time.monotonic() + _SECONDS
    # They are loaded while the JVM starts, which takes as long.
    importlib.import_module("pyspark.sql")
    while not port_file.exists():
        if process.death is not None:
            raise SetupError("Spark's JVM did not start.", hint=process.death.message)
        if not process.running:
            raise JobFailed("Spark was stopped while it started.")
        if time.monotonic() > end:
            process.kill()
            raise SetupError(f"Spark's JVM did not start within {_SECONDS} s.")
        time.sleep(0.02)
    content = port_file.read_bytes()
    # Two numbers and a text: the port, the length of the secret, the secret.
    return gateway({"PYSPARK_GATEWAY_PORT": str(int.from_bytes(content[:4], "big")), "PYSPARK_GATEWAY_SECRET": content[8:].decode()})


def gateway(variables: Mapping[str, str]) -> Any:
    """A gateway to a JVM that runs, which the environment, with ``variables``, names."""
    from pyspark.java_gateway import launch_gateway

    with _environment(variables):
        return launch_gateway()  # type: ignore[no-untyped-call]


def forget(ended: Any) -> None:
    """Let go of a JVM that has ended, so that another can be started."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession
    from pyspark.sql.context import SQLContext

    context = SparkContext._active_spark_context
    if context is not None and (server := context._accumulatorServer) is not None:
        server.shutdown()
    ended.shutdown()
    SparkContext._active_spark_context = None
    SparkContext._gateway = None
    SparkContext._jvm = None
    SparkSession._instantiatedSession = None
    SparkSession._activeSession = None
    SQLContext._instantiatedContext = None


# What a process is started with is seen by every user of the machine; what a file of its owner's holds is not.


def argument_file(arguments: Sequence[str]) -> str:
    """``arguments`` as Java reads them from a file."""
    return "".join(f'"{_ESCAPED_ARGUMENT.sub(_escaped, a)}"\n' for a in arguments)


def properties(settings: Mapping[str, str]) -> str:
    """``settings`` as Java reads properties."""
    return "".join(f"{_ESCAPED_PROPERTY.sub(_escaped, k)}={_ESCAPED_PROPERTY.sub(_escaped, v)}\n" for k, v in settings.items())


def _escaped(control: re.Match[str]) -> str:
    return "\\" + {"\n": "n", "\r": "r", "\t": "t", "\f": "f"}.get(control[0], control[0])


@contextlib.contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """With variables of this process set so."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def remember_names() -> None:
    """Let py4j look each name of a JVM up once. Else every use asks every jar for a class of that name, in each package that is imported: a tenth
    of what a small query costs.
    """
    from py4j.java_gateway import JavaClass, JavaPackage, JVMView

    for place in (JVMView, JavaPackage):
        if not isinstance(place.__getattr__, _Remembered):
            place.__getattr__ = _Remembered(place.__getattr__, (JavaClass, JavaPackage))


class _Remembered:
    """A ``__getattr__`` whose answers of certain types become attributes."""

    def __init__(self, plain: Callable[[Any, str], Any], types: tuple[type, ...]) -> None:
        self._plain = plain
        self._types = types

    def __get__(self, owner: Any, _: type) -> Any:
        return self if owner is None else partial(self, owner)

    def __call__(self, owner: Any, name: str) -> Any:
        value = self._plain(owner, name)
        if isinstance(value, self._types):
            owner.__dict__[name] = value
        return value
