"""What is kept of statements and rows is its owner's alone."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from sqlstream.core import private

if TYPE_CHECKING:
    from pathlib import Path


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_made_is_the_owners(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    before = os.umask(0)
    try:
        private.write_file(private.folder(tmp_path / "a" / "b") / "text", "x")
        private.open_file(tmp_path / "a" / "log", "ab").close()
    finally:
        os.umask(before)
    assert (mode(tmp_path), mode(tmp_path / "a"), mode(tmp_path / "a" / "b")) == (0o755, 0o700, 0o700)
    assert (mode(tmp_path / "a" / "b" / "text"), mode(tmp_path / "a" / "log")) == (0o600, 0o600)


def test_what_is_there_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o770)
    (tmp_path / "shared" / "text").touch()
    (tmp_path / "shared" / "text").chmod(0o640)
    private.write_file(private.folder(tmp_path / "shared") / "text", "x")
    assert mode(tmp_path / "shared") == 0o770 and mode(tmp_path / "shared" / "text") == 0o640
