"""Misspelt keywords: in come the tokens of a statement that does not parse, and how far the parser came, out comes the word that was meant.

A word is misspelt where a keyword in its place lets the parser come further. Flink's own message is about the first token behind it that
does not fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import Token, TokenType

from sqlstream.sql.functions.windows import WINDOW_FUNCTIONS
from sqlstream.sql.statements.table import ALL_WORDS
from sqlstream.sql.syntax.lexer import RESERVED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

# Words of queries and declarations that are not reserved, and of others: XOR is not OR misspelt.
_OTHERS = """
    AFTER ASC DAYS DESCRIPTOR ENFORCED EXCLUDING FIRST GENERATED HOURS INCLUDING JAVA MANAGED METADATA MINUTES MONTHS NULLS OPTIONS
    ORDINALITY PERSISTED SECONDS VIRTUAL VOID XML XOR YEARS
"""
KEYWORDS = RESERVED | ALL_WORDS | frozenset(_OTHERS.split()) | {function.name for function in WINDOW_FUNCTIONS}
# From the place where the parser stopped: before it a word can have been taken for a name; NOT and ORDER are passed together with what follows.
_LOOK_BACK, _LOOK_AHEAD = 4, 1
_MOST_TOKENS = 20_000
_MOST_TRIES = 60


@dataclass(frozen=True)
class Misspelt:
    """A token, and the keyword that was meant by it."""

    token: Token
    keyword: str


def misspelt(tokens: Sequence[Token], reached: int, came: Callable[[list[Token]], int | None]) -> Misspelt | None:
    """The misspelt word of ``tokens``, of which the parser came to the one at ``reached``; None where no keyword comes further.

    ``came`` says to which token it comes with other tokens; None: to the end, and that is right.
    """
    if len(tokens) > _MOST_TOKENS:
        return None
    best: tuple[int, Misspelt] | None = None
    for count, (place, keyword) in enumerate(_tries(tokens, reached)):
        if count == _MOST_TRIES:
            break
        token = tokens[place]
        changed = Token(token.token_type, keyword, token.line, token.col, token.start, token.end)
        end = came([*tokens[:place], changed, *tokens[place + 1 :]])
        if end is None:
            return Misspelt(token, keyword)
        if end > max(reached, place) + 1 and (best is None or end > best[0]):
            best = end, Misspelt(token, keyword)
    return best[1] if best else None


def _tries(tokens: Sequence[Token], reached: int) -> Iterator[tuple[int, str]]:
    """Places and keywords to try, the likeliest first."""
    places = range(min(reached + _LOOK_AHEAD, len(tokens) - 1), max(-1, reached - 1 - _LOOK_BACK), -1)
    words = [(place, tokens[place].text.upper()) for place in places if tokens[place].token_type == TokenType.VAR and len(tokens[place].text) > 1]
    candidates = [(distance, -place, k) for place, word in words for k in KEYWORDS if (distance := _distance(word, k)) is not None]
    for _, place, keyword in sorted(candidates):
        yield -place, keyword


def _distance(word: str, keyword: str) -> int | None:
    """How many letters were left out, added, changed, or swapped with the next; None where they are too many, or none."""
    most = 1 if min(len(word), len(keyword)) < 5 else 2
    if word in KEYWORDS and word != keyword[::-1]:
        return None
    if len(word) == 2 and word != keyword[::-1] and not keyword.startswith(word):
        return None  # a name, most likely
    if word == keyword or abs(len(word) - len(keyword)) > most or not set(word) & set(keyword):
        return None
    before: list[int] = []
    row = list(range(len(keyword) + 1))
    for i, a in enumerate(word, 1):
        before, above, row = row, row if i == 1 else before, [i]
        for j, b in enumerate(keyword, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == keyword[j - 2] and word[i - 2] == b:
                cost = min(cost, above[j - 2] + 1)
            row.append(cost)
    return row[-1] if row[-1] <= most else None
