"""Columns renamed so that two nodes can stand beside each other: no two columns of a node have one name."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from sqlstream.plan import make
from sqlstream.plan.nodes import Named, Node, Project
from sqlstream.plan.properties import fields

if TYPE_CHECKING:
    from collections.abc import Iterable


def apart(node: Node, taken: Iterable[str]) -> Node:
    """``node`` with columns renamed that are called as one of ``taken`` is: ``id`` to ``id0``, as Flink does."""
    given = fields(node)
    names = free_names([f.name for f in given], taken)
    if all(name == f.name for name, f in zip(names, given, strict=True)):
        return node
    return Project(node, tuple(Named(name, make.ref(f)) for name, f in zip(names, given, strict=True)))


def free_names(names: list[str], taken: Iterable[str]) -> list[str]:
    """``names`` with a number behind those that are in ``taken``."""
    taken = set(taken)
    used = taken | set(names)
    found = []
    for name in names:
        if name in taken:
            free = next(f"{name}{i}" for i in count() if f"{name}{i}" not in used)
            used.add(free)
            name = free
        found.append(name)
    return found
