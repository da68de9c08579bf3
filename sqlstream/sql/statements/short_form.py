"""Short forms of statements: the shell's backslash commands, each with the SQL that it makes of the words behind its name."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.sql.quoting import flink_string, quote

if TYPE_CHECKING:
    from collections.abc import Callable

_WORDS = re.compile(r""""[^"]*"|'[^']*'|`(?:[^`]|``)*`""")
_PARTS = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")
_SPACES = "A name with spaces is written in backticks: `a b`."
_BARE = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?|TRUE|FALSE|NULL", re.I)


class UsageError(Exception):
    """The words behind a command are not what it takes."""


@dataclass(frozen=True)
class ShortForm:
    """``write`` makes SQL of the words. ``sql`` and ``summary``: where HELP shows others than those of the statement beside it. ``before``: the SQL
    before its first word, where that is completed as it is there.
    """

    name: str
    arguments: str
    write: Callable[[list[str]], str]
    sql: str = ""
    summary: str = ""
    before: str = ""


def words_of(text: str) -> list[str]:
    """The words of ``text``: quotes hold one together, and so do backticks, which stay. Raises ValueError where one is not closed."""
    return shlex.split(_WORDS.sub(lambda found: shlex.quote(found[0]) if found[0].startswith("`") else found[0], text))


def fixed(sql: str) -> Callable[[list[str]], str]:
    def write(words: list[str]) -> str:
        if words:
            raise UsageError
        return sql

    return write


def describe(words: list[str]) -> str:
    if len(words) > 1:
        raise UsageError(_SPACES)
    return f"DESCRIBE {_path(words[0])}" if words else "SHOW TABLES"


def query(words: list[str]) -> str:
    if not words:
        return "SHOW QUERIES"
    arguments: list[str] = []
    for word in words[1:]:
        name, sign, value = word.partition("=")
        if not sign or not name:
            raise UsageError("" if arguments else _SPACES)
        arguments.append(f"{quote(name)} => {value if _BARE.fullmatch(value) else flink_string(value)}")
    return f"EXECUTE QUERY {_name(words[0])}" + (f" ({', '.join(arguments)})" if arguments else "")


def peek(words: list[str]) -> str:
    if not 1 <= len(words) <= 2 or not all(w.isdigit() for w in words[1:]):
        raise UsageError
    return f"PEEK {flink_string(words[0])}" + (f" LIMIT {words[1]}" if words[1:] else "")


def infer(words: list[str]) -> str:
    if not 1 <= len(words) <= 2:
        raise UsageError
    return f"INFER TABLE {_path(words[1]) + ' ' if words[1:] else ''}FROM {flink_string(words[0])}"


def why(words: list[str]) -> str:
    if len(words) > 1:
        raise UsageError
    return f"EXPLAIN JOB {flink_string(words[0])}" if words else "EXPLAIN JOB"


def export(words: list[str]) -> str:
    last, format_, file, *rest = [*words, "", "", ""] if len(words) < 3 else words
    if last.lower() != "last" or format_.lower() not in ("csv", "json", "parquet") or [w.lower() for w in rest] not in ([], ["overwrite"]):
        raise UsageError
    return " ".join([f"EXPORT LAST TO {flink_string(file)} FORMAT {format_.upper()}", *(["OVERWRITE"] if rest else [])])


def plot(words: list[str]) -> str:
    if len(words) > 2:
        raise UsageError(_SPACES)
    return " BY ".join(["PLOT " + _name(words[0]), *map(_name, words[1:])]) if words else "PLOT"


def expand(words: list[str]) -> str:
    wanted = (words or ["on"])[0].lower()
    if len(words) > 1 or wanted not in ("on", "off", "auto"):
        raise UsageError
    return f"SET 'sql-client.display.expanded' = '{wanted}'"


def help_on(words: list[str]) -> str:
    return f"HELP {' '.join(words)}" if words else "HELP"


def _path(name: str) -> str:
    return ".".join(quote(ticked.replace("``", "`") or bare) for ticked, bare in _PARTS.findall(name))


def _name(word: str) -> str:
    return quote(word[1:-1].replace("``", "`") if word.startswith("`") and word.endswith("`") else word)
