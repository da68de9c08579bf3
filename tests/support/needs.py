"""What a test needs of the machine beside Python's packages. Where that is missing the test is skipped by name; in the gate it fails."""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest

from sqlstream.core.java import has_module, require_java

# ``all``: nothing may be missing.
VARIABLE = "SQLSTREAM_TEST_NEEDS"


def missing(what: str) -> NoReturn:
    """End the test, which needs ``what``."""
    if os.environ.get(VARIABLE) == "all":
        pytest.fail(f"This test needs {what}.", pytrace=False)
    name = os.environ["PYTEST_CURRENT_TEST"].partition(" ")[0]
    pytest.skip(f"{name} needs {what}")


def program(name: str) -> str:
    """The path of a program, without which the test ends."""
    return shutil.which(name) or missing(f"the program {name}")


def launcher() -> None:
    """End the test where Spark's launcher, which asks each JVM for a module of the JDK, can't be used: with the Java that comes along."""
    from sqlstream.runtime.engine import jvm

    if not has_module(require_java(), jvm._LAUNCHERS_MODULE):
        missing(f"a Java with the module {jvm._LAUNCHERS_MODULE}")
