"""Statements that come from where their secrets were shown as asterisks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.core.errors import ValidationError
from sqlstream.core.secrets import is_masked
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from sqlglot import exp


def refuse_masked(node: exp.Expr, text: str) -> None:
    """Raise ValidationError for an option of a statement, whose ``text`` this is, that has asterisks in the place of a secret."""
    if "*" not in text:
        return
    for option in node.find_all(ast.OptionDef, ast.Set):
        key, value = (part if isinstance(part, str) else part.name for part in (option.this or "", option.expression or ""))
        if is_masked(key, value):
            raise ValidationError(
                f"The asterisks in the value of '{key}' stand for a secret that was not shown.",
                at=option, hint="Write the secret in again, or '${env:NAME}', and set the variable NAME.",
            )  # fmt: skip
