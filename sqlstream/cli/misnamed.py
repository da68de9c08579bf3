"""What ``sqlstream.toml`` calls otherwise than anything that it may hold: without effect, and most often misspelt."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

from sqlstream.core import settings
from sqlstream.core.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlstream.lint.scripts import Finding

# What stands outside of sections, and the section that there is.
_KEYS, _SECTIONS = ("warehouse",), ("options",)


def misnamed(read: Mapping[str, object]) -> Iterator[tuple[str, str, str]]:
    """The sections and keys of a file that has been ``read`` which mean nothing, outside of its options: each with a message and a hint."""
    for name, value in read.items():
        known, what = (_SECTIONS, "section") if isinstance(value, dict) else (_KEYS, "key")
        if name not in known:
            there = f"There {'is' if len(known) == 1 else 'are'} {', '.join(known)}; options stand below [options]."
            yield name, f"No {what} is called '{name}': it has no effect.", did_you_mean(name, known) or there


def findings(text: str, file: str, options: Mapping[str, str]) -> Iterator[Finding]:
    """What ``sqlstream check`` says about the file with this text, whose ``options`` are these, none of them refused."""
    from sqlstream.lint.rules.unknown_option import LEAVE_OUT
    from sqlstream.lint.scripts import Finding

    unknown = [(k, f"No option is called '{k}'", LEAVE_OUT) for k in options if settings.is_unknown(k)]
    for name, message, hint in [*misnamed(tomllib.loads(text)), *unknown]:
        yield Finding(file, *_place(text, name), "L016", message.rstrip("."), hint)


def _place(text: str, name: str) -> tuple[int, int]:
    """The line and the column of a name; those of the beginning where it is put together from several lines."""
    found = re.search(rf"^[ \t]*\[?[ \t]*[\"']?({re.escape(name)})\b", text, re.M)
    at = 0 if found is None else found.start(1)
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
