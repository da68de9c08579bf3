"""HELP: everything that is declared is explained, and every example runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from sqlstream import connectors, formats
from sqlstream.core import settings
from sqlstream.core.errors import SqlStreamError, ValidationError
from sqlstream.session.help import text
from sqlstream.session.help.query_forms import QUERY_FORMS
from sqlstream.sql.functions import FUNCTIONS
from sqlstream.sql.statements.table import LISTED
from tests.support.sessions import open_session

if TYPE_CHECKING:
    from pathlib import Path


def said(folder: Path, statement: str) -> str:
    (outcome,) = open_session(folder).run(statement)
    return outcome.lines


def test_the_overview_names_every_topic(tmp_path: Path) -> None:
    lines = said(tmp_path, "HELP;").splitlines()
    assert len(lines) <= 30 and max(map(len, lines)) <= 80
    shown = " ".join(" ".join(lines).split())
    assert shown.startswith("Statements end with a semicolon.")
    for name in (*(t.name for t in QUERY_FORMS), *(c.name for c in connectors.CONNECTORS.builtin), *(f.name for f in formats.FORMATS.builtin)):
        assert re.search(rf"\b{re.escape(name)}\b", shown), name


def test_what_the_overview_names_has_help() -> None:
    named = [name for line in re.sub(r"\n +", " ", text("")).splitlines()[3:] for name in line.partition(": ")[2].split(", ")]
    assert len(named) > 80 and {"SELECT", "BEGIN STATEMENT SET", "SHOW JOBS", "TOP-N", "kafka", "KEYS"} <= set(named)
    assert all(text(name) for name in named)


def test_the_list_of_statements_has_each_with_what_it_does() -> None:
    shown = " ".join(text("STATEMENTS").split())
    assert "STOP JOB 'id' [WITH SAVEPOINT] [WITH DRAIN] Stops a job; with DRAIN its open windows fire first." in shown
    assert all(" ".join(form.shown.split()) in shown and form.summary in shown for form in LISTED)


@pytest.mark.parametrize(
    ("statement", "begins", "holds"),
    [
        ("HELP TUMBLE", "TUMBLE: TABLE(TUMBLE(", "GROUP BY window_start, window_end, item;"),
        ("HELP hop", "HOP: ", "INTERVAL '5' MINUTES"),
        ("HELP interval join", "INTERVAL JOIN: ", "BETWEEN o.ts"),
        ("HELP FUNCTION upper", "UPPER(STRING)", "SELECT UPPER('a');"),
        ("HELP substr", "SUBSTR(STRING, INT, INT?)", "SELECT SUBSTR('abc', 2, 1);"),
        ("HELP FUNCTION sum", "SUM(NUMERIC)", "SELECT SUM(x) FROM (VALUES (1.5e0, 'a'), "),
        ("HELP CATALOG generic_in_memory", "Catalog 'generic_in_memory'", "CREATE CATALOG archive"),
        ("HELP CONNECTOR kafka", "Connector 'kafka'", "scan.startup.mode: one of group-offsets, earliest-offset"),
        ("HELP CONNECTOR 'delta'", "Connector 'delta'", "CREATE TABLE totals"),
        ("HELP FORMAT csv", "Format 'csv'", "csv.field-delimiter"),
        ("HELP SET 'table.exec.state.ttl'", "table.exec.state.ttl: duration, default 0 ms", "How long"),
        ("HELP CREATE TABLE", "CREATE [TEMPORARY] TABLE", "LIKE"),
        ("HELP STOP", "STOP JOB", "DRAIN"),
        ("HELP KEYS", "Keys of the prompt", "Runs only the statement under the cursor"),
    ],
)
def test_help_of(tmp_path: Path, statement: str, begins: str, holds: str) -> None:
    shown = said(tmp_path, statement + ";")
    assert shown.startswith(begins)
    assert holds in shown


@pytest.mark.parametrize(
    ("topic", "hint"), [("TUMBL", "Did you mean 'TUMBLE'?"), ("FUNCTION uper", "Did you mean 'UPPER'?"), ("CONNECTOR kafak", "Did you mean 'kafka'?")]
)
def test_what_is_not_known(topic: str, hint: str) -> None:
    with pytest.raises(ValidationError) as caught:
        text(topic)
    assert (caught.value.message, caught.value.hint) == (f"There is no help for '{topic}'.", hint)


def test_everything_has_help() -> None:
    for function in FUNCTIONS:
        assert text(f"FUNCTION {function.name}") if " " not in function.name else function.summary
        assert function.summary.endswith("."), function.name
    for connector in connectors.CONNECTORS.builtin:
        assert connector.summary.endswith(".")
        assert all(o.summary or o.why for o in connector.options), connector.name
        assert text(f"CONNECTOR {connector.name}")
    for format_ in formats.FORMATS.builtin:
        assert all(o.summary or o.why for o in format_.options), format_.name
    assert all(o.summary or o.why for o in settings.SETTINGS)


@pytest.mark.parametrize("topic", QUERY_FORMS, ids=lambda t: t.name)
def test_examples_of_topics_are_planned(tmp_path: Path, topic) -> None:
    made = open_session(tmp_path)
    *before, last = (s for s in topic.example.split(";\n") if s.strip())
    list(made.run(";\n".join([*before, ""])))
    (outcome,) = made.run(f"EXPLAIN {last.strip()}")
    assert "== Optimized Physical Plan ==" in outcome.rows[0][0]


@pytest.mark.parametrize("connector", connectors.CONNECTORS.builtin, ids=lambda c: c.name)
def test_examples_of_connectors_are_tables(tmp_path: Path, connector) -> None:
    made = open_session(tmp_path)
    list(made.run(connector.example.replace("${env:SHOP_PASSWORD}", "x")))
    name = re.search(r"CREATE TABLE (\w+)", connector.example)[1]
    (outcome,) = made.run(f"DESCRIBE {name};")
    assert outcome.rows


def test_examples_of_functions_are_planned(tmp_path: Path) -> None:
    made = open_session(tmp_path)
    list(made.run("SET 'execution.runtime-mode' = 'batch';"))
    wrong = []
    for function in FUNCTIONS:
        try:
            *before, last = function.runnable.split(";\n")
            list(made.run(";".join([*before, f"EXPLAIN {last}"])))
        except SqlStreamError as error:
            wrong.append((function.runnable, error.message))
    assert wrong == []


def test_describe_function(tmp_path: Path) -> None:
    (shown,) = open_session(tmp_path).run("DESCRIBE FUNCTION EXTENDED `substr`;")
    assert dict(shown.rows) == {
        "is system function": "true", "is temporary": "false", "kind": "SCALAR", "requirements": "[]", "is deterministic": "true",
        "supports constant folding": "true", "signature": "SUBSTR(STRING, INT, INT?)",
        "description": "A part, counted from 1; from the end where negative.", "example": "SELECT SUBSTR('abc', 2, 1);",
    }  # fmt: skip
    (shown,) = open_session(tmp_path).run("DESCRIBE FUNCTION `rand`;")
    assert shown.rows == (("is system function", "true"), ("is temporary", "false"))


@pytest.mark.spark
def test_examples_run(tmp_path: Path, engine) -> None:
    made = open_session(tmp_path, engine=engine)
    for name in ("CUMULATE", "UNNEST", "TEMPORAL JOIN"):
        example = next(t.example for t in QUERY_FORMS if t.name == name)
        *_, stream = made.run(example)
        assert sum(1 for _ in stream.changes) > 3
        list(made.run("".join(f"DROP TEMPORARY {kind} {table};" for kind, table in re.findall(r"CREATE TEMPORARY (TABLE|VIEW) (\w+)", example))))


def test_a_misspelt_option_is_none_of_those_of_its_pattern() -> None:
    with pytest.raises(ValidationError, match=r"There is no option 'table.exec.state.tll'.") as refused:
        text("SET table.exec.state.tll")
    assert refused.value.hint == "Did you mean 'table.exec.state.ttl'?"
    assert text("SET 'table.exec.state.ttl'").startswith("table.exec.state.ttl")
    assert "spark.*" in text("SET spark.driver.memori")
