"""A changed job goes on: the checkpoints of its next generation are made from those of the one before."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from sqlstream.connectors import find_connector
from sqlstream.core import storage
from sqlstream.core.errors import ValidationError
from sqlstream.runtime.checkpoints import (
    CheckpointMapping,
    QueryRecord,
    Source,
    adapted,
    base,
    behind,
    called,
    derive,
    exchanged,
    mapped,
    query_record,
    read_offsets,
    why_not,
    with_columns,
)
from sqlstream.runtime.jobs.folder.generations import OPERATORS, damaged, lacking
from sqlstream.runtime.jobs.folder.versions import unreadable
from sqlstream.runtime.lower.native import in_update_mode

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from sqlstream.connectors.base import Write
    from sqlstream.core.storage import Place
    from sqlstream.plan.nodes import Sink
    from sqlstream.plan.upgrade import PlanRecord, SinkMatch, Verdict
    from sqlstream.sql.tables import Table

# The first offset of a source of topics, in its own file, is behind this.
_BEGUN = "\0v1\n"
# For each source of a query, the topics that it reads from elsewhere: by partition the offset, None for that which it has.
Positions: TypeAlias = "Mapping[str, Mapping[str, Mapping[int, int | None]]]"


def upgrade(
    job: str,
    spark: SparkSession,
    before: Place,
    after: Place,
    names: tuple[list[str], list[str]],
    sinks: tuple[Sink, ...],
    verdict: Verdict,
    keeping: Sequence[frozenset[str]],
    lowered: Callable[[int], DataFrame],
    *,
    stateless: bool,
    may_lose: bool,
    request: Callable[[int], Write],
    notify: Callable[[str], None],
    offsets: Mapping[str, str] | None = None,
    positions: Callable[[int], Positions] = lambda index: {},
    sources_of: Callable[[int], Mapping[str, Table]],
    moved: tuple[str, str] | None = None,
) -> None:
    """Make the checkpoints of generation ``after`` of a job from those of ``before``.

    ``names``: what the folders of their sinks' checkpoints are called; ``keeping``: the ids of the nodes of each sink of ``before`` that keep state.
    ``lowered`` gives the rows of a sink as its query will be started with them,
    ``request`` what they are written by. ``offsets``: topics that are read from elsewhere; ``positions`` gives from where, for
    the sources of a sink; ``sources_of`` the tables that these read. ``moved``: the URIs that the project had, and has, where it is another.
    Raises ValidationError where state would be lost that must not be, or what was kept is damaged.
    """
    old_names, new_names = names
    # What all queries of the job have the same.
    _copy(before / "inputs" / "shared", after / "inputs" / "shared")
    set_to = {m.new: positions(m.new) for m in verdict.sinks} if offsets else {}
    if unknown := set(offsets or ()) - {topic for sources in set_to.values() for topics in sources.values() for topic in topics}:
        raise ValidationError(f"The job reads no topic '{min(unknown)}', whose offsets were set.", hint="ALTER JOB .. SET OFFSETS () forgets them.")
    for match in verdict.sinks:
        if match.old is None:
            continue
        if match.stateful:
            _copy(before / "inputs" / str(match.old), after / "inputs" / str(match.new))
        checkpoint = before / "checkpoint" / old_names[match.old]
        if not checkpoint.exists():
            continue
        sink, frame = sinks[match.new], lowered(match.new)
        mode = "update" if in_update_mode(sink) else "append"
        landed = partial(find_connector(sink.table.connector).landed, request(match.new))
        check_checkpoint(job, spark, before, checkpoint.name, landed)
        old, new = read_record(before, old_names[match.old]), query_record(frame, mode)
        if old is None and not (checkpoint / "offsets").exists():
            continue
        if old is None:
            raise ValidationError(
                f"What the state in {checkpoint} belongs to is not known: it is of an earlier release.",
                hint="Submit the earlier statement once with this release, and stop it.",
            )
        old = attributed(old, keeping[match.old])
        operators, columns = _operators(match, old, new, stateless=stateless, may_lose=may_lose)
        came = base(spark, storage.uri(checkpoint), landed)
        if came.doubtful and match.stateful:
            notify(f"'{sink.table.path.name}' may get the rows of the last micro-batch twice: it was interrupted.")
        own = {name: name for name in old.sources if _own(name)}
        elsewhere = set_to.get(match.new, {})
        fewer = {}
        if match.fewer:
            fewer = _fewer(match, sources_of(match.new), _offsets(checkpoint, came.batch, old))
        relative = _relative(sources_of(match.new)) if moved is not None else set()
        sources = [
            Source(
                name, {**own, **match.sources}.get(name), offset=fewer.get(name), positions=elsewhere.get(name, {}),
                moved=moved if name in relative else None,
            )
            for name in new.sources
        ]  # fmt: skip
        place = after / "checkpoint" / new_names[match.new]
        derive(
            spark,
            storage.uri(checkpoint),
            storage.uri(place),
            came.batch,
            CheckpointMapping(sources, operators, columns=columns),
            record=old,
            frame=frame,
            mode=mode,
        )


def check_checkpoint(job: str, spark: SparkSession, generation: Place, name: str, landed: Callable[[str, int], bool | None]) -> None:
    """Raises Damaged where the checkpoint ``name`` of a query lacks what its table, or another part of it, has."""
    checkpoint = generation / "checkpoint" / name
    what = lacking(generation, name)
    if what is None and (last := behind(spark, storage.uri(checkpoint), landed)) is not None:
        has = f"ends with micro-batch {last}" if last >= 0 else "has no micro-batch"
        what = f"the checkpoint {checkpoint} {has}, and its table has a later one"
    if what is not None:
        raise damaged(job, what)


def is_written(
    spark: SparkSession, before: Place, names: list[str], sinks: tuple[Sink, ...], verdict: Verdict, request: Callable[[int], Write]
) -> bool:
    """Whether a micro-batch of generation ``before`` is in one of the sinks that go on, or may be; parameters as of ``upgrade``."""
    for match in verdict.sinks:
        checkpoint = None if match.old is None else before / "checkpoint" / names[match.old]
        if checkpoint is not None and checkpoint.exists():
            landed = find_connector(sinks[match.new].table.connector).landed
            came = base(spark, storage.uri(checkpoint), partial(landed, request(match.new)))
            if came.batch >= 0 or came.doubtful:
                return True
    return False


def widen(verdict: Verdict, before: PlanRecord, sinks: tuple[Sink, ...], request: Callable[[int], Write]) -> None:
    """Give sinks that go on the columns with which they are declared since ``before``. Raises ValidationError where one is not as it is declared."""
    for match in verdict.sinks:
        table = sinks[match.new].table
        known = before.sinks[match.old].columns if match.old is not None and match.stateful else [c.name for c in table.persisted]
        find_connector(table.connector).add_columns(request(match.new), [c.name for c in table.persisted if c.name not in known])


def read_record(generation: Place, name: str) -> QueryRecord | None:
    """What the query into the sink ``name`` reads and keeps. Raises ValidationError where that can't be read."""
    file = generation / OPERATORS / f"{name}.json"
    try:
        return QueryRecord.from_json(file.read_text()) if file.exists() else None
    except (ValueError, TypeError, KeyError) as error:
        raise unreadable(file, error) from error


def write_record(generation: Place, name: str, frame: DataFrame, mode: str, sink: Sink) -> None:
    """Keep what the query of ``frame`` into ``sink``, called ``name``, reads and keeps, if that is not known yet."""
    file = generation / OPERATORS / f"{name}.json"
    # Earlier releases did not say what of a state is a column.
    if file.exists() and '"table"' in file.read_text():
        return
    known, record = read_record(generation, name), with_columns(query_record(frame, mode), sink)
    if known is None or known == record:
        storage.write(file, record.to_json())


def _copy(of: Place, to: Place) -> None:
    if of.exists():
        storage.copy(of, to)


def _offsets(checkpoint: Place, batch: int, record: QueryRecord) -> dict[str, str]:
    """How far the sources of a query were read after this micro-batch, or where they began (-1), as Spark's texts; without those of which that is not
    known.
    """
    if batch < 0:
        begun = {file.parent.name: file.read_text() for file in checkpoint.glob("sources/*/0")}
        return {name: text.removeprefix(_BEGUN) for name, text in begun.items() if text.startswith(_BEGUN)}
    return read_offsets((checkpoint / "offsets" / str(batch)).read_text(), record.sources)


def _fewer(match: SinkMatch, tables: Mapping[str, Table], before: Mapping[str, str]) -> dict[str, str]:
    """Where sources go on that read fewer places than those of ``before``, which were read so far."""
    known = {name: before[match.sources[name]] for name in match.fewer if match.sources[name] in before}
    return {name: find_connector(tables[name].connector).offsets(tables[name], offset) for name, offset in known.items()}


def _relative(tables: Mapping[str, Table]) -> set[str]:
    """The sources that read a path below the project."""
    return {name for name, table in tables.items() if find_connector(table.connector).is_relative(table)}


def _own(name: str) -> bool:
    """Whether a source is one of ours and not a table: the clock, control files, rows that are there from the start."""
    return re.fullmatch(r"(control|idle|clock|static)(_\d+)?", name) is not None


def _operators(
    match: SinkMatch, old: QueryRecord, new: QueryRecord, *, stateless: bool, may_lose: bool
) -> tuple[dict[int, int | None], dict[int, list[int | None]]]:
    """For each operator of the new query that whose state it takes; and the columns of those that keep others: see CheckpointMapping."""
    columns: dict[int, list[int | None]] = {}
    if stateless or not match.stateful:
        return dict.fromkeys((o.operator for o in new.operators), None), columns
    found = {**mapped(old, new, match.nodes), **({} if match.loses or match.in_part else _unmarked(old, new))}
    before = {o.operator: o for o in old.operators}
    why = "no operator of the new plan has the same state"
    for operator in new.operators:
        theirs = found[operator.operator]
        if theirs is None:
            continue
        whole = match.in_part.get(operator.node or "")
        places = None if whole is None else adapted(before[theirs], operator, whole=whole)
        if places is not None:
            columns[operator.operator] = places
        elif whole is not None:
            found[operator.operator], why = None, "its aggregates are others, and can't be told apart"
        elif (places := exchanged(before[theirs], operator)) is not None:
            columns[operator.operator] = places
        elif (reason := why_not(before[theirs], operator)) is not None:
            found[operator.operator], why = None, reason
    lost = [o for o in old.operators if o.operator not in found.values()]
    if lost and not may_lose:
        raise ValidationError(
            f"The state of {called(lost[0])} can't be kept: {why}. It is: {lost[0].state}.",
            hint="SET 'execution.upgrade-mode' = 'stateless' begins with empty state where the offsets are; "
            "'execution.state-recovery.ignore-unclaimed-state' = 'true' leaves only this state behind.",
        )
    return found, columns


def attributed(record: QueryRecord, keeping: Collection[str]) -> QueryRecord:
    """``record``, in which the operator that an earlier release took for another node's, as a condition was pushed through it, has its own: the only
    one of ``keeping``, the nodes that keep state, that no operator has.
    """
    others = [o for o in record.operators if o.node is not None and o.node not in keeping]
    free = set(keeping) - {o.node for o in record.operators}
    if len(others) != 1 or len(free) != 1:
        return record
    (node,) = free
    return replace(record, operators=tuple(replace(o, node=node, part=0) if o is others[0] else o for o in record.operators))


def _unmarked(old: QueryRecord, new: QueryRecord) -> dict[int, int]:
    """Operators of which Spark's optimizer has left no trace of a node, where all nodes go on: those that are alone in what they keep."""

    def alone(record: QueryRecord) -> dict[tuple[str, str], int]:
        unmarked = [o for o in record.operators if o.node is None]
        counts = Counter((o.kind, _without_versions(o.state)) for o in unmarked)
        return {(o.kind, _without_versions(o.state)): o.operator for o in unmarked if counts[o.kind, _without_versions(o.state)] == 1}

    before = alone(old)
    return {operator: before[what] for what, operator in alone(new).items() if what in before}


def _without_versions(state: str) -> str:
    """What a state keeps, without the versions of its layouts: each release goes on with earlier ones."""
    head, by, rest = state.partition(" by (")
    return re.sub(r"(\w+) \d+", r"\1", head) + by + rest
