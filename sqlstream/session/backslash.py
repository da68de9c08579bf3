"""The shell's backslash commands: each is short for SQL, which a script can run as well.

    text -> expanded -> SQL

A command is a line that begins with a backslash: its name, then words; quotes hold a word together.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.core.errors import ValidationError, did_you_mean
from sqlstream.sql.quoting import flink_string, quote

if TYPE_CHECKING:
    from collections.abc import Callable

_BARE = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?|TRUE|FALSE|NULL", re.I)


class UsageError(Exception):
    """The words behind a command are not what it takes."""


@dataclass(frozen=True)
class BackslashCommand:
    """``sql`` is the statement that it stands for, as HELP shows it; ``write`` makes it of the words behind the name."""

    name: str
    arguments: str
    sql: str
    summary: str
    write: Callable[[list[str]], str]


def expanded(text: str) -> str:
    """``text``, or what it is short for. Raises ValidationError."""
    line = text.strip()
    if not line.startswith("\\"):
        return text
    name, _, rest = line.rstrip(";").partition(" ")
    command = next((c for c in COMMANDS if c.name == name), None)
    if command is None:
        names = [c.name for c in COMMANDS]
        raise ValidationError(f"There is no command {name}.", hint=did_you_mean(name, names) or "\\? lists the commands.")
    try:
        return command.write(shlex.split(rest)) + ";"
    except (UsageError, ValueError) as error:
        said = f" {error}" if isinstance(error, ValueError) else ""
        raise ValidationError(f"{name} takes: {command.arguments or 'nothing'}.{said}", hint=command.summary) from None


def help_text() -> str:
    """What ``\\?`` prints."""
    lines = ["A line that begins with a backslash is short for a statement."]
    for c in COMMANDS:
        lines += ["", f"  {c.name} {c.arguments}".rstrip(), f"      {c.summary}", f"      {c.sql}"]
    return "\n".join(lines)


def _fixed(sql: str) -> Callable[[list[str]], str]:
    def write(words: list[str]) -> str:
        if words:
            raise UsageError
        return sql

    return write


def _describe(words: list[str]) -> str:
    if len(words) > 1:
        raise UsageError
    return f"DESCRIBE {_path(words[0])}" if words else "SHOW TABLES"


def _query(words: list[str]) -> str:
    if not words:
        return "SHOW QUERIES"
    given = []
    for word in words[1:]:
        name, sign, value = word.partition("=")
        if not sign or not name:
            raise UsageError
        given.append(f"{quote(name)} => {value if _BARE.fullmatch(value) else flink_string(value)}")
    return f"EXECUTE QUERY {quote(words[0])}" + (f" ({', '.join(given)})" if given else "")


def execute_query(words: list[str]) -> str:
    """The statement for ``name parameter=value ..``. Raises ValidationError."""
    try:
        return _query(words)
    except UsageError:
        raise ValidationError("A parameter is given as NAME=VALUE.") from None


def _peek(words: list[str]) -> str:
    if not 1 <= len(words) <= 2 or not all(w.isdigit() for w in words[1:]):
        raise UsageError
    return f"PEEK {flink_string(words[0])}" + (f" LIMIT {words[1]}" if words[1:] else "")


def _infer(words: list[str]) -> str:
    if not 1 <= len(words) <= 2:
        raise UsageError
    return f"INFER TABLE {_path(words[1]) + ' ' if words[1:] else ''}FROM {flink_string(words[0])}"


def _why(words: list[str]) -> str:
    if len(words) > 1:
        raise UsageError
    return f"EXPLAIN JOB {flink_string(words[0])}" if words else "EXPLAIN JOB"


def _export(words: list[str]) -> str:
    last, format_, file, *rest = [*words, "", "", ""] if len(words) < 3 else words
    if last.lower() != "last" or format_.lower() not in ("csv", "json", "parquet") or [w.lower() for w in rest] not in ([], ["overwrite"]):
        raise UsageError
    return " ".join([f"EXPORT LAST TO {flink_string(file)} FORMAT {format_.upper()}", *(["OVERWRITE"] if rest else [])])


def _plot(words: list[str]) -> str:
    if len(words) > 2:
        raise UsageError
    return " BY ".join(["PLOT " + quote(words[0]), *map(quote, words[1:])]) if words else "PLOT"


def _help(words: list[str]) -> str:
    return f"HELP {' '.join(words)}" if words else "HELP"


def _path(name: str) -> str:
    return ".".join(quote(part.strip("`")) for part in name.split("."))


COMMANDS: tuple[BackslashCommand, ...] = (
    BackslashCommand("\\?", "", "HELP COMMANDS", "Lists these commands.", _fixed("HELP COMMANDS")),
    BackslashCommand("\\h", "[topic]", "HELP [topic]", "Explains a statement, a function, a connector, an option.", _help),
    BackslashCommand("\\d", "[name]", "SHOW TABLES | DESCRIBE name", "Lists tables and views, or shows the columns of one.", _describe),
    BackslashCommand("\\l", "", "SHOW CATALOGS; SHOW DATABASES", "Lists the catalogs, and the databases of the current one.",
                     _fixed("SHOW CATALOGS; SHOW DATABASES")),
    BackslashCommand("\\j", "", "SHOW JOBS", "Lists the jobs.", _fixed("SHOW JOBS")),
    BackslashCommand("\\top", "", "SHOW JOB METRICS", "Shows what the jobs do, live.", _fixed("SHOW JOB METRICS")),
    BackslashCommand("\\why", "[job]", "EXPLAIN JOB ['job']", "Says why a job gives no output: the one, or each that runs.", _why),
    BackslashCommand("\\q", "[query [parameter=value ..]]", "SHOW QUERIES | EXECUTE QUERY query [(parameter => value, ..)]",
                     "Lists the saved queries, or runs one.", _query),
    BackslashCommand("\\peek", "topic [n]", "PEEK 'topic' [LIMIT n]",
                     "Shows the last n (10) records of a Kafka topic, without a table of it.", _peek),
    BackslashCommand("\\infer", "topic [table]", "INFER TABLE [table] FROM 'topic' [SAVE]",
                     "Proposes a CREATE TABLE from a sample of a topic, and saves it to catalog/ where one agrees.", _infer),
    BackslashCommand("\\export", "last csv|json|parquet file [overwrite]", "EXPORT LAST TO 'file' FORMAT CSV | JSON | PARQUET [OVERWRITE]",
                     "Writes the rows of the last SELECT to a file: a new one, or overwrite replaces it.", _export),
    BackslashCommand("\\plot", "[column [key]]", "PLOT [column [BY key]]",
                     "A chart of a number over the window or time of the last SELECT's rows.", _plot),
)  # fmt: skip
