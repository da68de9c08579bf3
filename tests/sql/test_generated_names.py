"""Names that sqlstream gives: no user can write one, and nothing else is bound in Spark's SQL."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import sqlstream
from sqlstream.core.changelog import KIND
from sqlstream.core.errors import SyntaxProblem
from sqlstream.core.hidden import hidden
from sqlstream.sql.generated_names import bound, generated, reserved, shown
from sqlstream.sql.statements.parsing import parse

SOURCES = sorted(Path(sqlstream.__file__).parent.rglob("*.py"))
# A lambda whose variable is written out.
LAMBDA = re.compile(r"(?:\b\w+|\b[\w, ]+\)) -> ")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT __sqlstream_x FROM t", "SELECT `__sqlstream_x` FROM t", "SELECT a AS __SQLStream_kind FROM t", "SELECT * FROM t AS __sqlstream",
        "SELECT t.__sqlstream_x FROM t", "SELECT r.`__sqlstream$f0` FROM t", "CREATE TABLE t (__sqlstream_value INT) WITH ('connector' = 'datagen')",
        "SELECT CAST(NULL AS ROW<__sqlstream_x INT>)", "SELECT * FROM t, UNNEST(a) AS u (__sqlstream_element)", "WITH __sqlstream AS (SELECT 1) SELECT 1",
    ],
)  # fmt: skip
def test_a_reserved_name_is_refused_at_its_place(text: str) -> None:
    with pytest.raises(SyntaxProblem, match="Names that begin with __sqlstream") as caught:
        parse(text)
    offset = caught.value.offset
    assert offset is not None
    assert text[offset:].lstrip("`").lower().startswith("__sqlstream")


def test_a_reserved_name_may_be_in_texts() -> None:
    parse("SELECT '__sqlstream_x' AS `a__sqlstream` /* __sqlstream */ -- __sqlstream")


def test_what_is_generated_is_reserved() -> None:
    assert reserved(generated("f0"))
    assert shown(f"{generated('f0')} + `a`") == "$f0 + `a`"
    assert bound(lambda x: f"{x} + 1") == "__sqlstream_x -> __sqlstream_x + 1"
    assert bound(lambda a, x: f"{a} + {x}", 2) == "(__sqlstream_a2, __sqlstream_x2) -> __sqlstream_a2 + __sqlstream_x2"


def test_no_lambda_is_written_by_hand() -> None:
    found = []
    for path in SOURCES:
        tree = ast.parse(path.read_text())
        described = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
        texts = [n for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in described]
        # Those with functions are examples in Python.
        found += [f"{path.name}:{n.lineno} {n.value}" for n in texts if LAMBDA.search(n.value) and "def " not in n.value]
    assert found == []


def test_names_of_columns_that_are_added_are_made_in_one_place() -> None:
    root = Path(sqlstream.__file__).parent
    written = [p.relative_to(root).as_posix() for p in sorted(root.rglob("*.py")) if not p.is_symlink() and re.search(r"__sqlstream", p.read_text())]
    # In the docstring of ``bound`` one is shown.
    assert written == ["core/hidden.py", "sql/generated_names.py"]
    assert hidden("kind") == KIND == "__sqlstream_kind"
