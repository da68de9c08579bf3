"""Projects of tests whose job is edited, saved and run again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.edited import Project

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.memory import Memory


@pytest.fixture
def project(tmp_path: Path, engine, memory: Memory) -> Iterator[Project]:
    """A project whose sinks are in this process."""
    made = Project(tmp_path, engine, memory)
    yield made
    made.session.close()


@pytest.fixture
def on_delta(tmp_path: Path, engine) -> Iterator[Project]:
    """The same, whose sinks are Delta tables: for what is about rows that come exactly once, and about tables with a schema of their own."""
    made = Project(tmp_path, engine)
    yield made
    made.session.close()
