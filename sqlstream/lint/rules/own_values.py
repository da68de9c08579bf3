"""INSERTs of a statement set that share a query with RAND, UUID or the clock in it: each computes its own values, where Flink may once for all."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from sqlstream.lint.subject import Found
from sqlstream.plan.differences import expressions
from sqlstream.plan.nodes import Scan
from sqlstream.plan.properties import walk
from sqlstream.sql.expressions import Call

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.lint.subject import Planned, Subject
    from sqlstream.plan.nodes import Node


def check(subject: Subject) -> Iterator[Found]:
    told: set[str] = set()
    for first, second in combinations(subject.planned, 2):
        for name in _shared(first, second):
            if name not in told:
                told.add(name)
                yield Found(
                    second.clause,
                    f"{name} in what INSERTs of this statement set share is computed for each of them: their rows have different values",
                    "write the query into a table, and read that in both",
                )
        for scan in _from_now_on(first) & _from_now_on(second) - told:
            told.add(scan)
            yield Found(
                second.clause,
                f"INSERTs of this statement set read {scan} from 'latest' on, each from when it starts: what comes between is in one of them only",
                "set 'startingVersion' to a number",
            )


def _shared(first: Planned, second: Planned) -> list[str]:
    """The names of functions that give another value each time, in what both have, and of which both still have calls when they run."""
    nodes = [node for node, _ in _changing(first.logical)]
    both = [names for node, names in _changing(second.logical) if node in nodes]
    return sorted(frozenset().union(*both) & _names(first.plan) & _names(second.plan))


def _changing(plan: Node) -> list[tuple[Node, frozenset[str]]]:
    """The nodes of ``plan`` that call such functions, and which."""
    return [(node, names) for node in walk(plan) if (names := _calls(node))]


def _names(plan: Node) -> frozenset[str]:
    return frozenset().union(*(_calls(node) for node in walk(plan)))


def _calls(node: Node) -> frozenset[str]:
    calls = (e for expr in expressions(node) for e in expr.walk() if isinstance(e, Call))
    return frozenset(c.function.name for c in calls if not c.function.deterministic)


def _from_now_on(planned: Planned) -> set[str]:
    scans = (n.table for n in walk(planned.plan) if isinstance(n, Scan))
    return {t.path.name for t in scans if t.options.get("startingVersion") == "latest"}
