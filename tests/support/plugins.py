"""Packages with connectors, formats and types of catalogs, installed for one test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.catalog.types import CATALOGS
from sqlstream.connectors import CONNECTORS
from sqlstream.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pytest

Entries = tuple[tuple[str, str, str], ...]
"""Entry points: of each the end of its group, its name, its value."""


def write(folder: Path, name: str, entries: Entries) -> None:
    """What says in ``folder`` that the package ``name`` is installed there."""
    info = folder / f"{name.replace('-', '_')}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    groups = {group for group, _, _ in entries}
    lines = [f"[sqlstream.{g}]\n" + "".join(f"{n} = {value}\n" for group, n, value in entries if group == g) for g in groups]
    (info / "entry_points.txt").write_text("".join(lines))


def install(monkeypatch: pytest.MonkeyPatch, folder: Path, packages: Mapping[str, Entries]) -> None:
    """Let sessions of this process know ``packages``, in the empty ``folder``, until the test ends."""
    for name, entries in packages.items():
        write(folder, name, entries)
    for rows in (CONNECTORS, FORMATS, CATALOGS):
        rows.names()  # what comes back when the test ends
        monkeypatch.delitem(rows.__dict__, "_entries")
        monkeypatch.setattr(rows, "_loaded", {})
    monkeypatch.syspath_prepend(folder)
