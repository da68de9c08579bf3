"""The functions in a user's jars: what they are, a JVM beside Spark's says, once for each jar and each call's types; the answers are kept."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sqlstream.core import jars as locked_jars
from sqlstream.core import private, storage, user_jars
from sqlstream.core.errors import SetupError, ValidationError
from sqlstream.core.java import require_java
from sqlstream.core.kept import keep_newest
from sqlstream.runtime.engine import submitted
from sqlstream.runtime.java import function_jars, libraries

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from sqlstream.catalog.entries import UserFunction
    from sqlstream.udf.declarations.java import JavaFunction

_MAIN = "sqlstream.flink.Signatures"
_FLAGS = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")
# Copies of jars, and answers, that are kept.
_JARS, _ANSWERS = 200, 2_000
_SECONDS = 120


class ProjectJavaFunctions:
    """Those of the project in ``project``, whose ``options`` name jars for all."""

    def __init__(self, project: Path, options: Mapping[str, str], notify: Callable[[str], None]) -> None:
        self._project, self._options, self._notify = project, options, notify
        self._copies: dict[tuple[Path, int, int], Path] = {}
        self._answers: dict[str, Mapping[str, Any]] = {}
        self.rows: dict[Any, JavaFunction] = {}

    def jars(self, declared: UserFunction, at: Any = None) -> tuple[Path, ...]:
        """See JavaFunctions."""
        named = [self._file(name, at) for name in declared.resources] or user_jars.named(self._options, self._project)
        if not named:
            hint = "CREATE FUNCTION name AS 'class' USING JAR 'file.jar', or name the jar in 'pipeline.jars' (-j)."
            raise ValidationError(f"No jar has the class '{declared.identifier}'.", at=at, hint=hint)
        return tuple(self._copy(file) for file in named)

    @cached_property
    def own_jars(self) -> Sequence[Path]:
        """See JavaFunctions. Raises SetupError in an application of spark-submit, which has no network and no JVM but Spark's."""
        if submitted.configuration() is not None:
            hint = "Run the script with sqlstream -f, or as a job of sqlstream serve, against the cluster."
            raise SetupError("Functions in Java don't run from a package.", hint=hint)
        return function_jars(self._notify)

    def ask(
        self, jars: Sequence[Path], implementation: str, name: str, arguments: Sequence[str] | None, literals: Sequence[Any]
    ) -> Mapping[str, Any]:  # fmt: skip
        """See JavaFunctions."""
        question = json.dumps({
            "jars": [str(jar) for jar in jars], "implementation": implementation, "name": name, "arguments": arguments, "literals": list(literals),
        })  # fmt: skip
        if question not in self._answers:
            self._answers[question] = self._asked(question)
        return self._answers[question]

    def _file(self, name: str, at: Any) -> Path:
        file = user_jars.file_named(name, self._project)
        if file is None:
            hint = "USING JAR names a file of this machine; a relative one is in the project."
            raise ValidationError(f"There is no jar '{name}'.", at=at, hint=hint)
        return file

    def _copy(self, file: Path) -> Path:
        """A copy of a jar that no build replaces while Spark has it open; its name says what is in it."""
        state = file.stat()
        key = (file, state.st_mtime_ns, state.st_size)
        if key not in self._copies or not self._copies[key].is_file():
            digest = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
            folder = _folder("user-jars")
            copied = folder / f"{digest}-{file.name}"
            if not copied.is_file():
                part = folder / f".{os.getpid()}-{copied.name}"
                shutil.copyfile(file, part)
                part.replace(copied)
                keep_newest(folder.glob("*.jar"), _JARS)
            self._copies[key] = copied
        return self._copies[key]

    def _asked(self, question: str) -> Mapping[str, Any]:
        folder = _folder("signatures")
        of = hashlib.sha256(f"{self.own_jars[0].name} {question}".encode()).hexdigest()
        kept = folder / f"{of}.json"
        if kept.is_file():
            found: Mapping[str, Any] = json.loads(kept.read_text("utf-8"))
            return found
        class_path = os.pathsep.join(map(str, (*self.own_jars, *libraries())))
        command = [str(require_java()), *_FLAGS, "-cp", class_path, _MAIN]
        try:
            done = subprocess.run(command, input=question + "\n", capture_output=True, text=True, encoding="utf-8", timeout=_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise SetupError(f"Java has not said within {_SECONDS} s what a function is.", hint="Does its class wait as it is loaded?") from None
        lines = done.stdout.splitlines()
        if done.returncode or not lines:
            raise SetupError(f"Functions in Java can't be read: {done.stderr.strip() or f'java has ended with {done.returncode}'}.")
        storage.write(kept, lines[-1])
        keep_newest(folder.glob("*.json"), _ANSWERS)
        answer: Mapping[str, Any] = json.loads(lines[-1])
        return answer


def _folder(name: str) -> Path:
    return private.folder(locked_jars.cache_dir().parent / name)
