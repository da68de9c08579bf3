"""Columns renamed so that two nodes can stand beside each other: no two columns of a node have one name."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from sqlstream.plan import make
from sqlstream.plan.nodes import Named, Node, Project
from sqlstream.plan.properties import fields

if TYPE_CHECKING:
    from collections.abc import Iterable


def without_names(node: Node, used: Iterable[str]) -> Node:
    """``node`` without the names ``used``: a column that has one of them is renamed, from ``id`` to ``id0`` as in Flink."""
    own = fields(node)
    names = free_names([f.name for f in own], used)
    if all(name == f.name for name, f in zip(names, own, strict=True)):
        return node
    return Project(node, tuple(Named(name, make.ref(f)) for name, f in zip(names, own, strict=True)))


def free_names(names: list[str], used: Iterable[str]) -> list[str]:
    """``names``, with a number appended to those that are in ``used``."""
    used = set(used)
    known = used | set(names)
    free = []
    for name in names:
        if name in used:
            name = next(numbered for i in count() if (numbered := f"{name}{i}") not in known)
            known.add(name)
        free.append(name)
    return free
