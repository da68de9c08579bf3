"""A session in which the DECLARATIONS of a test's module were run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.session.session import Session

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Session:
    made = Session(tmp_path, options={"table.local-time-zone": "UTC"}, notify=lambda line: None)
    list(made.run(request.module.DECLARATIONS))
    return made
