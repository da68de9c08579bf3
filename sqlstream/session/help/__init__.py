"""HELP. In: a topic. Out: lines of text. All of it comes from declarations: statements, forms of queries, functions, types of catalogs,
connectors, formats, SET keys, keys of the prompt. No JVM."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any

from sqlstream import connectors, formats
from sqlstream.catalog import types
from sqlstream.core import settings
from sqlstream.core.errors import ValidationError, did_you_mean
from sqlstream.core.options import Option, Support
from sqlstream.lint import registry
from sqlstream.session import backslash as commands
from sqlstream.session.help import python
from sqlstream.session.help.query_forms import QUERY_FORMS, QueryForm
from sqlstream.session.keymap import KEYS
from sqlstream.sql import functions
from sqlstream.sql.functions.absent import absent
from sqlstream.sql.statements.table import GROUPS, LISTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sqlstream.catalog.base import CatalogType
    from sqlstream.connectors.base import Connector
    from sqlstream.formats.base import Format
    from sqlstream.sql.functions import Function
    from sqlstream.sql.statements.form import StatementForm

_OVERVIEW_WIDTH = 80
# Words that a statement may begin with, beside those that say which one it is.
_MODIFIERS = {"IF", "NOT", "EXISTS", "TEMPORARY", "SYSTEM", "FROM", "IN", "LIKE", "ILIKE", "EXTENDED", "TO"}


def text(topic: str, users: Sequence[Function] = (), *, at: Any = None) -> str:
    """What HELP prints about ``topic``; an overview if it is empty. ``users`` are functions of the user's.

    Raises ValidationError where nothing is known of it.
    """
    words = topic.split()
    if not words:
        return _overview()
    name = words[-1].strip("'`")
    match words[0].upper() if len(words) > 1 else "":
        case "FUNCTION":
            parts = _functions(name, users)
        case "CATALOG":
            parts = _of_catalog_type(name, at)
        case "CONNECTOR":
            parts = _of_connector(name, at)
        case "FORMAT":
            parts = _of_format(name, at)
        case "SET" if (other := settings.misspelt(name)) is not None and not name.startswith("spark."):
            raise ValidationError(f"There is no option '{name}'.", at=at, hint=f"Did you mean '{other}'?")
        case "SET":
            parts = [_option(o) for o in settings.SETTINGS if o.matches(name)][:1]
        case _ if (page := _ALIASES.get(topic.upper(), topic.upper())) in PAGES:
            parts = [PAGES[page]()]
        case _:
            parts = _anything(topic, users, at)
    if not parts:
        raise ValidationError(f"There is no help for '{topic}'.", at=at, hint=did_you_mean(name, _names(users)) or "HELP lists the topics.")
    return "\n\n".join(parts)


def _lint() -> str:
    lines = [
        "sqlstream check [FILE..] looks for these; those with a star are also reported when a job is submitted. -- noqa: CODE leaves one out.",
        "",
    ]
    return "\n".join([*lines, *(f"  {rule.code}{'*' if rule.submit else ' '} {rule.summary}" for rule in registry.RULES)])


def function_list() -> str:
    """The names of all built-in functions by group: a list of Markdown."""
    lines = []
    for title, rows in functions.GROUPS:
        names = sorted({f"`{row.name.split()[0]}`" for row in rows})
        lines += textwrap.wrap(f"{title}: {', '.join(names)}.", 150, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(lines)


def _anything(topic: str, users: Sequence[Function], at: Any) -> list[str]:
    """What is known by the name ``topic``: a form of queries first, then the rest."""
    wanted = topic.upper()
    parts = [_topic(t) for t in QUERY_FORMS if wanted in (t.name, *t.aliases)]
    parts += _functions(topic, users)
    if (missing := absent(wanted)) is not None:
        parts.append(f"{wanted} is not supported: {missing.reason}\n    {missing.hint}")
    parts += _of_catalog_type(topic, at)
    parts += _of_connector(topic, at)
    parts += _of_format(topic, at)
    parts += [_option(o) for o in settings.SETTINGS if o.key == topic]
    if forms := [form for form in LISTED if _begins(form, wanted.split())]:
        parts.append("\n".join(line for form in forms for line in _statement(form, "")))
    return parts


def _begins(form: StatementForm, wanted: list[str]) -> bool:
    """Whether a statement begins with the words: CREATE TABLE with CREATE [TEMPORARY] TABLE .."""
    syntax = [w for w in re.split(r"[^\w<]+", form.shown) if w.isupper()]
    left = iter(syntax)
    first = {lead[0] for lead in form.leads if lead} or {_called(form)}
    return wanted[0] in first and all(w in left for w in wanted)


def _statement(form: StatementForm, indent: str) -> list[str]:
    """What HELP says of a statement."""
    return [f"{indent}{form.shown}", f"{indent}    {form.summary}"]


def _names(users: Sequence[Function]) -> list[str]:
    names = [t.name for t in QUERY_FORMS] + [f.name for f in (*functions.FUNCTIONS, *users)] + connectors.CONNECTORS.names()
    return [*names, *PAGES, *types.CATALOGS.names(), *formats.FORMATS.names(), *(o.key for o in settings.SETTINGS)]


def topics() -> list[tuple[str, dict[str, str]]]:
    """What there is help for, in groups: the title of each, and in it the names with the topics that HELP takes."""
    return [
        *((group.title, {name: name for name in map(_called, group.forms)}) for group in GROUPS),
        ("Forms of queries", {form.name: form.name for form in QUERY_FORMS}),
        ("Connectors", {name: f"CONNECTOR {name}" for name in connectors.CONNECTORS.names()}),
        ("Formats", {name: f"FORMAT {name}" for name in formats.FORMATS.names()}),
        ("Catalogs", {name: f"CATALOG {name}" for name in types.CATALOGS.names()}),
        ("Lists", {name: name for name in PAGES}),
    ]


def _overview() -> str:
    """What HELP alone prints: less than a screen."""
    lines = [
        "Statements end with a semicolon. What is named here is explained by HELP, as in",
        "HELP CREATE TABLE; HELP TUMBLE; HELP FUNCTION SUM; HELP CONNECTOR kafka;",
        "",
    ]
    for title, names in topics():
        lines += _filled(f"{title}: {', '.join(names)}", _OVERVIEW_WIDTH)
    return "\n".join(lines)


def _filled(line: str, width: int) -> list[str]:
    return textwrap.wrap(line, width, subsequent_indent="    ", break_on_hyphens=False)


def _called(form: StatementForm) -> str:
    """A statement by the words that it can't do without."""
    words = [w for w in min(form.leads, key=len) if w not in _MODIFIERS]
    return " ".join(words[:-1] if words[1:] and words[-1] == "BEGIN" else words) or re.sub(r"\[.*?\] ?", "", form.shown).split()[0]


def _statements() -> str:
    lines = []
    for group in GROUPS:
        lines += ["", group.title, *(line for form in group.forms for line in _statement(form, "  "))]
    return "\n".join(lines[1:])


def _settings() -> str:
    """The options of SET that have an effect."""
    return "\n".join(line for o in settings.SETTINGS if o.use is Support.HONOURED for line in _option(o).splitlines())


def _keys() -> str:
    """The keys of the prompt."""
    lines = [f"Keys of the prompt ({settings.EDIT_MODE} = 'emacs' or 'vi')", ""]
    return "\n".join([*lines, *(f"  {key.shown:<16} {key.does}" for key in KEYS if key.shown)])


def _topic(topic: QueryForm) -> str:
    return "\n".join([f"{topic.name}: {topic.syntax}", _sentence(topic.summary), "", *_indented(topic.example)])


def _functions(name: str, users: Sequence[Function]) -> list[str]:
    rows = [f for f in (*functions.FUNCTIONS, *users) if f.name.lower() == name.lower()]
    return ["\n".join([f.signature, _sentence(f.summary), *_parts(f.runnable, f.details)]) for f in rows]


def _parts(*texts: str) -> list[str]:
    return [line for paragraph in texts if paragraph for line in ["", *_indented(paragraph)]]


def _of_catalog_type(name: str, at: Any) -> list[str]:
    found = types.CATALOGS.find(name.lower(), at)
    return [] if found is None else [_catalog_type(found)]


def _of_connector(name: str, at: Any) -> list[str]:
    found = connectors.CONNECTORS.find(name.lower(), at)
    return [] if found is None else [_connector(found)]


def _of_format(name: str, at: Any) -> list[str]:
    found = formats.FORMATS.find(name.lower(), at)
    return [] if found is None else [_format(found)]


def _catalog_type(type_: CatalogType) -> str:
    options = types.declared_options({types.TYPE: type_.name})
    lines = [f"Catalog '{type_.name}'", _sentence(type_.summary), "", "Options of WITH:", *_options(options)]
    return "\n".join([*lines, *_parts(type_.example)])


def _connector(connector: Connector) -> str:
    said = f"Connector '{connector.name}': {connector.summary}" if connector.summary else f"Connector '{connector.name}'"
    lines = [said, "", "Options of WITH:", *_options(connector.options)]
    if connector.metadata:
        lines += ["", "Metadata columns:"]
        lines += [f"  {m.key} {m.type}{'' if m.writable else ' VIRTUAL'}" for m in connector.metadata]
    return "\n".join([*lines, *(["", *_indented(connector.example)] if connector.example else [])])


def _format(format_: Format) -> str:
    lines = [f"Format '{format_.name}'"]
    if options := formats.table_options(format_):
        lines += ["", "Options of WITH:", *_options(options)]
    return "\n".join(lines)


def _options(options: Iterable[Option]) -> list[str]:
    return [line for o in options if o.use is Support.HONOURED for line in ("  " + _option(o)).splitlines()]


def _option(option: Option) -> str:
    kind = f"one of {', '.join(option.values)}" if option.values else option.kind.value
    default = " (required)" if option.required else f", default {option.default}" if option.default not in (None, "") else ""
    sentence = option.summary if option.use is Support.HONOURED else f"{option.use.value.capitalize()}: {option.why}"
    return "\n".join([f"{option.key}: {kind}{default}", f"      {sentence}"])


def _sentence(summary: str) -> str:
    """One line, which the screen wraps; the docstring of a user's function may have several."""
    return f"    {' '.join(summary.splitlines())}"


def _indented(script: str) -> list[str]:
    return [f"    {line}" if line else "" for line in script.splitlines()]


# What HELP explains as a whole, beside forms of queries, types of catalogs, connectors, formats, functions and options.
PAGES: dict[str, Callable[[], str]] = {
    "COMMANDS": commands.help_text,
    "FUNCTIONS": function_list,
    "KEYS": _keys,
    "LINT": _lint,
    "PYTHON": lambda: python.TEXT,
    "SETTINGS": _settings,
    "STATEMENTS": _statements,
}
_ALIASES = {"\\?": "COMMANDS", "UDF": "PYTHON", "UDFS": "PYTHON"}
