"""What a test needs of the machine beside Python's packages. Where that is missing the test is skipped by name; in the gate it fails."""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest

# ``all``: nothing may be missing.
VARIABLE = "SQLSTREAM_TEST_NEEDS"


def missing(what: str) -> NoReturn:
    """End the test, which needs ``what``."""
    if os.environ.get(VARIABLE) == "all":
        pytest.fail(f"This test needs {what}.", pytrace=False)
    pytest.skip(f"needs {what}")


def program(name: str) -> str:
    """The path of a program, without which the test ends."""
    return shutil.which(name) or missing(f"the program {name}")
