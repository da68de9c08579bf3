"""``sqlstream init``: the example project as a start, and never over what is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.cli import init
from sqlstream.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path


def test_the_whole_example_is_written(tmp_path: Path, capsys) -> None:
    folder = tmp_path / "a" / "bank"
    assert main(["init", str(folder)]) == 0
    written = {p.relative_to(folder) for p in folder.rglob("*") if p.is_file()}
    there = {p.relative_to(init.EXAMPLE) for d in init.EXAMPLE.iterdir() for p in d.iterdir() if p.suffix in (".sql", ".py")}
    assert written == there
    assert all((folder / p).read_bytes() == (init.EXAMPLE / p).read_bytes() for p in there)
    assert len({p.parts[0] for p in there}) == 3
    assert f"{len(there)} files are in {folder}" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["catalog", "queries", "udfs", ".sqlstream", "sqlstream.toml"])
def test_a_project_stays_as_it_is(tmp_path: Path, capsys, name: str) -> None:
    (tmp_path / name).symlink_to(tmp_path / "gone")
    assert main(["init", str(tmp_path)]) == 1
    assert [p.name for p in tmp_path.iterdir()] == [name]
    assert f"it has '{name}'" in capsys.readouterr().err


def test_a_folder_with_other_files_becomes_a_project(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    assert main(["init", str(tmp_path)]) == 0
    assert (tmp_path / "README.md").read_text() == "mine"
    assert (tmp_path / "catalog" / "transactions.sql").is_file()


def test_a_file_is_no_folder(tmp_path: Path, capsys) -> None:
    (tmp_path / "file").write_text("mine")
    assert main(["init", str(tmp_path / "file")]) == 1
    assert "cannot be written" in capsys.readouterr().err
    assert (tmp_path / "file").read_text() == "mine"
