"""Names of columns that sqlstream adds, on the way, beside those of the user. The lexer refuses them, so none of the user's is taken for one."""

from __future__ import annotations

PREFIX = "__sqlstream"


def hidden(name: str) -> str:
    """The name of an added column. What is in a checkpoint has it: it stays what it is."""
    return f"{PREFIX}_{name}"
