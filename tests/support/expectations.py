"""Expectations that stand in comments of the scripts that they are about, and are rewritten by ``pytest --update``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


def marked(lines: Sequence[str], mark: str) -> list[str]:
    """The texts behind ``mark``, as ``--=``, line by line, with their indentation."""
    return [line[len(mark) + 1 :].rstrip() for line in lines if line == mark or line.startswith(f"{mark} ")]


def as_marked(mark: str, texts: Iterable[str]) -> list[str]:
    return [f"{mark} {text}".rstrip() for text in texts]


def replaced(lines: Sequence[str], mark: str, texts: Iterable[str]) -> list[str]:
    """``lines`` with others behind ``mark``: where the first of the old ones stands, or else at the end."""
    places = [i for i, line in enumerate(lines) if line == mark or line.startswith(f"{mark} ")]
    at = places[0] if places else len(lines)
    kept = [line for i, line in enumerate(lines) if i not in places]
    return [*kept[:at], *as_marked(mark, texts), *kept[at:]]


def write(path: Path, lines: Iterable[str]) -> None:
    text = "\n".join(lines) + "\n"
    if text != path.read_text("utf-8"):
        path.write_text(text, "utf-8")
