"""``sqlstream.toml`` with every setting, commented out: what ``sqlstream init`` writes, and the documentation shows."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING

from sqlstream.core.options import OptionKind, Support
from sqlstream.core.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.core.options import Option

_WIDTH = 100
_HEAD = """\
# Settings of this project: of each session, script and job. SET in a script, or -D, comes before them; HELP SET '<key>';
# explains one. "${env:NAME}" in a value is a variable of the environment.

# Where relative paths of tables begin, a folder or a URI: this folder where it is not set.
# warehouse = "data"

[options]
"""
# Keys that are patterns: one of them as an example.
_EXAMPLES = {"spark.*": ("spark.driver.memory", "4g")}
# Keys that other keys' summaries stand for.
_ALIAS = "As "
# In the place of a value where there is no default.
_BY_KIND = {
    OptionKind.BOOLEAN: "true", OptionKind.INT: "1", OptionKind.LONG: "1", OptionKind.DURATION: "1 min",
    OptionKind.MAP: "key:value", OptionKind.PORTS: "9250",
}  # fmt: skip


def text() -> str:
    """The file."""
    groups: dict[str, list[Option]] = {}
    for option in filter(_is_shown, SETTINGS):
        groups.setdefault(option.key.partition(".")[0], []).append(option)
    return _HEAD + "".join(f"\n# --- {name} {'-' * (_WIDTH - len(name) - 7)}\n" + "".join(map(_entry, options)) for name, options in groups.items())


def _is_shown(option: Option) -> bool:
    return option.use is Support.HONOURED and not option.summary.startswith(_ALIAS) and (not option.key.endswith("*") or option.key in _EXAMPLES)


def _entry(option: Option) -> str:
    return "\n" + "".join(f"# {line}\n" for line in _said(option)) + f"# {_line(option)}\n"


def _said(option: Option) -> Iterator[str]:
    values = f" One of: {', '.join(option.values)}." if len(option.values) > 1 else ""
    unset = "" if option.default else " Not set by default. For example:"
    yield from textwrap.wrap(f"{option.summary}{values}{unset}", _WIDTH, break_on_hyphens=False, break_long_words=False)


def _line(option: Option) -> str:
    key, value = _EXAMPLES.get(option.key, (option.key, option.default or (option.values[0] if option.values else _BY_KIND.get(option.kind, ".."))))
    return f"{json.dumps(key)} = {json.dumps(value)}"
