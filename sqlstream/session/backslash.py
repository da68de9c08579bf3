"""The shell's backslash commands: each is short for SQL, which a script can run as well.

    text -> expanded -> SQL

A command is a line that begins with a backslash: its name, then words; quotes and backticks hold a word together. The table of statements has them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.core.errors import ValidationError, did_you_mean, nearest
from sqlstream.sql.statements.short_form import UsageError, query, words_of
from sqlstream.sql.statements.table import SHORT_FORMS

if TYPE_CHECKING:
    from sqlstream.sql.statements.form import StatementForm
    from sqlstream.sql.statements.short_form import ShortForm

# Commands of psql and pgcli, and what is written here.
_ELSEWHERE = {
    "\\help": "\\h", "\\quit": "\\q", "\\exit": "\\q", "\\jobs": "\\j", "\\dt": "\\d", "\\d+": "\\d name", "\\tables": "\\d", "\\dv": "SHOW VIEWS;",
    "\\df": "SHOW FUNCTIONS;", "\\dn": "SHOW DATABASES;", "\\c": "USE database;", "\\connect": "USE database;", "\\i": "SOURCE 'file';",
    "\\o": "\\export", "\\copy": "\\export", "\\G": "\\x", "\\gx": "\\x", "\\watch": "nothing: a streaming SELECT is live", "\\np": "\\n query",
    "\\timing": "SET 'sql-client.display.print-time-cost' = 'true';", "\\set": "SET 'option' = 'value';",
    "\\e": "the key that HELP KEYS names for an editor",
}  # fmt: skip


def expanded(text: str) -> str:
    """``text``, or what it is short for. Raises ValidationError."""
    line = text.strip()
    if not line.startswith("\\"):
        return text
    name, _, rest = line.rstrip(";").partition(" ")
    if name not in SHORT_FORMS:
        near = name if name in _ELSEWHERE else nearest(name, [*SHORT_FORMS, *_ELSEWHERE])
        here = f"Here {'it' if near == name else near} is {_ELSEWHERE[near]}." if near in _ELSEWHERE else did_you_mean(name, SHORT_FORMS)
        raise ValidationError(f"There is no command {name}.", hint=here or "\\? lists the commands.")
    short, form = SHORT_FORMS[name]
    try:
        return short.write(words_of(rest)) + ";"
    except (UsageError, ValueError) as error:
        said = f" {error}" if str(error) else ""
        raise ValidationError(f"{name} takes: {short.arguments or 'nothing'}.{said}", hint=summary(short, form)) from None


def summary(short: ShortForm, form: StatementForm) -> str:
    """What a command does."""
    return short.summary or form.summary


def sql(short: ShortForm, form: StatementForm) -> str:
    """What a command is short for."""
    return short.sql or form.shown


def help_text() -> str:
    """What ``\\?`` prints."""
    lines = ["A line that begins with a backslash is short for a statement."]
    for short, form in SHORT_FORMS.values():
        lines += ["", f"  {short.name} {short.arguments}".rstrip(), f"      {summary(short, form)}", f"      {sql(short, form)}"]
    return "\n".join(lines)


def execute_query(words: list[str]) -> str:
    """The statement for ``name parameter=value ..``. Raises ValidationError."""
    try:
        return query(words)
    except UsageError:
        raise ValidationError("A parameter is written as NAME=VALUE.") from None
