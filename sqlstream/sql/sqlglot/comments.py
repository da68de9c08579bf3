"""Comments of a text as sqlglot keeps them: with the nodes of the tree beside which they stand.

In: a tree whose nodes have their places, and the text. A comment behind something on its line belongs to that, any other to what follows it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.core.errors import offset_of
from sqlstream.sql.syntax import ast
from sqlstream.sql.syntax.lexer import Kind, lexemes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlstream.sql.syntax.lexer import Lexeme


def comments_of(text: str) -> list[Lexeme]:
    """All comments of ``text``, in their order."""
    return [lexeme for lexeme in lexemes(text) if lexeme.kind is Kind.COMMENT]


def commented(tree: exp.Expr, text: str, found: Sequence[Lexeme]) -> exp.Expr:
    """``tree`` with the comments of ``text`` that were ``found``: in its statement, before it or behind."""
    if not found:
        return tree
    if (view := tree.find(ast.CreateView, ast.AsQuery)) is not None:
        # Its query is written as it stands in the text.
        query = view.args.get("query") or view.this
        first, last = offset_of(query) or 0, max(node.meta.get("end", 0) for node in query.walk())
        tree.add_comments([_words(c.text) for c in found if not first < c.start < last])
        return tree
    # A hint is a comment itself.
    placed = [node for node in tree.walk(prune=_is_hint) if "start" in node.meta and not _is_hint(node)]
    # Of several nodes that begin or end at one place the outermost comes first.
    following = sorted(placed, key=lambda node: node.meta["start"])
    before = sorted(placed, key=lambda node: node.meta["end"])
    starts, ends = [node.meta["start"] for node in following], [node.meta["end"] for node in before]
    for comment in found:
        behind, next_ = bisect_left(ends, comment.start), bisect_right(starts, comment.start)
        if behind and (_follows(text, ends[behind - 1], comment) or next_ == len(following)):
            owner = before[bisect_left(ends, ends[behind - 1])]
        else:
            owner = following[next_] if behind and next_ < len(following) else tree
        owner.add_comments([_words(comment.text)])
    return tree


def _is_hint(node: exp.Expr) -> bool:
    return isinstance(node, exp.Hint | ast.OptionsHint)


def _follows(text: str, end: int, comment: Lexeme) -> bool:
    """Whether there is no line between ``end`` and the comment."""
    return "\n" not in text[end + 1 : comment.start]


def _words(comment: str) -> str:
    """What a comment says, as sqlglot keeps it."""
    return re.sub(r"^(?:--|//|/\*)|\*/$", "", comment)
