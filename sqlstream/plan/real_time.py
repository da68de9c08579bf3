"""Which queries run in real time: row after row goes from the source to the sink, without micro-batches."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from sqlstream.connectors import find_connector
from sqlstream.core import settings
from sqlstream.core.errors import NotSupported
from sqlstream.core.spark_releases import OPTION, RELEASES, Release
from sqlstream.plan import make
from sqlstream.plan.explain import describe
from sqlstream.plan.nodes import ChangelogNormalize, GroupAggregate, Join, LookupJoin, Node, OneByOne, Project, Rank, Scan, Sink, Union
from sqlstream.plan.places import clause_of
from sqlstream.plan.properties import awaits_watermark, changelog_mode, state_ttl, static, task_keys, upsert_key
from sqlstream.sql.expressions import Call
from sqlstream.sql.text import to_text
from sqlstream.udf.declarations.functions import calls_python, keeps_failures

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sqlstream.sql.expressions import Expr

_HINT = "RESET 'execution.real-time' runs it by micro-batches, of some 100 milliseconds."


class RealTime(Enum):
    """The values of ``execution.real-time``."""

    AUTO = "auto"
    TRUE = "true"
    FALSE = "false"

    @classmethod
    def wanted(cls, options: Mapping[str, str]) -> RealTime:
        """That of a session: who asks for mini-batches has them, but where real time is a must. Raises ValidationError."""
        value = cls(settings.read(options, "execution.real-time"))
        return cls.FALSE if value is cls.AUTO and settings.read(options, "table.exec.mini-batch.enabled") else value


def prevented(sink: Sink, release: Release, *, asked: bool) -> str | None:
    """What keeps the query of ``sink`` from running in real time on ``release`` of Spark, as a sentence; None where nothing does.

    ``asked``: somebody has asked for real time.
    """
    found = _preventing(sink, release, asked=asked)
    return None if found is None else found[1]


def _preventing(sink: Sink, release: Release, *, asked: bool) -> tuple[Node, str] | None:
    """The node that keeps the query from running in real time, and the sentence about it."""
    table = sink.table
    if static(sink):
        return sink, "What it reads ends by itself."
    for node in _of_streams(sink):
        if isinstance(node, Scan) and (node.bounded or not find_connector(node.table.connector).reads_in_real_time):
            ends = ", for it ends" if node.bounded else ""
            return node, f"A '{node.table.connector}' table, as {node.table.path.quoted}, is read by micro-batches{ends}."
        if isinstance(node, LookupJoin) and not _asks(node):
            how = "in Python" if find_connector(node.scan.table.connector).answers else "as it is when a micro-batch begins"
            return node, f"The table of {describe(node)} is looked up {how}."
        if awaits_watermark(node):
            return node, f"It has {describe(node)}, which waits for the watermark: that moves with micro-batches."
        if not (node.real_time or _copies(node)):
            return node, f"It has {describe(node)}, which works on whole micro-batches."
        if _keeps_state(node) and not release.stateful_real_time:
            return node, f"It has {describe(node)}, which keeps state: Spark {release.name} does that by micro-batches."
        if (isinstance(node, Union) or state_ttl(node)) and (kept := _keeping(node.inputs)) is not None:
            what = "Streams are brought together" if isinstance(node, Union) else "State expires"
            return node, f"{what} above {describe(kept)}, which keeps state: Spark does that by micro-batches."
        for expr in node.expressions():
            if calls_python(expr):
                return node, f"It calls a function in Python: {to_text(expr)}."
            if any(isinstance(e, Call) and e.function.clock and not e.args and not _of_row(node, e) for e in expr.walk()):
                return node, f"The time is that of a micro-batch in {describe(node)}: select it as a column, and compare that."
    connector, mode, in_order = find_connector(table.connector), changelog_mode(sink.input), _in_order(sink)
    if connector.shows_changes and not asked:
        return sink, f"A '{table.connector}' table, as {table.path.quoted}, is looked at by people, for whom micro-batches are as fast."
    if connector.writes_in_real_time(table, mode, in_order=in_order):
        if asked or connector.takes_back or not mode.updates or not stateful(sink):
            return None
        return sink, (
            f"A '{table.connector}' table, as {table.path.quoted}, keeps what it was given after the last offsets when the job dies,"
            " and the changes that come again may be others."
        )
    if connector.writes_in_real_time(table, mode, in_order=True):
        return sink, (
            f"The changes of one row of {table.path.quoted}, by its primary key, come from several tasks of Spark's: only a micro-batch orders them."
        )
    why = "" if (option := connector.needs_micro_batches(table)) is None else f", for its '{option[0]}' is '{option[1]}'"
    return sink, f"A '{table.connector}' table, as {table.path.quoted}, is written by micro-batches{why}."


def _of_row(node: Node, call: Call) -> bool:
    """Whether the time that it gives is that of each row."""
    return isinstance(node, Project) and call.function.name == "PROCTIME"


def _of_streams(node: Node) -> Iterator[Node]:
    """``node`` and those below it, but for what a stream's rows are joined with, which is there when the query starts."""
    yield node
    for below in node.inputs:
        if not (_copies(node) and static(below)):
            yield from _of_streams(below)


def _asks(node: LookupJoin) -> bool:
    """Whether it asks a database for the keys of each row."""
    return find_connector(node.scan.table.connector).lookup(node.scan.table) is not None


def _copies(node: Node) -> bool:
    """Whether it joins each row of a stream with a static side, which each task has a copy of then."""
    return type(node) is Join and node.of_static


def _keeps_state(node: Node) -> bool:
    return node.keeps_state and not _copies(node)


def _keeping(nodes: Iterable[Node]) -> Node | None:
    """The first of ``nodes``, and those below, that keeps state."""
    return next((below for node in nodes for below in _of_streams(node) if _keeps_state(below)), None)


def _in_order(sink: Sink) -> bool:
    """Whether all changes of a row by the primary key come one after the other, from one task."""
    keys, spread = upsert_key(sink.input), task_keys(sink.input)
    if sink.table.primary_key is None or keys is None or spread is None:
        return False
    primary = set(sink.table.primary_key.columns)
    return set(keys) <= primary and all(value & primary for value in spread)


def replaces(sink: Sink) -> bool:
    """Whether what a row was is always followed by what it is, under the same primary key."""
    if sink.table.primary_key is None or sink.drop_nulls or sink.dead_letters is not None:
        return False
    lasting = _lasting(sink.input)
    return lasting is not None and set(sink.table.primary_key.columns) <= lasting


def _lasting(node: Node) -> set[str] | None:
    """The columns that an update of a row leaves as they are, of a node whose updates are what a row was and then what it is; None for another."""
    # A join gives the changes of its inputs on, which come alone where the join's key changes.
    if isinstance(node, GroupAggregate | Rank | ChangelogNormalize):
        keys = upsert_key(node)
        return None if keys is None else set(keys)
    if not isinstance(node, OneByOne) or node.leaves_out or (below := _lasting(node.input)) is None:
        return None
    if isinstance(node, Project):
        if any(keeps_failures(c.expr) for c in node.columns):
            return None
        return {c.name for c in node.columns if make.columns(c.expr) <= below and _is_always_the_same(c.expr)}
    return {name for name, source in node.sources.items() if source in below}


def _is_always_the_same(expr: Expr) -> bool:
    """Whether the same columns give the same value."""
    return not any(isinstance(e, Call) and not e.function.deterministic for e in expr.walk())


def stateful(sink: Sink) -> int:
    """How many operators of the query keep state: in real time each has tasks of its own."""
    return sum(map(_keeps_state, _of_streams(sink)))


def clocks(sink: Sink) -> int:
    """How many of them have a clock, which is a task more: their state expires."""
    return sum(_keeps_state(node) and state_ttl(node) > 0 for node in _of_streams(sink))


def refuse_unless_real_time(sink: Node, release: Release) -> None:
    """Raises NotSupported for a query that would run by micro-batches."""
    if isinstance(sink, Sink) and (found := _preventing(sink, release, asked=True)) is not None:
        node, why = found
        raise NotSupported(f"The query can't run in real time. {why}", at=clause_of(node), hint=f"{_elsewhere(sink, release)}{_HINT}")


def _elsewhere(sink: Sink, release: Release) -> str:
    """Which other releases run it so, as a sentence."""
    able = [r.name for r in RELEASES.values() if r is not release and prevented(sink, r, asked=True) is None]
    return f"SET '{OPTION}' = '{able[-1]}', before Spark starts, runs it in real time. " if able else ""
