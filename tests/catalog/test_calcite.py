"""Expressions as real Flink's SHOW CREATE TABLE wrote them, and back."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlglot import exp

from sqlstream.catalog.calcite import expression_text
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.syntax.calls import Builtin, BuiltinAggregate

PAIRS = [line.split("  =>  ") for line in (Path(__file__).parent / "expressions.txt").read_text().splitlines()]
# Ours differ: a VARCHAR without a length is the type STRING, text beyond ASCII stays readable, no casts are put in.
OTHERWISE = {
    "CAST(`r`.`a` AS VARCHAR)": "CAST(`r`.`a` AS STRING)",
    "u&'\\00e9'": "'é'",
    "`a` > 1 AND NOT `a` IS NULL OR `s` LIKE 'x%'": "`a` > 1 AND `a` IS NOT NULL OR `s` LIKE 'x%'",
    "`r`.`a` > 1 IS TRUE": "(`r`.`a` > 1) IS TRUE",
    "ARRAY[`a`, CAST(1 AS INTEGER)]": "ARRAY[`a`, 1]",
}


def expression(text: str) -> exp.Expression:
    return parse(f"SELECT {text}").selects[0]


@pytest.mark.parametrize(("written", "calcite"), PAIRS)
def test_text_is_calcites(written: str, calcite: str) -> None:
    assert expression_text(expression(written)) == OTHERWISE.get(calcite, calcite)


# Calcite writes these as something else that means the same.
REWRITTEN = ("NULLIF(", "CASE r.a", "TRIM(s)", "CASE WHEN", "CAST(NULL AS MAP", "ARRAY[a,1]")


def plain(node: exp.Expression) -> exp.Expression:
    """``node`` without what does not count: parentheses, quoting, the case of function names."""
    copy = node.copy()
    for part in list(copy.walk()):
        if isinstance(part, exp.Paren):
            inner = part.this
            if part is copy:
                copy = inner
            else:
                part.replace(inner)
        elif isinstance(part, exp.Identifier):
            part.set("quoted", False)
        elif isinstance(part, exp.Anonymous | Builtin | BuiltinAggregate):
            part.set("this", part.name.upper())
        elif isinstance(part, exp.HexString | exp.Literal) and not part.args.get("is_string"):
            part.set("this", part.name.lower())
    return copy


@pytest.mark.parametrize("written", [w for w, _ in PAIRS if not w.startswith(REWRITTEN)])
def test_text_means_the_same(written: str) -> None:
    tree = expression(written)
    assert plain(expression(expression_text(tree))) == plain(tree)
