"""Java: the command of this machine (JAVA_HOME, PATH), or one line that says what to install; and our own classes in a JVM of Spark's."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from sqlstream.core.errors import SetupError

OLDEST = 17
INSTALL = f"Install a JDK or JRE {OLDEST} or newer and put it on PATH, or set JAVA_HOME to it."


def require_java() -> Path:
    """The ``java`` that Spark would run: that of JAVA_HOME where it is set, else that on PATH. Raises SetupError."""
    java = _find()
    version = _version(java)
    if version is None:
        raise SetupError(f"'{java}' can't be run, so there is no Java.", hint=INSTALL)
    if version < OLDEST:
        raise SetupError(f"Java {OLDEST} or newer is needed; '{java}' is Java {version}.", hint=INSTALL)
    return java


def classes(spark: Any) -> Any:
    """Our own classes in the JVM of ``spark``, a session or a context, by their packages: ``classes(spark).operators.KeyedJoin``."""
    assert spark is not None and spark._jvm is not None
    return spark._jvm.sqlstream


def _find() -> Path:
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home) / "bin" / "java"
        if not os.access(java, os.X_OK):
            what = f"JAVA_HOME is '{home}', but there is no bin/java in it."
            raise SetupError(what, hint="Set JAVA_HOME to a JDK or JRE, or unset it.")
        return java
    path = shutil.which("java")
    if path is None:
        raise SetupError(f"Java {OLDEST} or newer is needed, and none was found.", hint=INSTALL)
    return Path(path)


def _version(java: Path) -> int | None:
    """The major version: from the ``release`` file beside ``bin``, which starts no JVM, else from the command."""
    try:
        text = (java.resolve().parent.parent / "release").read_text(encoding="utf-8", errors="replace")
        return _major(text, r'^JAVA_VERSION="([^"]+)"') or _asked(java)
    except OSError:
        return _asked(java)


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
