"""The table of statements is whole: what a pattern says parses to its node, and is written back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import SyntaxProblem
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.statements.pattern import Brackets, Choice, Part, Sequenced, Slot, Word, arguments
from sqlstream.sql.statements.table import FORMS, LISTED, REFUSED, SHORT_FORMS, WRITERS
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from sqlstream.sql.statements.form import StatementForm

# Something for each slot and each kind of brackets.
IN_BRACKETS = {
    "(columns)": "(a)", "(options)": "('k' = 'v')", "(keys)": "('k')", "(choices)": "(INCLUDING ALL)", "(values)": "(a = 1)",
    "(parameter => value, ...)": "(a => 1)",
}  # fmt: skip
SETS = " INSERT INTO t SELECT 1; END"
# Where columns are defined.
COLUMNS = {ast.AlterTable: {"(columns)": "(a INT)"}}


def sample(part: Part, form: StatementForm, *, whole: bool, row: int = 0) -> str:
    """A statement of the pattern: with all that may be left out, or without; of each choice the row ``row``, or the last."""
    match part:
        case Word(text):
            return text
        case Slot():
            return {"query": "SELECT 1", "number": "1", "new": "n"}.get(part.kind) or ("'x'" if part.shown.startswith("'") else "x")
        case Brackets(shown):
            return COLUMNS.get(form.node, {}).get(shown, IN_BRACKETS[shown])
        case Sequenced(parts):
            return " ".join(filter(None, (sample(p, form, whole=whole, row=row) for p in parts)))
        case Choice(rows, optional):
            return "" if optional and not whole else sample(rows[min(row, len(rows) - 1)], form, whole=whole, row=row)


CASES = [
    (form, text + (SETS if text.endswith("STATEMENT SET BEGIN") else ""))
    for form in FORMS
    if issubclass(form.node, ast.Statement)
    for text in dict.fromkeys(sample(form.parts, form, whole=whole, row=row) for whole in (False, True) for row in range(6))
]


@pytest.mark.parametrize(("form", "text"), CASES, ids=[text for _, text in CASES])
def test_what_a_pattern_says_is_its_statement(form: StatementForm, text: str) -> None:
    found = parse(text)
    assert isinstance(found, form.node)
    assert parse(found.sql("flink")) == found


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.pattern)
def test_arguments_are_those_of_the_node(form: StatementForm) -> None:
    assert set(arguments(form.parts)) <= set(form.node.arg_types)
    if form.parse is None and issubclass(form.node, ast.Statement) and not form.write:
        needed = {name for name, required in form.node.arg_types.items() if required}
        assert needed <= set(arguments(form.parts))


def test_every_statement_is_in_it() -> None:
    nodes = {kind for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.Statement)} - {ast.Statement}
    assert nodes - {ast.Unsupported} == set(WRITERS)


def test_what_is_listed_is_told() -> None:
    assert all(form.summary.endswith(".") for form in LISTED)
    assert len(SHORT_FORMS) == sum(form.short is not None for form in LISTED)
    assert not any(form.summary or form.short or form.bare for form in FORMS if form not in LISTED)


@pytest.mark.parametrize(
    ("text", "offset", "hint"),
    [
        ("SHOW CREATE x", 5, "CREATE TABLE, CREATE VIEW or CREATE CATALOG"),
        ("SHOW CURRENT x", 5, "CURRENT CATALOG or CURRENT DATABASE"),
        ("SHOW TABLES NOT 'x'", 16, "LIKE or ILIKE"),
        ("EXPORT LAST TO 'a' FORMAT x", 26, "CSV, JSON or PARQUET"),
        ("EXPORT LAST 'a'", 12, "TO"),
        ("PEEK", 3, "a string in single quotes"),
    ],
)
def test_what_is_missing_is_told(text: str, offset: int, hint: str) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        parse(text)
    assert (caught.value.offset, caught.value.hint) == (offset, f"Was expecting: {hint}")


def test_what_is_refused_has_a_reason() -> None:
    for refused in REFUSED:
        assert isinstance(parse(" ".join([*refused.words, "x"])), ast.Unsupported)
        assert refused.reason.endswith(".")
