"""What completion offers: candidates of a place, and those of them that fit what is typed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from sqlstream.sql.quoting import flink_name, flink_string

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True)
class Suggestion:
    """``text`` takes the place of the ``length`` characters before the cursor. ``kind`` and ``meta`` are for the reader."""

    text: str
    length: int
    kind: str
    meta: str = ""


class Candidate(NamedTuple):
    """What could stand at a place: ``name`` is what one types to find it, ``text`` what is written."""

    kind: str
    name: str
    text: str
    meta: str = ""


def keyword(phrase: str, meta: str = "") -> Candidate:
    return Candidate("keyword", phrase, phrase, meta)


def keywords(phrases: Iterable[str]) -> Iterator[Candidate]:
    return (keyword(p) for p in phrases)


def identifier(kind: str, name: str, meta: str = "", qualifier: str = "") -> Candidate:
    """A name, in back-ticks where it needs them."""
    text = flink_name(name)
    return Candidate(kind, f"{qualifier}.{name}" if qualifier else name, f"{flink_name(qualifier)}.{text}" if qualifier else text, meta)


def string(kind: str, value: str, meta: str = "", *, closed: bool = True, more: str = "") -> Candidate:
    """A text in quotes, and what comes behind it."""
    return Candidate(kind, value, flink_string(value)[: None if closed else -1] + more, meta)


def fitting(candidates: Iterable[Candidate], typed: str) -> list[Candidate]:
    """The candidates that ``typed`` begins, then those that have it behind a ``_`` or a dot, then those that have it somewhere."""
    low = typed.lower()
    ranked: dict[tuple[str, str], tuple[int, Candidate]] = {}
    for candidate in candidates:
        name = candidate.name.lower()
        if name.startswith(low):
            rank = 0
        elif len(low) > 1 and low in name:
            rank = 1 if re.search(rf"[_.\s-]{re.escape(low)}", name) else 2
        else:
            continue
        ranked.setdefault((candidate.kind, candidate.text), (rank, candidate))
    return [c for _, c in sorted(ranked.values(), key=lambda pair: pair[0])]
