"""How expressions without parentheses are read: the trees that real Flink's parser makes of them, and ours."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlglot import exp

from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.syntax import ast

LINES = (Path(__file__).parent / "recorded" / "precedence.txt").read_text().splitlines()
CASES = [line.split(" => ") for line in LINES]
NAMES: dict[type, str] = {
    exp.Or: "OR", exp.And: "AND", exp.Not: "NOT", exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.DPipe: "||", exp.Neg: "-", exp.Like: "LIKE",
    exp.SimilarTo: "SIMILAR TO", exp.NullSafeEQ: "IS NOT DISTINCT FROM", exp.NullSafeNEQ: "IS DISTINCT FROM", exp.Overlaps: "OVERLAPS",
    exp.Tuple: "ROW",
}  # fmt: skip


def tree(node: exp.Expr) -> str:
    """``node`` as the recorded trees are written."""
    match node:
        case exp.Paren():
            return tree(node.this)
        case exp.Column():
            return ".".join(part.name for part in node.parts)
        case exp.Literal():
            return repr(node.name) if node.is_string else node.name
        case exp.Boolean():
            return str(node.this).upper()
        case ast.IntervalLiteral():
            return node.sql("flink")
        case exp.Is():
            return f"(IS {tree(node.expression)} {tree(node.this)})"
        case exp.Null():
            return "NULL"
        case exp.In():
            return f"(IN {tree(node.this)} {items(node.expressions)})"
        case exp.Between():
            return f"(BETWEEN ASYMMETRIC {tree(node.this)} {tree(node.args['low'])} {tree(node.args['high'])})"
        case exp.Escape():
            return f"{tree(node.this)[:-1]} {tree(node.expression)})"
        case exp.Bracket():
            return f"(ITEM {tree(node.this)} {tree(node.expressions[0])})"
        case exp.Dot():
            return f"(DOT {tree(node.this)} {node.expression.name})"
        case exp.EQ(expression=exp.Any()) | exp.LT(expression=exp.Any()):
            return f"({NAMES[type(node)]} SOME {tree(node.this)} {items(node.expression.this.expressions)})"
    parts = [p for value in node.args.values() for p in (value if isinstance(value, list) else [value]) if isinstance(p, exp.Expr)]
    return f"({NAMES[type(node)]} {' '.join(tree(p) for p in parts)})"


def items(nodes: list[exp.Expr]) -> str:
    return f"[{' '.join(tree(n) for n in nodes)}]"


def positive(recorded: str) -> str:
    """A recorded tree with NOT where we have it: before the whole test, not in its name."""
    for name in ("IS NOT NULL", "IS NOT TRUE", "IS NOT FALSE", "NOT IN", "NOT LIKE", "NOT BETWEEN ASYMMETRIC"):
        while f"({name} " in recorded:
            start = recorded.index(f"({name} ")
            depth, end = 0, start
            while True:
                depth += {"(": 1, ")": -1}.get(recorded[end], 0)
                end += 1
                if depth == 0:
                    break
            inner = recorded[start:end].replace(f"({name} ", f"({name.replace('NOT ', '', 1)} ", 1)
            recorded = f"{recorded[:start]}(NOT {inner}){recorded[end:]}"
    return recorded


@pytest.mark.parametrize(("text", "recorded"), CASES, ids=[text for text, _ in CASES])
def test_operators_bind_as_in_flink(text: str, recorded: str) -> None:
    read = parse(f"SELECT {text} FROM t").find(exp.Select)
    assert read is not None
    assert tree(read.expressions[0]) == positive(recorded)


@pytest.mark.parametrize("text", [text for text, _ in CASES])
def test_what_is_written_back_binds_alike(text: str) -> None:
    read = parse(f"SELECT {text} FROM t")
    assert parse(read.sql("flink")) == read
