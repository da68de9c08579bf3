"""How deeply a statement is nested: in comes its tree, what has more levels than every stage behind the parser can take is refused at its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import TokenType

from sqlstream.core.depth import too_deep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot import exp
    from sqlglot.tokenizer_core import Token

    from sqlstream.sql.types import Type

# Flink's parser and planner end between 200 and 800 of them. A chain, as a AND b AND c, has one for each of its operands.
MOST_LEVELS = 3000
# Of a type; Flink's parser ends between 400 and 800.
MOST_TYPE_LEVELS = 500
# A token makes so many levels at most: of TABLE t, a select, its FROM, the table and its name.
_LEVELS_OF_TOKEN = 4
_OPEN = (TokenType.L_PAREN, TokenType.L_BRACKET)
_CLOSE = (TokenType.R_PAREN, TokenType.R_BRACKET)


def refuse_depth(tree: exp.Expr, tokens: int) -> None:
    """Raises NotSupported at the first clause of ``tree``, which was read from so many ``tokens``, that is nested more than MOST_LEVELS deep."""
    if tokens * _LEVELS_OF_TOKEN <= MOST_LEVELS:
        return
    level = [tree]
    for _ in range(MOST_LEVELS):
        level = [below for node in level for below in node.iter_expressions()]
        if not level:
            return
    raise too_deep(level[0], MOST_LEVELS)


def refuse_open(tokens: Sequence[Token]) -> None:
    """Raises NotSupported at the first of ``tokens`` that opens more than MOST_LEVELS brackets and CASEs: a parser that has begun takes minutes to
    find its way back from a hundred thousand of them.
    """
    depth = 0
    for token in tokens:
        word = token.text.upper() if token.token_type == TokenType.VAR else ""
        if token.token_type in _OPEN or word == "CASE":
            depth += 1
            if depth > MOST_LEVELS:
                raise too_deep(token.start, MOST_LEVELS)
        elif token.token_type in _CLOSE or word == "END":
            depth = max(0, depth - 1)


def refuse_type_depth(type_: Type, at: object) -> None:
    """Raises NotSupported at ``at`` where ``type_`` has more than MOST_TYPE_LEVELS types in each other."""
    level: tuple[Type, ...] = (type_,)
    for _ in range(MOST_TYPE_LEVELS):
        level = tuple(child for one in level for child in one.children)
        if not level:
            return
    raise too_deep(at, MOST_TYPE_LEVELS)
