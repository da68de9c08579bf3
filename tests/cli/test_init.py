"""``sqlstream init``: a new project, or the example, and never over what is there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from sqlstream.cli import init
from sqlstream.cli.main import flattened, main
from sqlstream.core import settings
from sqlstream.core.options import OptionKind
from tests.support.sessions import open_session


def test_the_whole_example_is_written(tmp_path: Path, capsys) -> None:
    folder = tmp_path / "a" / "bank"
    assert main(["init", str(folder), "--example", "bank"]) == 0
    written = {p.relative_to(folder) for p in folder.rglob("*") if p.is_file()} - {Path("sqlstream.toml"), Path(".gitignore")}
    there = {p.relative_to(init.EXAMPLE) for d in init.EXAMPLE.iterdir() for p in d.iterdir() if p.suffix in (".sql", ".py")}
    assert written == there
    assert all((folder / p).read_bytes() == (init.EXAMPLE / p).read_bytes() for p in there)
    assert len({p.parts[0] for p in there}) == 3
    assert f"The bank is in {folder}" in capsys.readouterr().err


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
    assert (tmp_path / "catalog" / "orders.sql").is_file()


def test_what_is_ignored_stays_as_somebody_has_written_it(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("mine")
    assert main(["init", str(tmp_path)]) == 0
    assert (tmp_path / ".gitignore").read_text() == "mine"


def test_a_new_project_has_a_query_that_can_run(tmp_path: Path, capsys) -> None:
    folder = tmp_path / "odd name é"
    assert main(["init", str(folder)]) == 0
    assert sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()) == [
        ".gitignore", "catalog/orders.sql", "queries/orders_per_customer.sql", "sqlstream.toml", "udfs/.gitkeep",
    ]  # fmt: skip
    assert main(["check", "--project", str(folder)]) == 0
    session = open_session(folder)
    (explained,) = session.run("EXPLAIN " + (folder / "queries" / "orders_per_customer.sql").read_text())
    assert "orders" in explained.rows[0][0]
    assert "sqlstream query orders_per_customer" in capsys.readouterr().err


def test_each_setting_of_a_new_project_is_one_that_counts(tmp_path: Path) -> None:
    assert main(["init", str(tmp_path)]) == 0
    written = (tmp_path / "sqlstream.toml").read_text("utf-8")
    assert tomllib.loads(written) == {"options": {}}
    wanted = flattened(tomllib.loads(re.sub(r'^# (".*)$', r"\1", written, flags=re.M))["options"])
    assert len(wanted) > 60 and "restart-strategy.fixed-delay.attempts" in wanted and "spark.driver.memory" in wanted
    placeholders = {key for key, value in wanted.items() if value == ".."}
    assert [settings.check(key, value) for key, value in wanted.items() if key not in placeholders] == [None] * (len(wanted) - len(placeholders))
    assert placeholders <= {o.key for o in settings.SETTINGS if o.kind is OptionKind.STRING or o.kind is OptionKind.NAMES}


def test_a_file_is_no_folder(tmp_path: Path, capsys) -> None:
    (tmp_path / "file").write_text("mine")
    assert main(["init", str(tmp_path / "file")]) == 1
    assert "cannot be written" in capsys.readouterr().err
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize(("name", "typed"), [("it's", "cd 'it'\"'\"'s'"), ("-x", "cd ./-x"), ("my shop", "cd 'my shop'")])
def test_how_to_go_on_can_be_typed(tmp_path: Path, monkeypatch, capsys, name: str, typed: str) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "--", name]) == 0
    assert f"\n  {typed}\n" in capsys.readouterr().err


def test_no_name_is_no_folder(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main(["init", ""])
    assert not list(tmp_path.iterdir())
