"""A password in plain text, in a file that goes to git."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.catalog.ddl import literal_secrets
from sqlstream.core.secrets import is_masked
from sqlstream.lint.subject import Violation
from sqlstream.sql.statements.split import VARIABLE
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.lint.subject import Subject


def check(subject: Subject) -> Iterator[Violation]:
    if subject.table is None:
        return
    written = {o.this.name: o for o in (subject.tree.options if isinstance(subject.tree, ast.CreateTable) else [])}
    for key in literal_secrets(subject.table.options):
        value = subject.table.options[key]
        if key in written and not VARIABLE.fullmatch(value) and not is_masked(key, value):
            yield Violation(written[key], f"'{key}' holds a secret in plain text", "write '${env:NAME}', and set the variable NAME")
