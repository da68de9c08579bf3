"""The savepoint connector without a JVM: which columns a table has, what its options and columns must be, savepoint_metadata."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import NotSupported, SqlStreamError, ValidationError
from sqlstream.session.session import Session

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = [
    {"name": "account", "type": "BIGINT", "key": True, "sql": "k0"},
    {"name": "SUM(amount)", "type": "DECIMAL(38, 2)", "key": False, "sql": "v0"},
    {"name": "last ö", "type": "ROW<`a b` INT, `t` TIMESTAMP_LTZ(3)>", "key": False, "sql": "v1"},
]


@pytest.fixture
def savepoint(tmp_path: Path) -> Path:
    """The texts of a savepoint: two operators of one node, and one that is no table."""
    folder = tmp_path / "save ä'%20"
    nodes = [{"id": "f00d", "text": "GroupAggregate(groupBy=[account])"}, {"id": "beef", "text": "Limit(2)"}]
    operators = [
        {"operator": 0, "node": "f00d", "kind": "stateStoreSave", "table": {"reader": {"kind": "row"}, "columns": COLUMNS}},
        {"operator": 1, "node": "beef", "kind": "globalLimit", "table": None},
        {"operator": 2, "node": None, "kind": "old"},
    ]
    (folder / "operators").mkdir(parents=True)
    (folder / "operators" / "0_totals.json").write_text(json.dumps({"sources": [], "operators": operators}))
    (folder / "operators" / "10_others.json").write_text(json.dumps({"sources": [], "operators": operators[:1]}))
    (folder / "version.json").write_text(json.dumps({"record": {"sinks": [{"nodes": nodes}]}}))
    (folder / "savepoint.json").write_text("{}")
    (folder / "checkpoint" / "0_totals" / "state" / "0" / "3").mkdir(parents=True)
    (folder / "checkpoint" / "0_totals" / "state" / "0" / "3" / "1.zip").write_bytes(b"12345")
    return folder


@pytest.fixture
def session(tmp_path: Path):
    project = tmp_path / "project"
    project.mkdir()
    made = Session(project)
    list(made.run("SET 'execution.runtime-mode' = 'batch';"))
    yield made
    made.close()


def create(savepoint: Path, columns: str = "", **options: str) -> str:
    known = {"connector": "savepoint", "state.path": str(savepoint), "operator.uid": "0_totals/0"} | options
    return f"CREATE TABLE s {columns} WITH ({', '.join(f'{_text(k)} = {_text(v)}' for k, v in known.items() if v)});"


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def explained(session: Session, create: str, query: str = "SELECT * FROM s") -> str:
    (*_, outcome) = session.run(f"{create} EXPLAIN {query};")
    return str(outcome)


def test_a_table_without_columns_has_all_that_there_are(session: Session, savepoint: Path) -> None:
    list(session.run(create(savepoint)))
    (described,) = session.run("DESCRIBE s;")
    assert [row[:2] for row in described.rows] == [
        ("account", "BIGINT"), ("SUM(amount)", "DECIMAL(38, 2)"), ("last ö", "ROW<`a b` INT, `t` TIMESTAMP_LTZ(3)>"),
    ]  # fmt: skip
    (shown,) = session.run("SHOW CREATE TABLE s;")
    list(session.run("DROP TABLE s;"))
    list(session.run(shown.rows[0][0] + ";"))
    assert "SUM(amount)" in explained(session, "", "SELECT `SUM(amount)`, account FROM s WHERE account = 7")


def test_the_operator_is_found_by_its_hash_and_by_a_uri(session: Session, savepoint: Path) -> None:
    with pytest.raises(ValidationError, match="Several operators of the savepoint have the hash 'f00d'") as caught:
        list(session.run(create(savepoint, **{"operator.uid": "", "operator.uid.hash": "f00d"})))
    assert caught.value.hint == "Set 'operator.uid' to one of '0_totals/0', '10_others/0'."
    (savepoint / "operators" / "10_others.json").unlink()
    text = explained(session, create(savepoint, **{"operator.uid": "", "operator.uid.hash": "f00d", "state.path": savepoint.as_uri()}))
    assert "account" in text


@pytest.mark.parametrize(
    ("options", "error", "problem"),
    [
        ({"operator.uid": ""}, ValidationError, "Either 'operator.uid' or 'operator.uid.hash' must be set"),
        ({"operator.uid.hash": "f00d"}, ValidationError, "Either 'operator.uid' or 'operator.uid.hash' must be set"),
        ({"operator.uid": "0_totals/9"}, ValidationError, "has no operator '0_totals/9'"),
        ({"operator.uid": "0_totals/1"}, NotSupported, r"What operator '0_totals/1' keeps can't be read as a table: Limit\(2\)"),
        ({"operator.uid": "0_totals/2"}, NotSupported, "What operator '0_totals/2' keeps can't be read as a table: old"),
        ({"state.path": "relative"}, ValidationError, "'relative' is no path from the root, nor a URI"),
        ({"state.path": "s3a://bucket/save"}, ValidationError, "The columns of a table in 's3a://bucket/save' must be declared"),
        ({"state.path": "/nowhere"}, ValidationError, "There is no savepoint in '/nowhere': it has no savepoint.json"),
        ({"state.path": ""}, ValidationError, "Missing required options are:\n\nstate.path"),
    ],
)
def test_what_is_no_operator_is_refused(session: Session, savepoint: Path, options: dict, error: type, problem: str) -> None:
    with pytest.raises(error, match=problem):
        list(session.run(create(savepoint, **options)))


@pytest.mark.parametrize(
    ("columns", "problem", "hint"),
    [
        ("(acount BIGINT)", "Operator '0_totals/0' of the savepoint keeps no 'acount'", "Did you mean 'account'?"),
        ("(account INT)", "Column 'account' is declared INT, and operator '0_totals/0' keeps BIGINT", "CREATE TABLE s ("),
        ("(account BIGINT, k STRING METADATA)", "has no metadata columns", "CREATE TABLE s ("),
        (
            "(`SUM(amount)` DECIMAL(38, 2), PRIMARY KEY (`SUM(amount)`) NOT ENFORCED)",
            "The key of operator '0_totals/0' is (account), not (SUM(amount))",
            "CREATE TABLE s (",
        ),
    ],
)
def test_columns_are_those_that_are_kept(session: Session, savepoint: Path, columns: str, problem: str, hint: str) -> None:
    list(session.run(create(savepoint, columns)))
    with pytest.raises(SqlStreamError) as caught:
        list(session.run("EXPLAIN SELECT * FROM s;"))
    assert problem in str(caught.value) and hint in (caught.value.hint or "")


def test_the_declaration_that_is_told_is_right(session: Session, savepoint: Path) -> None:
    list(session.run(create(savepoint, "(account INT)")))
    with pytest.raises(ValidationError) as caught:
        list(session.run("EXPLAIN SELECT * FROM s;"))
    list(session.run("DROP TABLE s;"))
    assert "last ö" in explained(session, (caught.value.hint or "").partition("\n")[2])


def test_flinks_options_of_fields_are_refused_where_they_stand(session: Session, savepoint: Path) -> None:
    list(session.run(create(savepoint, "(account BIGINT)", **{"fields.account.state-name": "x"})))
    with pytest.raises(SqlStreamError, match=r"Option 'fields.account.state-name' of 'savepoint' is not supported"):
        list(session.run("EXPLAIN SELECT * FROM s;"))


def test_it_is_no_sink(session: Session, savepoint: Path) -> None:
    list(session.run(create(savepoint)))
    with pytest.raises(SqlStreamError, match="can only be used as a source"):
        list(session.run("EXPLAIN INSERT INTO s SELECT * FROM s;"))


def test_metadata_of_a_savepoint_are_rows(session: Session, savepoint: Path) -> None:
    assert list(session.run("LOAD MODULE state;"))
    call = f"savepoint_metadata({_text(str(savepoint))})"
    text = explained(session, "", f"SELECT `operator-uid`, `operator-name`, `operator-total-size-in-bytes` FROM {call}")
    assert "0_totals/0" in text and "GroupAggregate(groupBy=[account])" in text and "10_others/0" in text
    for wrong, problem in (
        ("savepoint_metadata(1)", "takes the path of a savepoint"),
        ("savepoint_metadata('/nowhere')", "There is no savepoint in"),
    ):
        with pytest.raises(ValidationError, match=problem):
            list(session.run(f"EXPLAIN SELECT * FROM {wrong};"))
