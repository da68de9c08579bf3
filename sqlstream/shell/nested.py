"""The text of a ROW, an ARRAY, a MAP or JSON over several lines, as the detail of a row shows it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlstream.core import foreign_json
from sqlstream.shell.tableau import display_width

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.sql.types import Type

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_KINDS = {"ROW": "(", "ARRAY": "[", "MAP": "{", "MULTISET": "{"}

_JSON_PART = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+')


def unfolded(text: str, type_: Type | None, width: int) -> list[str]:
    """``text`` on one line if it fits, otherwise one part per line: fields of a ROW with their names. Lines of text stay as they are.

    The client's text has no quotes: text that can't be split as the type says stays as it is.
    """
    if (type_ is None or type_.is_string) and display_width(text) > width and is_json(text):
        return list(_json_lines(text))
    opening = _KINDS.get(type_.root) if type_ is not None else None
    if type_ is None or opening is None or display_width(text) <= width or text[:1] != opening or text[-1:] != _CLOSING[opening]:
        return text.split("\n")
    parts = list(_parts(text[1:-1]))
    if type_.root == "ROW":
        if len(parts) != len(type_.children):
            return [text]
        named = [(f"{name}: ", part, inner) for name, part, inner in zip(type_.names, parts, type_.children, strict=True)]
    elif type_.root == "ARRAY":
        named = [("", part, type_.children[0]) for part in parts]
    else:
        pairs = [part.partition("=") for part in parts]
        named = [(f"{key}: ", value, type_.children[-1]) for key, _, value in pairs]
    lines = [opening]
    for name, part, inner in named:
        first, *rest = unfolded(part, inner, width - 2 - display_width(name))
        lines += [f"  {name}{first}", *(f"  {line}" for line in rest)]
    return [*lines, _CLOSING[opening]]


def _parts(text: str) -> Iterator[str]:
    """What stands between the commas outside brackets."""
    depth = start = 0
    for i, char in enumerate(text):
        if char in _CLOSING:
            depth += 1
        elif char in _CLOSING.values():
            depth -= 1
        elif depth == 0 and text.startswith(", ", i):
            yield text[start:i]
            start = i + 2
    if text:
        yield text[start:]


def is_json(text: str) -> bool:
    """Whether it is an object or an array, as a whole."""
    if text[:1] not in ("{", "["):
        return False
    try:
        foreign_json.read(text)
    except ValueError:
        return False
    return True


def _json_lines(text: str) -> Iterator[str]:
    """JSON with its parts on lines of their own; numbers, texts and their order stay as they are written."""
    depth, line = 0, ""
    for part in _JSON_PART.findall(text):
        closes = part in ("}", "]")
        if closes:
            depth -= 1
        if line.endswith(("{", "[")) if not closes else not line.endswith(("{", "[")):
            yield line
            line = "  " * depth
        line += part
        if part in ("{", "["):
            depth += 1
        elif part == ",":
            yield line
            line = "  " * depth
        elif part == ":":
            line += " "
    yield line
