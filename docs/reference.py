"""The pages of the reference, made of the tables that the code reads itself. The repository has them in ``docs/reference/``, where a test holds them
equal; ``pytest tests/docs --update`` writes them.

``pages()`` gives path -> Markdown. Files of the repository that stand outside of ``docs/`` are pages of the built documentation, too.
"""

from __future__ import annotations

import argparse
import html
import importlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream import connectors, formats
from sqlstream.cli import main, settings_file
from sqlstream.core import errors, settings
from sqlstream.core.changelog import ChangelogMode
from sqlstream.core.options import Option, Support
from sqlstream.lint.registry import RULES
from sqlstream.runtime.monitor.reporting.families import FAMILIES, RUNNING_JOBS
from sqlstream.session import backslash
from sqlstream.session.help.query_forms import QUERY_FORMS
from sqlstream.session.keymap import KEYS
from sqlstream.sql import functions
from sqlstream.sql.functions import absent
from sqlstream.sql.functions.base import VALUES
from sqlstream.sql.statements.table import GROUPS, SHORT_FORMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from sqlstream.connectors.base import Connector
    from sqlstream.formats.base import Format
    from sqlstream.sql.functions import Function

ROOT = Path(__file__).resolve().parent.parent


def pages() -> dict[str, str]:
    """Every page that is made, by its path below docs/."""
    return {
        "reference/statements.md": _statements(),
        "reference/query-forms.md": _query_forms(),
        "reference/functions.md": _functions(),
        "reference/connectors.md": _connectors(),
        "reference/formats.md": _formats(),
        "reference/settings.md": _settings(),
        "reference/settings-file.md": _settings_file(),
        "reference/metrics.md": _metrics(),
        "reference/lint-rules.md": _lint_rules(),
        "reference/errors.md": _errors(),
        "reference/shell.md": _shell(),
        "reference/command-line.md": _command_line(),
        "contributing.md": _of_repository("CONTRIBUTING.md"),
        "tests.md": _of_repository("tests/README.md"),
        "changelog.md": _of_repository("CHANGELOG.md"),
    }


def _settings_file() -> str:
    """The file of settings as ``sqlstream init`` writes it."""
    about = "`sqlstream init FOLDER` writes this file. Take the `#` away from what you want to set. Keys are those of [the settings](settings.md)."
    return f"# sqlstream.toml\n\n{about}\n\n```toml\n{settings_file.text()}```\n"


def _of_repository(name: str) -> str:
    """A file of the repository as a page: what it links to stands beside it here."""
    return (ROOT / name).read_text("utf-8").replace("](docs/", "](").replace("](tests/README.md", "](tests.md")


# What means something to Markdown, also inside of an element of HTML.
_MARKS = str.maketrans({mark: f"&#{ord(mark)};" for mark in "|*_`\\[]{}"} | {"\n": "<br>"})


def code(text: str) -> str:
    """``text`` as code, also in a cell of a table."""
    return f"<code>{html.escape(text.strip(), quote=False).translate(_MARKS)}</code>" if text.strip() else ""


def prose(text: str) -> str:
    """``text`` as it is, also in a cell of a table."""
    return html.escape(text, quote=False).replace("\n", " ").translate(_MARKS)


def docstring(text: str) -> str:
    """``text``, in which code stands in two back quotes."""
    return "".join(code(part) if i % 2 else prose(part) for i, part in enumerate(text.split("``")))


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table of Markdown; its cells are Markdown already."""
    return "\n".join([f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}", *(f"| {' | '.join(row)} |" for row in rows)])


def sql(text: str) -> str:
    return f"```sql\n{text.strip()}\n```"


def _page(title: str, *parts: str) -> str:
    return "\n\n".join([f"# {title}", *(part for part in parts if part)]) + "\n"


def _statements() -> str:
    parts = ["`HELP STATEMENTS;` prints this list. Square brackets mark what may be left out, `|` is a choice."]
    for group in GROUPS:
        parts += [f"## {group.title}", table(("Statement", "What it does"), ((code(form.shown), prose(form.summary)) for form in group.forms))]
    return _page("Statements", *parts)


def _query_forms() -> str:
    parts = ["Each example runs as it is; `HELP TUMBLE;` prints the first of them. [Streaming SQL](../sql.md) describes how they work together."]
    for topic in QUERY_FORMS:
        parts += [f"## {topic.name}", code(topic.syntax), prose(topic.summary), sql(topic.example)]
    return _page("Forms of queries", *parts)


def _function_rows(rows: Iterable[Function]) -> str:
    shown = ((code(row.signature), prose(row.summary), code(row.example)) for row in rows)
    return table(("Function", "What it gives", "Example"), shown)


def _functions() -> str:
    parts = [
        f"{len(functions.CALLABLE)} functions can be called by name; `HELP FUNCTION name;` explains one in the shell. An argument with `?` may be "
        "left out, one with `...` may be repeated. The examples of aggregates are over `" + VALUES + "`."
    ]
    for title, rows in functions.GROUPS:
        parts += [f"## {title}", _function_rows(sorted(rows, key=lambda row: row.name))]
    parts += ["## Operators", _function_rows(functions.OPERATORS)]
    parts += [
        "## Functions of Flink that are not here",
        table(("Function", "Why", "What to write instead"), ((code(a.name), prose(a.reason), prose(a.hint)) for a in absent.ROWS)),
    ]
    return _page("Functions", *parts)


def _options(options: tuple[Option, ...], heading: str) -> list[str]:
    """What is honoured as a table, then what has no effect and what is refused, where there is any. ``heading``: how headings begin."""
    found = {use: [o for o in options if o.use is use] for use in Support}
    parts = []
    if honoured := found[Support.HONOURED]:
        parts += [table(("Option", "Type", "Default", "What it does"), (_option(o) for o in honoured))]
    for use, title in ((Support.NOTICE, "accepted, without effect"), (Support.REFUSED, "refused")):
        if found[use]:
            titled = title if heading.endswith(": ") else title.capitalize()
            parts += [heading + titled, table(("Option", "Why"), ((code(o.key), prose(o.why)) for o in found[use]))]
    return parts


def _option(option: Option) -> tuple[str, ...]:
    kind = " &#124; ".join(code(value) for value in option.values) if option.values else prose(option.kind.value)
    default = "**required**" if option.required else code(option.default or "")
    return code(option.key), kind, default, prose(option.summary)


def _not_here(refused: Mapping[str, str]) -> str:
    return table(("Name", "What to do"), ((code(name), prose(hint[:1].upper() + hint[1:].rstrip(".") + ".")) for name, hint in refused.items()))


def _connectors() -> str:
    own = connectors.CONNECTORS.builtin
    roles = table(
        ("Connector", "Source", "Sink", "Lookup join"),
        ((f"[{c.name}](#{c.name})", *("yes" if can else "" for can in (c.is_source, c.is_sink, c.can_be_looked_up))) for c in own),
    )
    parts = ["`'connector' = 'name'` in `WITH (..)` names one; the options of a [format](formats.md) come beside the connector's own.", roles]
    first: dict[tuple[Option, ...], str] = {}
    for connector in own:
        parts += _connector(connector, first.setdefault(connector.options, connector.name))
    return _page("Connectors", *parts, "## Connectors of Flink that are not here", _not_here(connectors.REFUSED))


def _connector(connector: Connector, first: str) -> list[str]:
    """``first``: the name of the first connector with its options; another one has no table of them."""
    alike = [f"Its options are those of [{first}](#{first})."]
    options = _options(connector.options, f"### {connector.name}: ") if first == connector.name else alike
    parts = [f"## {connector.name}", prose(connector.summary), sql(connector.example), *options]
    if connector.metadata:
        keys = ((code(m.key), code(str(m.type)), "yes" if m.writable else "") for m in connector.metadata)
        parts += [f"### {connector.name}: metadata columns", table(("Key", "Type", "Can be written"), keys)]
    return parts


def _formats() -> str:
    parts = ["`'format' = 'name'`, or `'key.format'` and `'value.format'` of a Kafka table. Options begin with the format's name."]
    for format_ in formats.FORMATS.builtin:
        parts += _format(format_)
    return _page("Formats", *parts, "## Formats of Flink that are not here", _not_here(formats.REFUSED))


def _format(format_: Format) -> list[str]:
    records = "records, as those of Kafka or lines of a file" if format_.in_lines else "records, as those of Kafka"
    carried = [what for what, there in ((records, format_.records), ("files of its own", format_.files)) if there]
    changes = "" if format_.mode is ChangelogMode.APPEND else " Its records are changes: rows come, are replaced and are deleted."
    options = {o.key: o for files in (False, True) for o in formats.table_options(format_, files=files)}
    summary = f"{type(format_).__doc__} It has {' and '.join(carried)}.{changes}"
    parts = [f"## {format_.name}", summary, *_options(tuple(options.values()), f"### {format_.name}: ")]
    if format_.properties:
        keys = ((code(f"value.{p.key}"), code(str(p.type))) for p in format_.properties)
        parts += [f"### {format_.name}: metadata columns", table(("Key", "Type"), keys)]
    return parts


def _settings() -> str:
    return _page(
        "Settings",
        "`SET 'key' = 'value';`, `-D key=value` on the command line, or `key = value` in the table `[options]` of `sqlstream.toml`. "
        "`HELP SET key;` explains one. A key that ends in `*` stands for all with that beginning.",
        *_options(settings.SETTINGS, "## "),
    )


def _metrics() -> str:
    rows = [(code(RUNNING_JOBS[0]), "", prose(RUNNING_JOBS[1]))]
    for family in FAMILIES:
        labels = " ".join(code(label) for label in family.labels)
        rows.append((code(family.name + ("_total" if family.counts else "")), labels, prose(family.text)))
    said = "What [Prometheus](../monitoring.md) is told of jobs. Each but the first has the labels `job_id` and `job_name`, too."
    return _page("Metrics", said, table(("Metric", "Labels", "What it is"), rows))


def _lint_rules() -> str:
    rows = ((f"[{rule.code}](#{rule.code.lower()})", prose(rule.summary), "yes" if rule.submit else "") for rule in RULES)
    parts = [
        "`sqlstream check` looks for these; `-- noqa: CODE` on the line, or on the statement's first line, leaves a finding out. Some are reported "
        "when a job is submitted, too.",
        table(("Code", "What it finds", "On submission"), rows),
    ]
    for rule in RULES:
        parts += [f"## {rule.code}", prose(rule.summary), prose(sys.modules[rule.check.__module__].__doc__ or "")]
    return _page("Lint rules", *parts)


def _errors() -> str:
    kinds = sorted(errors.SqlStreamError.__subclasses__(), key=lambda kind: kind.code)
    rows = ((code(kind.code), code(kind.__name__), docstring((kind.__doc__ or "").partition("\n")[0])) for kind in kinds)
    return _page("Errors", "Every error has a code, mostly a place in the statement, and a hint.", table(("Code", "Name", "What it means"), rows))


def commands(code: Callable[[str], str] = code) -> str:
    """The table of backslash commands; ``code`` writes a piece of code into a cell. It stands in client.md as well."""
    rows = (
        (code(f"{short.name} {short.arguments}"), code(backslash.sql(short, form)), prose(backslash.summary(short, form)))
        for short, form in SHORT_FORMS.values()
    )
    return table(("Command", "Statement", "What it does"), rows)


def _shell() -> str:
    keys = ((prose(key.shown), prose(key.does)) for key in KEYS if key.shown)
    return _page(
        "Commands and keys of the shell",
        "## Backslash commands",
        "A line that begins with a backslash is short for a statement, which scripts have as well.",
        commands(),
        "## Keys of the prompt",
        f"`SET '{settings.EDIT_MODE}' = 'vi';` gives vi's keys.",
        table(("Key", "What it does"), keys),
    )


def _command_line() -> str:
    client = main.argument_parser()
    about = f"{client.description} `sqlstream COMMAND --help` says the same in the terminal."
    parts = [about, f"```text\n{client.usage}\n```", *_arguments(client), _rest(client)]
    for module in main.SUBCOMMANDS.values():
        parser = importlib.import_module(module).parser()
        parts += [f"## {parser.prog}", prose(parser.description or ""), *_arguments(parser), _rest(parser)]
    return _page("Command line", *parts)


def _rest(parser: argparse.ArgumentParser) -> str:
    """What a parser says at its end, as it is laid out."""
    return f"```text\n{parser.epilog.strip()}\n```" if parser.epilog else ""


def _arguments(parser: argparse.ArgumentParser) -> list[str]:
    """Tables of what a command takes, and of each command in it."""
    shown = [a for a in parser._actions if a.help != argparse.SUPPRESS and not isinstance(a, argparse._HelpAction | argparse._SubParsersAction)]
    rows = [(code(_written(a)), prose(_help(a))) for a in shown]
    parts = [table(("Argument", "What it says"), rows)] if rows else []
    for commands in (a for a in parser._actions if isinstance(a, argparse._SubParsersAction)):
        for name, one in commands.choices.items():
            parts += [f"### {parser.prog} {name}", prose(one.description or ""), *_arguments(one)]
    return parts


def _written(action: argparse.Action) -> str:
    """An argument as one writes it."""
    value = action.metavar or (f"{{{','.join(map(str, action.choices))}}}" if action.choices else (action.dest if action.nargs != 0 else ""))
    shown = f"{value} .." if action.nargs in ("*", "+") else str(value)
    if not action.option_strings:
        return shown
    takes = shown if action.nargs != 0 else ""
    return f"{', '.join(action.option_strings)} {takes.upper() if not action.metavar and not action.choices else takes}".strip()


def _help(action: argparse.Action) -> str:
    return re.sub(r"%\((\w+)\)s", lambda m: str(getattr(action, m[1])), action.help or "")
