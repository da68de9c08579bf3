"""INSERTs of a statement set that share a query with RAND, UUID or the clock in it: each computes its own values; Flink may share them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from sqlstream.lint.subject import Violation
from sqlstream.plan.nodes import Scan
from sqlstream.plan.properties import walk
from sqlstream.sql.expressions import Call

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.lint.subject import Subject
    from sqlstream.plan.nodes import Node
    from sqlstream.plan.planned import Planned


@dataclass(frozen=True)
class _Insert:
    """What an INSERT has of this: the nodes that call such functions, and which; those that are still called when it runs; what it reads from
    now on.
    """

    planned: Planned
    changing: tuple[tuple[Node, frozenset[str]], ...]
    called: frozenset[str]
    from_now_on: frozenset[str]


def check(subject: Subject) -> Iterator[Violation]:
    reported: set[str] = set()
    for first, second in combinations([_insert(p) for p in subject.planned], 2):
        for name in _shared(first, second):
            if name not in reported:
                reported.add(name)
                yield Violation(
                    second.planned.clause,
                    f"{name} in a query that INSERTs of this statement set share is computed for each of them: their rows have different values",
                    "write the query into a table, and read the table in both",
                )
        for scan in (first.from_now_on & second.from_now_on) - reported:
            reported.add(scan)
            yield Violation(
                second.planned.clause,
                f"INSERTs of this statement set read {scan} from 'latest' on, each from its start: rows that come in between reach only one of them",
                "set 'startingVersion' to a number",
            )


def _insert(planned: Planned) -> _Insert:
    nodes = walk(planned.plan)
    return _Insert(
        planned,
        tuple((node, names) for node in walk(planned.logical) if (names := _calls(node))),
        frozenset().union(*map(_calls, nodes)),
        frozenset(n.table.path.name for n in nodes if isinstance(n, Scan) and n.table.options.get("startingVersion") == "latest"),
    )


def _shared(first: _Insert, second: _Insert) -> list[str]:
    """The names of functions that give another value each time, in what both have, and of which both still have calls when they run."""
    if not (left := first.called & second.called):
        return []
    nodes = [node for node, _ in first.changing]
    return sorted(frozenset().union(*(names for node, names in second.changing if node in nodes)) & left)


def _calls(node: Node) -> frozenset[str]:
    calls = (e for expr in node.expressions() for e in expr.walk() if isinstance(e, Call))
    return frozenset(c.function.name for c in calls if not c.function.deterministic)
