"""Where relative paths of tables begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.cli.main import argument_parser, project_options
from sqlstream.session.session import Session

if TYPE_CHECKING:
    from pathlib import Path

TABLES = """
CREATE TABLE d (a INT) WITH ('connector' = 'delta', 'table-path' = '{0}');
CREATE TABLE f (a INT) WITH ('connector' = 'filesystem', 'path' = '{0}', 'format' = 'json');
CREATE TABLE p (a INT) WITH ('connector' = 'print', 'print-identifier' = 'x');
"""


@pytest.mark.parametrize(
    ("warehouse", "path", "expected"),
    [
        (None, "t/u", "t/u"), ("s3a://bucket/lake", "t/u", "s3a://bucket/lake/t/u"), ("s3a://bucket/lake/", "t", "s3a://bucket/lake/t"),
        ("../lake", "t", "../lake/t"), ("/lake ä", "t", "/lake ä/t"), ("/lake", "/t", "/t"), ("/lake", "hdfs://h/t", "hdfs://h/t"),
        ("/lake", "file:/t", "file:/t"), ("hdfs://h", "${{env:WHERE}}/t", "hdfs://h/here/t"), ("hdfs://${env:WHERE}", "t", "hdfs://here/t"),
    ],
)  # fmt: skip
def test_relative_paths_are_below_the_warehouse(tmp_path: Path, monkeypatch, warehouse: str | None, path: str, expected: str) -> None:
    monkeypatch.setenv("WHERE", "here")
    session = Session(tmp_path, options={} if warehouse is None else {"table.warehouse": warehouse})
    list(session.run(TABLES.format(path.replace("{{", "{").replace("}}", "}"))))
    env = session.planner.environment()
    for name, option in (("d", "table-path"), ("f", "path")):
        (node,) = _scans(session, f"SELECT a FROM {name}", env)
        assert node.table.options[option] == expected
    (made,) = session.run("SHOW CREATE TABLE d")
    # What is declared stays as it is.
    assert f"'table-path' = '{path.replace('{{', '{').replace('}}', '}')}'" in made.rows[0][0]


def _scans(session: Session, query: str, env):
    from sqlstream.plan.nodes import scans
    from sqlstream.sql.statements.parsing import parse

    return scans(session.planner.planned(parse(f"INSERT INTO p {query}"), env).plan)


def test_the_project_file_says_where(tmp_path: Path) -> None:
    (tmp_path / "sqlstream.toml").write_text('warehouse = "s3a://bucket/x"\n[options]\n"parallelism.default" = 3\n')
    assert project_options(argument_parser(), tmp_path) == {"table.warehouse": "s3a://bucket/x", "parallelism.default": "3"}
    (tmp_path / "sqlstream.toml").write_text("warehouse = 3\n")
    with pytest.raises(SystemExit):
        project_options(argument_parser(), tmp_path)


@pytest.mark.spark
def test_a_table_is_written_and_read_there(tmp_path: Path, engine) -> None:
    (tmp_path / "project").mkdir()
    options = {"table.warehouse": (tmp_path / "warehouse").as_uri(), "execution.runtime-mode": "batch", "table.dml-sync": "true"}
    session = Session(tmp_path / "project", options=options, engine=engine)
    try:
        list(session.run(TABLES.format("t")))
        list(session.run("INSERT INTO d VALUES (1), (2);"))
        assert (tmp_path / "warehouse" / "t" / "_delta_log").exists() and not (tmp_path / "project" / "t").exists()
        assert sorted(list(session.run("SELECT a FROM d"))[-1].rows) == [("1",), ("2",)]
    finally:
        session.close()
