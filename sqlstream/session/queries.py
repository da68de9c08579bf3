"""Saved queries: ``queries/*.sql`` of a project, each a script with the question that it answers, and parameters.

The comment at the head of a file is the question. Lines of it declare parameters: ``-- :least DECIMAL(10, 2) = 500 -- the least amount``. In
the script ``:least`` stands for a literal of that type, whatever is given for it: no text of the user's becomes SQL. One that is not declared
is a number or a boolean where it looks like one, else a string.
"""

from __future__ import annotations

import datetime
import math
import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.core.errors import ValidationError, did_you_mean
from sqlstream.core.secrets import is_secret, masked_option
from sqlstream.session.files import LocalFiles
from sqlstream.sql.quoting import flink_string
from sqlstream.sql.statements.split import placeholders
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

_PARAMETER = re.compile(r"--\s*:(?P<name>\w+)\s+(?P<type>\w+(?:\s*\([\d\s,]+\))?)(?:\s*=\s*(?P<default>.*?))?(?:\s+--\s*(?P<text>.*))?\s*$")
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")
_INTERVAL = re.compile(r"(-?\d+)\s+(SECOND|MINUTE|HOUR|DAY|MONTH|YEAR)S?", re.I)
_NAME = re.compile(r"[^\W\d]\w{0,99}")
# Of a number that somebody has meant.
_MOST_DIGITS = 100
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "INTEGER": 32, "BIGINT": 64}


@dataclass(frozen=True)
class QueryParameter:
    """``type`` is Flink's name of it, empty where nothing declares it; ``default`` None where a value is required."""

    name: str
    type: str = ""
    default: str | None = None
    summary: str = ""


@dataclass(frozen=True)
class SavedQuery:
    """A file of ``queries/``."""

    name: str
    path: Path
    text: str

    @property
    def question(self) -> str:
        """The first line of the comment at its head."""
        return next((line[2:].strip() for line in self._head() if not _PARAMETER.match(line)), "")

    @property
    def parameters(self) -> tuple[QueryParameter, ...]:
        """Those that are declared, then others that the script reads."""
        declared = {}
        for line in self._head():
            if match := _PARAMETER.match(line):
                type_ = re.sub(r"\s+", "", match["type"].upper()).replace(",", ", ")
                declared[match["name"]] = QueryParameter(match["name"], type_, _unquoted(match["default"]), match["text"] or "")
        for name, _, _ in placeholders(self.text):
            declared.setdefault(name, QueryParameter(name))
        return tuple(declared.values())

    def sample(self, undeclared: str) -> tuple[str, list[tuple[int, int, int]]]:
        """The text with some value for each parameter, and for each place in it where one stands: its start, its length, that of the name."""
        known = {p.name: p for p in self.parameters}
        parts: list[str] = []
        places, end, at = [], 0, 0
        for name, begin, after in placeholders(self.text):
            parameter = known[name]
            root = parameter.type.partition("(")[0]
            text = parameter.default if parameter.default is not None else _SAMPLES.get(root, "1") if root else undeclared
            written = _literal(parameter, text, exp.Null())
            parts += [self.text[end:begin], written]
            at += begin - end
            places.append((at, len(written), after - begin))
            at += len(written)
            end = after
        return "".join([*parts, self.text[end:]]), places

    def script(self, arguments: Iterable[exp.Expr], at: exp.Expr) -> str:
        """The text with a literal for each parameter; ``arguments`` are NamedArguments. Raises ValidationError."""
        values = {}
        known = {p.name: p for p in self.parameters}
        for argument in arguments:
            name = str(argument.this)
            if name not in known:
                hint = did_you_mean(name, known) or (f"Its parameters are: {', '.join(known)}." if known else "It has none.")
                raise ValidationError(f"The query '{self.name}' has no parameter '{name}'.", at=argument, hint=hint)
            values[name] = _literal(known[name], _value(argument.expression), argument)
        for parameter in known.values():
            if parameter.name not in values:
                if parameter.default is None:
                    example = f"EXECUTE QUERY {self.name} ({parameter.name} => ..), or \\n {self.name} {parameter.name}=.."
                    raise ValidationError(f"The parameter '{parameter.name}' of the query '{self.name}' has no value.", at=at, hint=example)
                values[parameter.name] = _literal(parameter, parameter.default, at)
        parts, end = [], 0
        for name, begin, after in placeholders(self.text):
            parts += [self.text[end:begin], values[name]]
            end = after
        return "".join([*parts, self.text[end:]])

    def secrets(self, arguments: Iterable[exp.Expr]) -> set[str]:
        """The values of parameters that are secrets by their names: those of ``arguments``, which are NamedArguments, and defaults."""
        passed = {_value(a.expression) for a in arguments if is_secret(str(a.this))}
        return {v for v in (*passed, *(p.default for p in self.parameters if is_secret(p.name))) if v}

    def _head(self) -> list[str]:
        lines = []
        for line in self.text.lstrip("\ufeff").splitlines():
            if not line.startswith("--"):
                break
            lines.append(line)
        return lines


def saved_queries(project: Path) -> list[SavedQuery]:
    """All of a project's, by name; files that can't be read are left out."""
    saved = []
    for path in sorted((project / "queries").glob("*.sql")):
        try:
            saved.append(SavedQuery(path.stem, path, path.read_text("utf-8-sig")))
        except (OSError, UnicodeDecodeError):
            continue
    return saved


def save(project: Path, name: str, question: str, text: str, *, overwrite: bool) -> str:
    """Write a file of ``queries/``, whole or not at all, with the question that it answers; its path in the project. Raises ValidationError where one
    of that name is there, but with ``overwrite``.
    """
    if not _NAME.fullmatch(name):
        raise ValidationError(
            f"'{name[:100]}' is no name for a query.", hint="It has letters, digits and underscores, at most 100, and begins with no digit."
        )
    file = f"queries/{name}.sql"
    if (project / file).exists() and not overwrite:
        raise ValidationError(f"There is a query '{name}' already.", hint="Another name keeps both.")
    head = f"-- {' '.join(question.split())}\n" if question.strip() else ""
    with LocalFiles(project).new(file, overwrite=overwrite) as part:
        part.write_text(f"{head}{text.rstrip()}\n", "utf-8")
    return file


def find(project: Path, name: str, at: exp.Expr) -> SavedQuery:
    """The query of that name. Raises ValidationError."""
    saved = {q.name: q for q in saved_queries(project)}
    if name not in saved:
        raise ValidationError(f"There is no saved query '{name}'.", at=at, hint=did_you_mean(name, saved) or "SHOW QUERIES lists them.")
    return saved[name]


def signature(query: SavedQuery) -> str:
    """Its parameters, for SHOW QUERIES."""
    return ", ".join(
        f"{p.name} {p.type}".strip() + (f" = {masked_option(p.name, p.default)}" if p.default is not None else "") for p in query.parameters
    )


def _value(node: exp.Expr) -> str | None:
    """The text of a constant; None is NULL. Raises ValidationError."""
    match node:
        case exp.Null():
            return None
        case exp.Neg():
            return f"-{_value(node.this)}"
        case exp.Boolean():
            return "TRUE" if node.this else "FALSE"
        case exp.Literal() | ast.TimeLiteral():
            return str(node.this)
        case ast.IntervalLiteral():
            return f"{'-' if node.args.get('negative') else ''}{node.this} {node.args['unit']}"
    raise ValidationError("The value of a parameter is a constant.", at=node)


def _literal(parameter: QueryParameter, text: str | None, at: exp.Expr) -> str:
    """A literal of the parameter's type. Raises ValidationError."""
    if text is None:
        return f"CAST(NULL AS {parameter.type})" if parameter.type else "NULL"
    root = parameter.type.partition("(")[0]
    write = _WRITERS.get(root)
    if write is None:
        hint = f"Parameters can have the types: {', '.join(k for k in _WRITERS if k)}."
        raise ValidationError(f"The parameter '{parameter.name}' has the type {parameter.type}, which is not supported.", at=at, hint=hint)
    try:
        return write(text.strip() if root not in ("", "STRING", "VARCHAR", "CHAR") else text, parameter.type)
    except (ValueError, InvalidOperation):
        shown = masked_option(parameter.name, text)
        raise ValidationError(f"'{shown}' is not a value of type {parameter.type}, which the parameter '{parameter.name}' has.", at=at) from None


def _string(text: str, _: str) -> str:
    return flink_string(text)


def _guessed(text: str, type_: str) -> str:
    return text if _NUMBER.fullmatch(text) or text.upper() in ("TRUE", "FALSE") else _string(text, type_)


def _integer(text: str, type_: str) -> str:
    value, bits = int(_plain(text)), _BITS[type_]
    if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        raise ValueError(text)
    # LIMIT takes a bare one only.
    return str(value) if _BITS[type_] == 32 else f"CAST({value} AS {type_})"


def _decimal(text: str, type_: str) -> str:
    value = Decimal(_plain(text))
    # A DECIMAL has 38 digits; written out, 1e50000000 would have fifty million.
    if not value.is_finite() or value.adjusted() >= 38 or int(value.as_tuple().exponent) < -_MOST_DIGITS:
        raise ValueError(text)
    written = f"{value:f}"
    # A literal has to fit into 64 bits without its point.
    return f"CAST({written if len(written) < 18 else _string(written, type_)} AS {type_})"


def _double(text: str, type_: str) -> str:
    value = float(_plain(text))
    if not math.isfinite(value):
        raise ValueError(text)
    return f"CAST('{value!r}' AS {type_})"


def _plain(text: str) -> str:
    """``text`` as a number, written as in SQL: Python accepts more."""
    if len(text) > _MOST_DIGITS or not re.fullmatch(r"[+-]?[0-9.]+([eE][+-]?[0-9]+)?", text):
        raise ValueError(text)
    return text


def _boolean(text: str, _: str) -> str:
    if text.upper() not in ("TRUE", "FALSE"):
        raise ValueError(text)
    return text.upper()


def _time(text: str, type_: str) -> str:
    root = type_.partition("(")[0]
    {"DATE": datetime.date, "TIME": datetime.time}.get(root, datetime.datetime).fromisoformat(text)  # type: ignore[attr-defined]
    if re.search(r"[^\d:. T-]", text):  # an offset
        raise ValueError(text)
    written = text.replace("T", " ")
    if root in ("DATE", "TIME"):
        return f"{root} '{written}'"
    return f"CAST(TIMESTAMP '{written if ' ' in written else f'{written} 00:00:00'}' AS {type_})"


def _interval(text: str, _: str) -> str:
    match = _INTERVAL.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return f"INTERVAL '{match[1]}' {match[2].upper()}"


_SAMPLES = {
    "STRING": "a", "VARCHAR": "a", "CHAR": "a", "BOOLEAN": "TRUE", "DATE": "2026-01-01", "TIME": "00:00:00",
    "TIMESTAMP": "2026-01-01 00:00:00", "TIMESTAMP_LTZ": "2026-01-01 00:00:00", "INTERVAL": "1 MINUTE",
}  # fmt: skip
_WRITERS: dict[str, Callable[[str, str], str]] = {
    "": _guessed,
    **dict.fromkeys(("STRING", "VARCHAR", "CHAR"), _string),
    **dict.fromkeys(_BITS, _integer),
    **dict.fromkeys(("DECIMAL", "NUMERIC"), _decimal),
    **dict.fromkeys(("DOUBLE", "FLOAT"), _double),
    "BOOLEAN": _boolean,
    **dict.fromkeys(("DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ"), _time),
    "INTERVAL": _interval,
}


def _unquoted(text: str | None) -> str | None:
    if text is None:
        return None
    text = text.strip()
    return text[1:-1].replace("''", "'") if len(text) >= 2 and text[0] == text[-1] == "'" else text.replace("'", "")
