"""How and where a plan is lowered to a DataFrame."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlstream.connectors import find_connector
from sqlstream.core.java import activate, classes
from sqlstream.plan.nodes import scans
from sqlstream.runtime.lower.watermarks import SourceWatermark, new_inputs, reached

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from sqlstream.core.storage import Place
    from sqlstream.plan.nodes import Node
    from sqlstream.runtime.lower.query_watch import QueryWatch
    from sqlstream.sql.tables import Table

# A day before the last TIMESTAMP that Spark can print.
END_OF_INPUT_MS = 253402214400000
# Flink's last watermark.
LAST_MS = 2**63 - 1


def readers_of(plans: Iterable[Node]) -> Callable[[Table], int]:
    """How many streams of ``plans``, those of a job, read the place of a table."""
    tables = [scan.table for plan in plans for scan in scans(plan) if not scan.static]
    places = Counter(place for table in tables for place in find_connector(table.connector).places(table))
    return lambda table: max((places[place] for place in find_connector(table.connector).places(table)), default=1)


@dataclass
class Lowering:
    """How and where a plan runs.

    ``streaming``: as a streaming query. ``batch``: in batch mode, where rows are not a stream's (a streaming query over static input runs
    once, but answers as a stream). ``bounded``: all of the input is one micro-batch, and ends with it. ``state``: a folder of the query's
    own, for what its sources must keep (static inputs that join a stream); ``shared``: one of the job's, for what all of its queries have the
    same. ``real_time``: each row goes through at once. ``control``: the folder of the job's control files; ``pause``: as of Read.
    ``idle_ms``: a partition without records for this long no
    longer holds the watermark back, where its table does not say; 0: never. ``future_ms``: rows whose rowtime is so far ahead of the clock, and
    more, are left out; 0 for none. ``leaves_out``: so are other rows that would fail the query. What is left out goes to the table
    ``dead_letters`` by way of the folder ``letters``, to files of the project where one of these is missing.
    ``watch`` learns of the plan's watermarks; ``watermarks`` are the tables that they belong to. ``node_id`` gives the stable id of a node whose
    state is to be found again. ``readers``: how many sources of the job read the place of a table.
    """

    spark: SparkSession
    streaming: bool
    batch: bool
    bounded: bool
    zone: str
    project: Path
    state: Place
    control: Place
    pause: Place | None = None
    shared: Place | None = None
    idle_ms: int = 0
    future_ms: int = 0
    letters: Place | None = None
    dead_letters: Table | None = None
    leaves_out: bool = False
    watch: QueryWatch | None = None
    watermarks: list[str] = field(default_factory=list)
    node_id: Callable[[Node], str | None] = lambda node: None
    real_time: bool = False
    readers: Callable[[Table], int] = lambda table: 1
    # How many tasks read the streams of the plan.
    source_tasks: int = 0
    # The bytes of the static tables of which each task of a stream has a copy, in real time.
    copied_bytes: int = 0
    _names: Counter[str] = field(default_factory=Counter)
    _inputs: Any = None

    def __post_init__(self) -> None:
        activate(self.spark)

    def source_watermark(self, splits: int | Any, end: int | None, idle_ms: int = 0) -> SourceWatermark:
        """The watermark of a source with these splits; ``end`` and ``idle_ms`` as there."""
        self._inputs = self._inputs or new_inputs(self.spark)
        # A clock is not an input.
        return SourceWatermark(self.spark, splits, end=end, idle_ms=idle_ms, inputs=None if splits == 0 else self._inputs)

    def observe(self, watermark: SourceWatermark, table: str) -> None:
        """Whoever watches the query learns of ``watermark``, that of ``table``."""
        self.watermarks.append(table)
        if self.watch is not None:
            self.watch.add(watermark)

    def reached(self) -> int | None:
        """The watermark of the query in milliseconds since 1970, as its latest rows have it; None before the first. At the end of all input it is
        past every time.
        """
        if self.bounded:
            return LAST_MS
        return None if self._inputs is None else reached(self._inputs)

    def mark(self, node: Node, frame: DataFrame) -> None:
        """Spark's operators of ``frame``, but for those of inputs that are marked already, are known as those of ``node``."""
        name = self.node_id(node) if self.streaming else None
        if name is not None:
            classes(self.spark).checkpoints.QueryRecord.mark(frame._jdf, name)

    def source_name(self, name: str) -> str:
        """A name for a streaming source: the same again when the same plan is lowered again."""
        safe = re.sub(r"\W", "_", name, flags=re.ASCII)
        self._names[safe] += 1
        return safe if self._names[safe] == 1 else f"{safe}_{self._names[safe]}"
