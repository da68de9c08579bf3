"""A script's findings: what does not parse or plan, as errors, and what the rules find in the rest. It continues after an error."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from sqlstream.core.defects import as_defects
from sqlstream.core.errors import AlreadyThere, Location, SqlStreamError, offset_of, without_place
from sqlstream.core.secrets import masked_value
from sqlstream.lint.registry import RULES
from sqlstream.lint.subject import Subject
from sqlstream.sql.masking import masked_text
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.statements.split import split
from sqlstream.sql.syntax.lexer import Kind, lexemes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlglot import exp

    from sqlstream.plan.planned import Planned
    from sqlstream.sql.statements.split import StatementText
    from sqlstream.sql.tables import Table

_SUPPRESSED = re.compile(r"--\s*noqa\b(?::\s*(?P<codes>\w+(?:\s*,\s*\w+)*))?", re.I)
# Of a declaration, up to the name of what it declares.
_HEAD = 24
_BEFORE_NAME = ("OR", "REPLACE", "TEMPORARY", "TABLE", "VIEW", "IF", "NOT", "EXISTS")


@dataclass(frozen=True)
class Checked:
    """A statement that was carried out as far as its plan: its syntax, the plans of its queries, the table that it declares, its errors."""

    tree: exp.Expr
    planned: tuple[Planned, ...] = ()
    table: Table | None = None
    errors: tuple[SqlStreamError, ...] = ()


class Carrying(Protocol):
    """What carries a script's statements out, one after the other. ``project`` is the folder that they are of, ``undeclared`` are the tables and
    views whose declarations are wrong.
    """

    @property
    def project(self) -> Path: ...
    @property
    def undeclared(self) -> set[str]: ...

    def checked(self, statement: StatementText) -> Checked:
        """What came of a statement that parses."""
        ...


@dataclass(frozen=True, order=True)
class Finding:
    """What is to be said about a place of a file. ``code`` is a rule's, or an error's. ``there``: what a statement makes exists already."""

    file: str
    line: int
    column: int
    code: str
    message: str
    hint: str = ""
    error: bool = False
    there: bool = False

    def as_json(self) -> str:
        """The same for a program."""
        return json.dumps({name: value for name, value in asdict(self).items() if name != "there"})

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.file}:{self.line}:{self.column}: {self.code} {self.message}{hint}"


def of_error(error: SqlStreamError, file: str) -> Finding:
    """An error that has its place."""
    at = error.location
    line, column = (at.line, at.column) if at is not None else (1, 1)
    place = at.file or file if at is not None else file
    return Finding(
        place, line, column, error.code, _line(without_place(error.message)), _line(error.hint or ""), True, isinstance(error, AlreadyThere)
    )


def script_findings(script: str, file: str, session: Carrying, *, local: bool = True) -> list[Finding]:
    """What is to be said about a script, in the order of its text. ``local``: see Subject."""
    findings: list[Finding] = []
    parsed: list[tuple[StatementText, exp.Expr]] = []
    shown = masked_text(script)
    for statement in split(script):
        try:
            with as_defects(session.project):
                parsed.append((statement, parse(statement)))
        except SqlStreamError as error:
            findings.append(of_error(error.located(shown, file, statement.start), file))
            if name := _declared(statement.text):
                session.undeclared.add(name)
    trees = tuple(tree for _, tree in parsed)
    for place, (statement, _) in enumerate(parsed):
        try:
            with as_defects(session.project):
                checked = session.checked(statement)
                findings += (of_error(e.located(shown, file, statement.start), file) for e in checked.errors)
                subject = Subject(checked.tree, checked.planned, checked.table, trees[place + 1 :], local)
                findings += statement_findings(subject, script, file, statement.start)
        except SqlStreamError as error:
            findings.append(of_error(error.located(shown, file, statement.start), file))
    return sorted(set(findings))


def statement_findings(subject: Subject, script: str, file: str, start: int) -> Iterator[Finding]:
    """What the rules say about a statement that begins at offset ``start`` of its script."""
    first = Location.of(script, file, start)
    for rule in RULES:
        for one in rule.check(subject):
            at = Location.of(script, file, start + (offset_of(one.at) or 0))
            if not any(rule.code in codes or not codes for line in {first.line, at.line} for codes in _suppressed(script).get(line, ())):
                yield Finding(file, at.line, at.column, rule.code, masked_value(one.message), masked_value(one.hint))


@lru_cache(maxsize=8)
def _suppressed(script: str) -> dict[int, list[tuple[str, ...]]]:
    """What the comments ``-- noqa: CODE, CODE`` say, by the lines that they stand in; where one names no code, all are meant."""
    suppressed: dict[int, list[tuple[str, ...]]] = {}
    for comment in lexemes(script, open_ends=True):
        if comment.kind is Kind.COMMENT and (match := _SUPPRESSED.search(comment.text)):
            codes = tuple(code.strip() for code in match["codes"].upper().split(",")) if match["codes"] else ()
            suppressed.setdefault(script.count("\n", 0, comment.start + match.start()) + 1, []).append(codes)
    return suppressed


def _declared(statement: str) -> str:
    """The name of the table or view that a statement that does not parse declares; empty for any other."""
    written = [x for x in islice(lexemes(statement, open_ends=True), _HEAD) if x.kind is not Kind.COMMENT]
    words = [x.upper for x in written]
    place = next((i for i, word in enumerate(words[1:], 1) if word not in _BEFORE_NAME), 0)
    if words[:1] != ["CREATE"] or not {"TABLE", "VIEW"} & set(words[:place]):
        return ""
    while words[place + 1 : place + 2] == ["."] and place + 2 < len(written):
        place += 2
    return written[place].name


def _line(text: str) -> str:
    return " ".join(text.split())
