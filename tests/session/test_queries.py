"""Saved queries: their heads, and literals in place of their parameters."""

import pytest

from sqlstream.cli import check
from sqlstream.core.errors import ValidationError
from sqlstream.session.queries import SavedQuery, signature
from sqlstream.sql.statements.parsing import parse
from tests.support.sessions import open_session

TEXT = """-- What was spent?
-- by one, at least so much
-- :who STRING -- a name
-- :least DECIMAL(10,2) = 1.50
-- :size INTERVAL = 5 MINUTE
SELECT ':who', :other, `a:b` FROM t WHERE a = :who AND b >= :least -- :nothing
AND c < :size"""


def query(text=TEXT):
    return SavedQuery("spent", None, text)


def script(arguments, text=TEXT):
    node = parse(f"EXECUTE QUERY spent {arguments}")
    return query(text).script(node.expressions, node)


def test_the_head_of_a_file():
    found = query()
    assert found.question == "What was spent?"
    assert [(p.name, p.type, p.default, p.summary) for p in found.parameters] == [
        ("who", "STRING", None, "a name"), ("least", "DECIMAL(10, 2)", "1.50", ""), ("size", "INTERVAL", "5 MINUTE", ""), ("other", "", None, ""),
    ]  # fmt: skip
    assert signature(found) == "who STRING, least DECIMAL(10, 2) = 1.50, size INTERVAL = 5 MINUTE, other"


def test_parameters_become_literals():
    assert script("(who => 'x'' OR 1 = 1 --', other => 7)").splitlines()[-2:] == [
        "SELECT ':who', 7, `a:b` FROM t WHERE a = 'x'' OR 1 = 1 --' AND b >= CAST(1.50 AS DECIMAL(10, 2)) -- :nothing",
        "AND c < INTERVAL '5' MINUTE",
    ]


@pytest.mark.parametrize(
    ("type_", "value", "literal"),
    [
        ("", "5", "5"), ("", "'05'", "'05'"), ("", "TRUE", "TRUE"), ("", "'; DROP TABLE t'", "'; DROP TABLE t'"), ("", "NULL", "NULL"),
        ("STRING", "5", "'5'"), ("INT", "-5", "-5"), ("BIGINT", "'5'", "CAST(5 AS BIGINT)"), ("DOUBLE", "1.5", "CAST('1.5' AS DOUBLE)"),
        ("BOOLEAN", "'true'", "TRUE"), ("DATE", "DATE '2026-01-02'", "DATE '2026-01-02'"), ("TIME", "'10:00:00'", "TIME '10:00:00'"),
        ("TIMESTAMP(3)", "'2026-01-02T10:00:00.5'", "CAST(TIMESTAMP '2026-01-02 10:00:00.5' AS TIMESTAMP(3))"),
        ("INTERVAL", "INTERVAL '2' HOUR", "INTERVAL '2' HOUR"), ("INT", "NULL", "CAST(NULL AS INT)"),
    ],
)  # fmt: skip
def test_a_literal_of_each_type(type_, value, literal):
    head = f"-- :x {type_}\n" if type_ else ""
    made = script(f"(x => {value})", f"{head}SELECT :x")
    assert made.removeprefix(head) == f"SELECT {literal}"
    parse(made)


@pytest.mark.parametrize(
    ("type_", "value"),
    [("INT", "'5 OR 1'"), ("INT", "5000000000"), ("DECIMAL(5, 2)", "'x'"), ("BOOLEAN", "'maybe'"), ("DATE", "'2026-13-01'"),
     ("TIMESTAMP(3)", "'2026-01-02 10:00:00+02:00'"), ("INTERVAL", "'5 apples'"), ("DOUBLE", "'NaN'"), ("ROW", "1")],
)  # fmt: skip
def test_a_wrong_value_is_refused(type_, value):
    with pytest.raises(ValidationError):
        script(f"(x => {value})", f"-- :x {type_}\nSELECT :x")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [("(whom => 1)", "no parameter 'whom'"), ("", "'who' of the query 'spent' has no value"), ("()", "has no value")],
)
def test_unknown_and_missing_parameters(arguments, said):
    with pytest.raises(ValidationError, match=said) as caught:
        script(arguments)
    assert caught.value.hint


@pytest.fixture
def session(tmp_path):
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "typed.sql").write_text(
        "-- How many?\n-- :least INT\nSET 'a' = 'b';\nEXPLAIN SELECT n\nFROM t WHERE n > :least AND n < :most AND s = NULL;"
    )
    (tmp_path / "queries" / "other.sql").write_text("SHOW TABLES;")
    return open_session(tmp_path, "CREATE TABLE t (n INT, s STRING) WITH ('connector' = 'datagen')")


def test_it_runs_by_its_name(session):
    done, explained = session.run("EXECUTE QUERY typed (least => 3, most => 9)")
    assert done.statement == "SET 'a' = 'b'"
    assert "(n > 3) AND (n < 9)" in explained.rows[0][0] or "n > 3" in explained.rows[0][0]
    with pytest.raises(ValidationError, match="no saved query 'type'") as caught:
        list(session.run("EXECUTE QUERY type"))
    assert caught.value.hint == "Did you mean 'typed'?"


def test_they_are_listed(session):
    (found,) = session.run("SHOW QUERIES")
    assert found.rows == (("other", "", ""), ("typed", "least INT, most", "How many?"))
    (found,) = session.run("SHOW QUERIES LIKE 'ty%'")
    assert [r[0] for r in found.rows] == ["typed"]


def test_the_linter_reads_past_parameters(session):
    found = list(check.findings(session, [session.project / "queries" / "typed.sql"]))
    assert [(f.line, f.column, f.code) for f in found] == [(3, 5, "L016"), (5, 43, "L008")]
