"""Colours of what is typed: text to pieces with a class each, and a style for each of Flink's colour schemas."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from prompt_toolkit.lexers import Lexer
from prompt_toolkit.styles import Style

from sqlstream.sql.syntax.lexer import Kind, lexemes

if TYPE_CHECKING:
    from collections.abc import Callable

    from prompt_toolkit.document import Document
    from prompt_toolkit.formatted_text import StyleAndTextTuples

# keyword, function, string, number, comment, quoted name
_COLOURS = {
    "default": ("ansiblue bold", "ansicyan", "ansigreen", "ansimagenta", "ansibrightblack italic", "ansiyellow"),
    "dark": ("#569cd6 bold", "#dcdcaa", "#98c379", "#d19a66", "#7f848e italic", "#e5c07b"),
    "light": ("#0033b3 bold", "#00627a", "#067d17", "#1750eb", "#8c8c8c italic", "#871094"),
    "chester": ("#3d7cc9 bold", "#7b5aa6", "#c7423b", "#a05a00", "#4e9a5e italic", "#b58900"),
    "vs2010": ("#0000ff bold", "#2b91af", "#a31515", "#098658", "#008000 italic", "#795e26"),
    "obsidian": ("#93c763 bold", "#678cb1", "#ec7600", "#ffcd22", "#7d8c93 italic", "#a082bd"),
    "geshi": ("#993333 bold", "#000066", "#cc66cc", "#cc6600", "#808080 italic", "#66aa00"),
}  # fmt: skip
_CLASSES = ("keyword", "function", "string", "number", "comment", "quoted")
_OF_KIND = {Kind.STRING: "string", Kind.NUMBER: "number", Kind.COMMENT: "comment", Kind.QUOTED: "quoted"}


@cache
def style(schema: str) -> Style:
    """The style of a colour schema."""
    colours = dict(zip((f"sql.{c}" for c in _CLASSES), _COLOURS[schema], strict=True))
    return Style.from_dict(colours | {"auto-suggestion": "ansibrightblack"})


def classes(text: str, *, words: bool = True) -> list[tuple[str, str]]:
    """``text`` in pieces, each behind its class, which is empty for names, signs and space. Without ``words`` keywords are not looked up."""
    pieces = []
    at = 0
    everything = list(lexemes(text, open_ends=True))
    for place, lexeme in enumerate(everything):
        if lexeme.start > at:
            pieces.append(("", text[at : lexeme.start]))
        following = everything[place + 1].text if place + 1 < len(everything) else ""
        if lexeme.kind is Kind.WORD and words and (place == 0 or everything[place - 1].text != "."):
            kind = _word(lexeme.upper, called=following == "(")
        else:
            kind = _OF_KIND.get(lexeme.kind, "")
        pieces.append((kind, lexeme.text))
        at = lexeme.end
    if at < len(text):
        pieces.append(("", text[at:]))
    return pieces


def _word(upper: str, *, called: bool) -> str:
    from sqlstream.session.completion.words import BARE, keywords
    from sqlstream.sql import functions

    if (called and functions.find(upper) is not None) or upper in BARE:
        return "function"
    return "keyword" if upper in keywords() else ""


class SqlLexer(Lexer):
    """prompt-toolkit's view of ``classes``. ``ready``: whether the modules that know the words are loaded, for typing must not wait for an import."""

    def __init__(self, ready: Callable[[], bool]) -> None:
        self._ready = ready

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        lines: list[StyleAndTextTuples] = [[]]
        for kind, text in classes(document.text, words=self._ready()):
            first, *rest = text.split("\n")
            lines[-1].append((f"class:sql.{kind}" if kind else "", first))
            for line in rest:
                lines.append([(f"class:sql.{kind}" if kind else "", line)])
        return lambda number: lines[number] if number < len(lines) else []

    def invalidation_hash(self) -> bool:
        return self._ready()
