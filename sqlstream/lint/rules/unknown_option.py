"""SET and RESET of a key that no option has: it has no effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.core import settings
from sqlstream.lint.subject import Violation
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.lint.subject import Subject

LEAVE_OUT = "leave it out; HELP SET lists the options"


def check(subject: Subject) -> Iterator[Violation]:
    node = subject.tree
    if not isinstance(node, ast.Set | ast.Reset) or (key := node.args.get("this")) is None:
        return
    other, of_spark = settings.misspelt(key), key.startswith("spark.")
    refused = isinstance(node, ast.Set) and other is not None and not of_spark
    if not refused and (other is not None or settings.is_unknown(key)):
        hint = f"write '{other}'" if other else LEAVE_OUT
        yield Violation(node.meta.get("key", node), f"No option is called '{key}'", hint)
