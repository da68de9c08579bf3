"""What tells the release, installed and from a source tree."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING

from sqlstream.core.release import release

if TYPE_CHECKING:
    import pytest


def test_it_is_that_of_the_package() -> None:
    assert release() == metadata.version("sqlstream")


def test_a_source_tree_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", absent)
    assert release() == "(from a source tree)"
