"""A rowtime that may be a constant of the far future: the watermark follows it, and rows that come afterwards are late."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.lint.subject import Violation
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.lint.subject import Subject

_DATE = re.compile(r"\s*\+?(\d{4,})-\d{1,2}(-|\s*$)")
# Nobody's data is of so many years ahead.
_YEARS = 20


def check(subject: Subject) -> Iterator[Violation]:
    table = subject.tree
    if not isinstance(table, ast.CreateTable):
        return
    rowtimes = {mark.this.name for mark in table.watermarks}
    columns = (c for c in table.columns if isinstance(c, ast.ComputedColumnDef) and c.this.name in rowtimes)
    for rowtime, text in ((c.this, text) for c in columns for text in c.expression.find_all(exp.Literal, ast.TimeLiteral)):
        date = None if text.is_number else _DATE.match(text.name)
        if date is not None and int(date[1]) > datetime.now(UTC).year + _YEARS:
            yield Violation(
                text,
                f"{rowtime.name} may be '{text.name}', which raises the watermark for good: from then on, rows of the present are late",
                "a time of the past in its place raises no watermark",
            )
