"""A script's findings: what does not parse or plan, as errors, and what the rules find in the rest. It goes on behind an error."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp

from sqlstream.errors import Location, NotSupported, SqlStreamError, offset_of
from sqlstream.lint.registry import RULES
from sqlstream.lint.subject import Subject
from sqlstream.secrets import masked_value
from sqlstream.sql import ast
from sqlstream.sql.dialect import parse
from sqlstream.sql.masking import masked_text
from sqlstream.sql.statements import split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.lint.subject import Planned
    from sqlstream.sql.statements import Statement
    from sqlstream.sql.tables import Table

_QUERIES = (exp.Query, exp.Values, ast.Insert, ast.StatementSet, ast.Explain)
_SUPPRESSED = re.compile(r"--\s*noqa\b(?::\s*(?P<codes>\w+(?:\s*,\s*\w+)*))?", re.I)


class Planning(Protocol):
    """What a script's statements are declared and planned in."""

    def declare(self, node: exp.Expr) -> Table | None:
        """Carry out a declaration or a SET; the table that was declared. Raises SqlStreamError."""
        ...

    def plans(self, node: exp.Expr) -> tuple[Planned, ...]:
        """The plans of the queries in a statement. Raises SqlStreamError."""
        ...


@dataclass(frozen=True, order=True)
class Finding:
    """What is to be said about a place of a file. ``code`` is a rule's, or an error's."""

    file: str
    line: int
    column: int
    code: str
    message: str
    hint: str = ""
    error: bool = False

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.file}:{self.line}:{self.column}: {self.code} {self.message}{hint}"


def of_error(error: SqlStreamError, file: str) -> Finding:
    """An error that has its place."""
    at = error.location
    line, column = (at.line, at.column) if at is not None else (1, 1)
    return Finding(at.file or file if at is not None else file, line, column, error.code, _line(error.message), _line(error.hint or ""), True)


def script_findings(script: str, file: str, session: Planning) -> list[Finding]:
    """What is to be said about a script, in the order of its text."""
    found: list[Finding] = []
    parsed: list[tuple[Statement, exp.Expr]] = []
    for statement in split(script):
        try:
            parsed.append((statement, parse(statement.text)))
        except SqlStreamError as error:
            found.append(of_error(error.located(masked_text(script), file, statement.start), file))
    trees = tuple(tree for _, tree in parsed)
    for place, (statement, tree) in enumerate(parsed):
        try:
            subject = _subject(tree, session, trees[place + 1 :])
            found += statement_findings(subject, script, file, statement.start)
        except SqlStreamError as error:
            found.append(of_error(error.located(masked_text(script), file, statement.start), file))
    return sorted(found)


def statement_findings(subject: Subject, script: str, file: str, start: int) -> Iterator[Finding]:
    """What the rules say about a statement that begins at offset ``start`` of its script."""
    first = Location.of(script, file, start)
    for rule in RULES:
        for one in rule.check(subject):
            at = Location.of(script, file, start + (offset_of(one.at) or 0))
            if not any(_leaves_out(line, rule.code) for line in (first.text, at.text)):
                yield Finding(file, at.line, at.column, rule.code, masked_value(one.message), masked_value(one.hint))


def _subject(tree: exp.Expr, session: Planning, later: tuple[exp.Expr, ...]) -> Subject:
    match tree:
        case ast.Unsupported():
            raise NotSupported(f"{tree.args['kind']} is not supported: {tree.args['this']}", at=tree, hint=tree.args.get("hint"))
        case _ if isinstance(tree, _QUERIES):
            return Subject(tree, session.plans(tree), later=later)
    declared = session.declare(tree)
    filled = isinstance(tree, ast.CreateTable) and tree.args.get("query") is not None
    return Subject(tree, session.plans(tree) if filled else (), declared, later)


def _leaves_out(line: str, code: str) -> bool:
    marked = _SUPPRESSED.search(line)
    return marked is not None and (marked["codes"] is None or code in re.split(r"\s*,\s*", marked["codes"].upper()))


def _line(text: str) -> str:
    return " ".join(text.split())
