"""Where in the statement the nodes of a plan come from: what is wrong with a node is said at its clause."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlstream.core.errors import SqlStreamError
from sqlstream.plan.properties import once

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlglot import exp

    from sqlstream.plan.nodes.base import Node


def placed(node: Node, clause: exp.Expr | None) -> Node:
    """``node`` with ``clause`` as its place, and as that of those below it that have none. What nodes share stays shared."""
    if clause is None:
        return node
    made: dict[int, Node] = {}

    def with_place(of: Node) -> Node:
        if _all_placed(of):
            return of
        if id(of) not in made:
            below = of.with_inputs(tuple(map(with_place, of.inputs)))
            made[id(of)] = replace(below, at=clause) if of.at is None else below
        return made[id(of)]

    return with_place(node)


@once
def _all_placed(node: Node) -> bool:
    return node.at is not None and all(map(_all_placed, node.inputs))


def clause_of(node: Node) -> exp.Expr | None:
    """The clause of ``node``, else that of the first below it that has one."""
    return node.at or next(filter(None, map(clause_of, node.inputs)), None)


@contextmanager
def at_clause(node: Node) -> Iterator[None]:
    """Errors without a place are about the clause of ``node``."""
    try:
        yield
    except SqlStreamError as error:
        if error.at is None:
            error.at = clause_of(node)
        raise
