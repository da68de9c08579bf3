"""Texts that Spark reads as regular expressions or replacements, and patterns of dates."""

from __future__ import annotations

from sqlstream.sql.functions.base import sql_string

_META = frozenset("\\^$.|?*+()[]{}-&#~")


def quoted(text: str) -> str:
    """A regular expression that matches ``text``; of one character or two, so that Java splits without compiling it, where it can be."""
    return "".join("\\" + c if c in _META else c for c in text)


def literal_pattern(value: object, text: str) -> str:
    """Spark SQL for a regular expression that matches an argument literally: ``value`` if it is constant, else what ``text`` gives."""
    if isinstance(value, str):
        return sql_string(quoted(value))
    return f"concat('\\\\Q', replace({text}, '\\\\E', '\\\\E\\\\\\\\E\\\\Q'), '\\\\E')"


def replacement(value: object, text: str) -> str:
    """Spark SQL for a replacement that stands for itself: in Java's, $ and \\ mean something."""
    if isinstance(value, str):
        return sql_string(value.replace("\\", "\\\\").replace("$", "\\$"))
    return f"replace(replace({text}, '\\\\', '\\\\\\\\'), '$', '\\\\$')"


def similar_pattern(pattern: str) -> str:
    """The regular expression of a SIMILAR TO pattern: % is any text, _ any character; it matches the whole text."""
    out, inside = [], False
    for c in pattern:
        if c == "[":
            inside = True
        elif c == "]":
            inside = False
        if c == "%" and not inside:
            out.append(".*")
        elif c == "_" and not inside:
            out.append(".")
        elif c in "\\$^" and not inside:
            out.append("\\" + c)
        else:
            out.append(c)
    return f"^(?s:{''.join(out)})$"


def optional_group(pattern: str, group: int) -> bool:
    """Whether ``group`` of a regular expression can be without a match while the whole matches: behind it or around it stands ?, * or
    {0, or an alternative."""
    opened: list[tuple[int, int]] = []
    spans: dict[int, tuple[int, int, list[int]]] = {}
    bars: list[tuple[int, list[int]]] = []
    count, i, in_class = 0, 0, False
    while i < len(pattern):
        c = pattern[i]
        if c == "\\":
            i += 2
            continue
        if in_class:
            in_class = c != "]"
        elif c == "[":
            in_class = True
        elif c == "(":
            capturing = pattern[i + 1 : i + 2] != "?" or (pattern[i + 1 : i + 4].startswith("?<") and pattern[i + 3 : i + 4] not in "=!")
            count += capturing
            opened.append((count if capturing else -i, i))
        elif c == ")" and opened:
            number, begin = opened.pop()
            spans[number] = (begin, i, [n for n, _ in opened])
        elif c == "|":
            bars.append((opened[-1][0] if opened else 0, [n for n, _ in opened]))
        i += 1
    if group not in spans:
        return False
    around = [group, *spans[group][2]]
    levels = {0, *spans[group][2]}
    behind = (pattern[spans[n][1] + 1 : spans[n][1] + 2] for n in around if n in spans)
    zero = (pattern[spans[n][1] + 1 : spans[n][1] + 3] == "{0" for n in around if n in spans)
    return any(b in ("?", "*") for b in behind if b) or any(zero) or any(level in levels for level, _ in bars)
