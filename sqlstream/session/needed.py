"""What a job needs of what its session had declared: the script of it without tables and views that it has nothing to do with."""

from __future__ import annotations

from itertools import dropwhile
from typing import TYPE_CHECKING

from sqlstream.sql.statements.split import split
from sqlstream.sql.syntax.lexer import Kind
from sqlstream.sql.syntax.tokens import tolerant_tokens

if TYPE_CHECKING:
    from sqlstream.sql.statements.split import StatementText

_RELATIONS = ("TABLE", "VIEW")
# Words that may stand before TABLE, and behind it.
_BEFORE = ("OR", "REPLACE", "TEMPORARY")
_BEHIND = ("IF", "NOT", "EXISTS")


def needed(script: str) -> str:
    """``script`` without the statements about tables and views whose names nothing else in it has, neither its job nor what that needs."""
    statements = split(script)
    about = [_relations(_words(one)) for one in statements]
    kept = {number for number, names in enumerate(about) if not names or number == len(about) - 1}
    while True:
        named = {word.casefold() for number in kept for word in _words(statements[number])}
        more = {number for number, names in enumerate(about) if named & names}
        if more <= kept:
            break
        kept |= more
    made, end = "", 0
    for number, one in enumerate(statements):
        made += script[end : one.start]
        end = _behind(script, one)
        if number in kept:
            made += script[one.start : end]
    return made + script[end:]


def _words(statement: StatementText) -> list[str]:
    """Its words, names and signs in their order, as they are meant: without strings and comments."""
    found = [lexeme for lexeme in statement.lexemes if lexeme.kind not in (Kind.STRING, Kind.COMMENT)]
    return [token.text for lexeme in found for token in tolerant_tokens(lexeme.text)]


def _relations(words: list[str]) -> set[str]:
    """The names, without what they are in, that the table or view has that a statement declares, alters or drops; none for another statement."""
    rest = _without(words[1:], _BEFORE)
    if not rest or rest[0].upper() not in _RELATIONS:
        return set()
    name, rest = _name(_without(rest[1:], _BEHIND))
    renamed = _name(rest[2:])[0] if [word.upper() for word in rest[:2]] == ["RENAME", "TO"] else None
    return {each.casefold() for each in (name, renamed) if each is not None}


def _without(words: list[str], first: tuple[str, ...]) -> list[str]:
    """``words`` without the ``first`` ones that stand before a name."""
    return list(dropwhile(lambda word: word.upper() in first, words))


def _name(words: list[str]) -> tuple[str | None, list[str]]:
    """The last part of the name with which ``words`` begin, and what follows it."""
    while len(words) > 2 and words[1] == ".":
        words = words[2:]
    return (words[0], words[1:]) if words else (None, [])


def _behind(script: str, statement: StatementText) -> int:
    """Where what follows a statement begins: behind its semicolon, and the end of that line."""
    end = statement.start + len(statement.text)
    if statement.terminated:
        end = script.index(";", end) + 1
    return end + 1 if script[end : end + 1] == "\n" else end
