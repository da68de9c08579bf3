"""The kinds of rows that a node emits, and which node makes them change."""

from __future__ import annotations

from sqlstream.core.changelog import ChangelogMode
from sqlstream.plan.nodes import (
    ChangelogNormalize,
    CoGroup,
    GroupAggregate,
    IntervalJoin,
    Join,
    JoinKind,
    KeyedJoin,
    Node,
    Rank,
    Scan,
    TemporalJoin,
    WindowJoin,
)
from sqlstream.plan.properties.first_by_rowtime import first_by_rowtime
from sqlstream.plan.properties.once import once
from sqlstream.plan.properties.static import of_static, static


@once
def changelog_mode(node: Node) -> ChangelogMode:
    """The kinds of rows that ``node`` emits. What is computed from static input is final."""
    if static(node):
        return ChangelogMode.APPEND
    match node:
        case Scan(mode=mode):
            return mode
        case ChangelogNormalize():
            return ChangelogMode.RETRACT_DELETE
        case GroupAggregate(input=source, aggregates=aggregates, upserts=upserts):
            if changelog_mode(source).updates:
                return ChangelogMode.UPSERT_DELETE if upserts else ChangelogMode.RETRACT_DELETE
            # Without aggregates (DISTINCT) a group's row never changes once it is emitted.
            return ChangelogMode.APPEND if not aggregates else ChangelogMode.UPSERT if upserts else ChangelogMode.RETRACT
        case WindowJoin() | CoGroup() | IntervalJoin() | TemporalJoin():
            return ChangelogMode.APPEND
        case Rank(input=source):
            if changelog_mode(source).updates:
                return ChangelogMode.RETRACT_DELETE
            if node.once or first_by_rowtime(node):
                return ChangelogMode.APPEND
            # Of one row a partition there is always one after the first.
            return ChangelogMode.RETRACT if node.first == node.last == 1 else ChangelogMode.RETRACT_DELETE
        case KeyedJoin(join=join):
            return changelog_mode(join)
        case Join(kind=kind) if not of_static(node):
            once = kind in (JoinKind.INNER, JoinKind.SEMI) and not any(changelog_mode(i).updates for i in node.inputs)
            return ChangelogMode.APPEND if once else ChangelogMode.RETRACT_DELETE
    return _joint([changelog_mode(i) for i in node.inputs])


def _joint(modes: list[ChangelogMode]) -> ChangelogMode:
    """The kinds of rows of all ``modes`` together. With several inputs no key says which row replaces which, so all have to retract."""
    updating = [m for m in modes if m.updates]
    if len(modes) <= 1 or not updating:
        return updating[0] if updating else ChangelogMode.APPEND
    return ChangelogMode.RETRACT_DELETE if any(m.deletes for m in updating) else ChangelogMode.RETRACT


def updating_node(node: Node) -> Node | None:
    """The node nearest to the sources that makes ``node``'s rows change; None where they don't."""
    if not changelog_mode(node).updates:
        return None
    for source in node.inputs:
        if (cause := updating_node(source)) is not None:
            return cause
    return node
