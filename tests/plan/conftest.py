"""A session in which the DECLARATIONS of a test's module were run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.sessions import open_session

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.session.session import Session


@pytest.fixture
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Session:
    return open_session(tmp_path, request.module.DECLARATIONS)
