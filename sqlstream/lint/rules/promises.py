"""An option that asks for more than it gets: what is given instead is less than a user of Flink relies on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.connectors import declared_options
from sqlstream.core.options import find_option
from sqlstream.lint.subject import Violation
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.lint.subject import Subject


def check(subject: Subject) -> Iterator[Violation]:
    if subject.table is None:
        return
    declared = declared_options(subject.table.options)
    for written in subject.tree.options if isinstance(subject.tree, ast.CreateTable) else ():
        key, text = written.this.name, subject.table.options.get(written.this.name, "")
        option = find_option(declared, key)
        if option is not None and (given := option.given_instead(text)) is not None:
            yield Violation(written, f"'{key}' = '{text}' is not kept: {given}", "see docs/differences.md, What is promised less")
