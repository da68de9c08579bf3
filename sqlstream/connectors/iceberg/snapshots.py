"""Snapshots of an Iceberg table: which one a read begins at, and which micro-batch of which query has written one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlstream.connectors.iceberg.options import OPTIONS, STRATEGY
from sqlstream.core import options as option_rows
from sqlstream.core.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import SparkSession

    from sqlstream.sql.tables import Table

# What a snapshot says of who has written it.
QUERY, BATCH = "sqlstream.query", "sqlstream.batch"
_SETTING = "spark.sql.iceberg.snapshot-property."


def marks(query: str, batch: int) -> Mapping[str, str]:
    """The settings of a session by which its snapshots say that this micro-batch has written them."""
    return {_SETTING + QUERY: query, _SETTING + BATCH: str(batch)}


def landed(loaded: Any, branch: str | None, query: str, batch: int) -> bool:
    """Whether micro-batch ``batch`` of a query is in Iceberg's table: a snapshot that is kept says so, or a later one of that query."""
    for snapshot in _ancestors(loaded, loaded.currentSnapshot() if branch is None else loaded.snapshot(branch)):
        summary = snapshot.summary()
        if summary.get(QUERY) == query:
            return int(summary.get(BATCH)) >= batch
    return False


def at(spark: SparkSession, table: Table, loaded: Any) -> Any:
    """What a batch reads: the number of a snapshot, or the name of a branch; None for the table as it is. Raises ValidationError."""
    options = table.options
    jvm: Any = spark._jvm
    if "snapshot-id" in options:
        return jvm.java.lang.Long(_known(loaded, table, "snapshot-id").snapshotId())
    if "as-of-timestamp" in options:
        time = int(options["as-of-timestamp"])
        before = [s for s in _ancestors(loaded, loaded.currentSnapshot()) if s.timestampMillis() <= time]
        if not before:
            raise option_rows.wrong_option("as-of-timestamp", f"Cannot find a snapshot of '{table.path.name}' older than {time}.")
        return jvm.java.lang.Long(before[0].snapshotId())
    if "tag" in options:
        return jvm.java.lang.Long(_reference(loaded, table, "tag").snapshotId())
    if "branch" in options:
        _reference(loaded, table, "branch")
        return options["branch"]
    return None


def start(table: Table, loaded: Any) -> int | None:
    """The time, in milliseconds since 1970, of the first snapshot whose rows a stream has; None for the earliest. Raises ValidationError."""
    now = loaded.currentSnapshot()
    match option_rows.value(table.options, OPTIONS, STRATEGY):
        case "incremental_from_latest_snapshot":
            return None if now is None else int(now.timestampMillis())
        case "incremental_from_latest_snapshot_exclusive":
            return None if now is None else int(now.timestampMillis()) + 1
        case "incremental_from_snapshot_id":
            return int(_known(loaded, table, "start-snapshot-id").timestampMillis())
        case "incremental_from_snapshot_timestamp":
            return int(table.options["start-snapshot-timestamp"])
        case "table_scan_then_incremental":
            _only_grew(loaded, table)
    return None


def _only_grew(loaded: Any, table: Table) -> None:
    """Raises ValidationError where the rows of the table are not those that its snapshots have added."""
    snapshots = list(_ancestors(loaded, loaded.currentSnapshot()))
    changed = [s for s in snapshots if s.operation() not in ("append", "replace")]
    if changed or (snapshots and snapshots[-1].parentId() is not None):
        why = f"snapshot {changed[0].snapshotId()} has changed or removed rows" if changed else "its first snapshots have expired"
        raise option_rows.wrong_option(
            STRATEGY, f"The rows that '{table.path.name}' has can't be streamed before its new ones: {why}.", None,
            "Read the table without 'streaming', or take 'starting-strategy' = 'incremental_from_latest_snapshot_exclusive' for the new rows alone.",
        )  # fmt: skip


def _ancestors(loaded: Any, snapshot: Any) -> Iterator[Any]:
    """``snapshot``, and those before it that are kept, the newest first; none where there is none."""
    while snapshot is not None:
        yield snapshot
        parent = snapshot.parentId()
        snapshot = None if parent is None else loaded.snapshot(parent)


def _known(loaded: Any, table: Table, option: str) -> Any:
    number = int(table.options[option])
    if (found := loaded.snapshot(number)) is None:
        raise option_rows.wrong_option(option, f"Cannot find snapshot with ID {number}", None, f"'{table.path.name}' has none of this number.")
    return found


def _reference(loaded: Any, table: Table, kind: str) -> Any:
    found = loaded.refs().get(table.options[kind])
    if found is None or not (found.isTag() if kind == "tag" else found.isBranch()):
        raise ValidationError(f"'{table.path.name}' has no {kind} '{table.options[kind]}'.", hint="Names of branches and tags are case-sensitive.")
    return found
