"""Keys and values of options: of WITH (..), of the OPTIONS hint, of SET. From the declarations of connectors, formats and settings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlstream import connectors, formats
from sqlstream.catalog import types
from sqlstream.core import settings
from sqlstream.core.options import Option, OptionKind, Support, find_option

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from sqlstream.session.completion.context import Columns, Context

_CONNECTOR = Option("connector", required=True, summary="What the table is read from and written to.")
_TYPE = Option(types.TYPE, required=True, summary="What keeps its tables.")


def of_table(written: Mapping[str, str], columns: Columns) -> tuple[Option, ...]:
    """The options that a table with the options ``written`` can have; ``fields.#.kind`` comes once for each column."""
    return (_CONNECTOR, *(each for row in connectors.declared_options(written) for each in _by_column(row, columns)))


def of_catalog(written: Mapping[str, str]) -> tuple[Option, ...]:
    """The options that a catalog with the options ``written`` can have."""
    return (_TYPE, *types.declared_options(written))


def _by_column(row: Option, columns: Columns) -> Iterable[Option]:
    return (replace(row, key=row.key.replace("#", c.name)) for c in columns) if "#" in row.key else (row,)


def keys(declared: Iterable[Option], written: Mapping[str, str]) -> list[Option]:
    """Options that are not there yet: those that are required first, those without effect last; no refused ones."""
    rows = [o for o in declared if o.key not in written and o.use is not Support.REFUSED]
    return sorted(rows, key=lambda o: (not o.required, o.use is Support.NOTICE))


def described(option: Option) -> str:
    """An option in a few words: what it takes, its default, what it is for."""
    kind = " | ".join(option.values) if option.values else option.kind.value
    default = ", required" if option.required else f", default {option.default}" if option.default else ""
    return f"{kind}{default}: {option.summary if option.use is Support.HONOURED else 'without effect, ' + option.why}".rstrip(": ")


def values(key: str, declared: Collection[Option], written: Mapping[str, str], context: Context) -> list[tuple[str, str]]:
    """What can be said for ``key``, each with a remark."""
    if key == "connector":
        return [(c.name, c.summary) for c in connectors.CONNECTORS]
    if key == types.TYPE and _TYPE in declared:
        return [(c.name, c.summary) for c in types.CATALOGS]
    if key in connectors.FORMAT_KEYS:
        files = written.get("connector") == "filesystem"
        return [(f.name, "format") for f in formats.FORMATS if files or f.records]
    if key == "topic":
        return [(t, "topic") for t in context.topics(written)]
    return of_option(find_option(declared, key))


def of_option(option: Option | None) -> list[tuple[str, str]]:
    """The values that an option names: of a choice, of a boolean, its default."""
    if option is None:
        return []
    named = option.values or (("true", "false") if option.kind is OptionKind.BOOLEAN else (option.default,) if option.default else ())
    return [(v, "default" if v == option.default else "") for v in named]


def settable() -> list[Option]:
    """The keys of SET; those without effect last."""
    return keys(settings.SETTINGS, {})
