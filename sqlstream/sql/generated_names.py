"""Names that sqlstream itself gives: to columns beside those of the user, and to what is bound in Spark's SQL. No user can write one of them.

The lexer refuses an identifier for which ``reserved`` is true, so nothing that a user calls can be taken for what is generated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.core.hidden import PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable

_OF_PLAN = PREFIX + "$"


def reserved(name: str) -> bool:
    """Whether ``name`` is one that only sqlstream gives."""
    return name.startswith("__") and name.lower().startswith(PREFIX)


def generated(name: str) -> str:
    """The name of a column that the planner adds."""
    return _OF_PLAN + name


def shown(text: str) -> str:
    """``text`` with the planner's columns as EXPLAIN calls them: ``$name``."""
    return text.replace(_OF_PLAN, "$")


def bound(body: Callable[..., str], level: int = 0) -> str:
    """A lambda of Spark's SQL, whose variables are the parameters of ``body``: it gets their names and gives the text of the result.

    ``bound(lambda x: f"{x} + 1")`` is ``__sqlstream_x -> __sqlstream_x + 1``. A lambda that reads the variable of one of the same names around
    it has another ``level``.
    """
    code = body.__code__
    variables = [f"{PREFIX}_{name}{level or ''}" for name in code.co_varnames[: code.co_argcount]]
    listed = variables[0] if len(variables) == 1 else f"({', '.join(variables)})"
    return f"{listed} -> {body(*variables)}"
