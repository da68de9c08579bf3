"""Logs that are put aside, files of which the newest stay."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from sqlstream.core import defects, kept
from sqlstream.core.project_folder import ProjectFolder

if TYPE_CHECKING:
    from pathlib import Path


def test_a_log_is_rotated_under_its_writer(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("ab", buffering=0) as writer:
        for text in (b"a" * 20, b"b" * 20, b"c" * 20, b"d"):
            writer.write(text)
            kept.rotate(log, size=10, count=3)
    assert {p.name: p.read_bytes()[:1] for p in tmp_path.iterdir()} == {"log": b"d", "log.1": b"c", "log.2": b"b"}


def test_the_newest_files_and_folders_stay(tmp_path: Path) -> None:
    for number, name in enumerate("dacb"):
        (tmp_path / name / "in").mkdir(parents=True) if name in "ab" else (tmp_path / name).touch()
        os.utime(tmp_path / name, (number, number))
    kept.keep_newest([*tmp_path.iterdir(), tmp_path / "gone"], 2)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b", "c"]


def test_traces_of_defects_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(defects, "_TRACES", 3)
    last = [str(defects.defect(ValueError(str(n)), tmp_path).hint) for n in range(5)][-1]
    files = list(ProjectFolder(tmp_path).defects.iterdir())
    assert len(files) == 3
    assert any(str(file) in last for file in files)


def test_what_can_not_be_copied_stays_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "x.log"
    log.write_text("new " * 10)
    (tmp_path / "x.log.1").write_text("older")
    (tmp_path / "x.log.2").write_text("oldest")
    monkeypatch.setattr(kept.private, "open_file", lambda path, mode: Full(path))
    for _ in range(2):
        with pytest.raises(OSError, match="No space left"):
            kept.rotate(log, size=10, count=3)
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {"x.log": "new " * 10, "x.log.1": "older", "x.log.2": "oldest"}


class Full:
    """A file on a full disk."""

    def __init__(self, path: Path) -> None:
        path.touch()

    def __enter__(self) -> Full:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def write(self, data: bytes) -> int:
        raise OSError(28, "No space left on device")
