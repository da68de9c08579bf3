"""A watermark without a delay: every row that comes out of order is late. Not so of a versioned table, whose rows are looked up as of a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.lint.subject import Violation
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.lint.subject import Subject


def check(subject: Subject) -> Iterator[Violation]:
    watermark = subject.table.watermark if subject.table is not None and subject.table.primary_key is None else None
    declared = subject.tree.watermarks if isinstance(subject.tree, ast.CreateTable) else []
    if watermark is not None and declared and isinstance(watermark.expression, exp.Column):
        yield Violation(
            declared[0],
            f"The watermark of {watermark.column} has no delay: a row that comes out of order is late, and dropped by windows",
            f"WATERMARK FOR {watermark.column} AS {watermark.column} - INTERVAL '5' SECOND",
        )
