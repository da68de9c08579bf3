"""Tar files are unpacked inside of a folder, by Python's own filter or without it."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING

import pytest

from sqlstream.core import tars

if TYPE_CHECKING:
    from pathlib import Path


def packed(*members: tuple[str, str | None]) -> tarfile.TarFile:
    """Files with their text; what has none is a link to the folder above."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name, text in members:
            info = tarfile.TarInfo(name)
            info.mode = 0o6777
            if text is None:
                info.type, info.linkname = tarfile.SYMTYPE, ".."
            else:
                info.size = len(text)
            tar.addfile(info, None if text is None else io.BytesIO(text.encode()))
    made.seek(0)
    return tarfile.open(fileobj=made)


@pytest.mark.parametrize("filters", [True, False])
def test_nothing_is_written_outside(filters: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if filters and not tars._FILTERS:
        pytest.skip("this Python has no filters")
    monkeypatch.setattr(tars, "_FILTERS", filters)
    tars.unpack(packed(("a/b", "one"), ("/rooted", "two"), ("up", None)), tmp_path / "in")
    assert {p.name: p.read_text() for p in (tmp_path / "in").rglob("*") if p.is_file()} == {"b": "one", "rooted": "two"}
    assert (tmp_path / "in" / "a" / "b").stat().st_mode & 0o7777 == 0o755
    assert (tmp_path / "in" / "up").is_symlink()
    for outside in ([("../x", "bad")], [("up", None), ("up/x", "bad")]):
        with pytest.raises(tarfile.TarError, match="outside"):
            tars.unpack(packed(*outside), tmp_path / "in")
    assert [p.name for p in tmp_path.iterdir()] == ["in"]
