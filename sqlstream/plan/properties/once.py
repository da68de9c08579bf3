"""Caching of properties: a node never changes."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlstream.plan.nodes import Node

T = TypeVar("T")


def once(of_node: Callable[[Node], T]) -> Callable[[Node], T]:
    """``of_node``, computed once for each node: the nodes above ask for it again and again."""
    name = f"${of_node.__name__}"

    @wraps(of_node)
    def cached(node: Node) -> T:
        kept = node.__dict__
        if name not in kept:
            kept[name] = of_node(node)
        return cast("T", kept[name])

    return cached
