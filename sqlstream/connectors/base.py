"""What a connector is. ``read``, ``write_stream`` and ``write_batch`` are the only places that touch Spark; they import it themselves.

A connector is a value: its options and metadata are declared as data, and its functions get one frozen argument.
"""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from sqlstream.connectors.paths import file_names, is_uri, one_spelling
from sqlstream.core import options as option_rows
from sqlstream.core import storage
from sqlstream.core.changelog import KIND, ChangelogMode, RowKind
from sqlstream.core.errors import ValidationError
from sqlstream.core.hidden import hidden
from sqlstream.core.options import Option, OptionKind, Role, find_option
from sqlstream.core.secrets import masked_option

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from sqlstream.core.storage import Place
    from sqlstream.formats.base import Unread
    from sqlstream.sql.tables import PhysicalColumn, Table
    from sqlstream.sql.types import Type


@dataclass(frozen=True)
class Metadata:
    """A metadata key that a connector offers: its type, and whether a sink can write it."""

    key: str
    type: Type
    writable: bool = False


class Dataset(NamedTuple):
    """What OpenLineage calls a table, a topic or a folder: its naming conventions say which namespace and name each kind of store has."""

    namespace: str
    name: str


@dataclass(frozen=True)
class Read:
    """A request to read ``table``, whose options are resolved (environment, hint options, no ``${env:}`` left).

    ``streaming``: return a streaming DataFrame. ``splits``: say of each row which split (a part of the source with an event-time
    order of its own, a Kafka partition) it comes; see SourceFrame. ``name``: unique in the job, letters, digits and ``_``:
    the name of the streaming source in the checkpoint. ``zone``: ``table.local-time-zone``.
    ``project``: relative paths start there. ``shared``: a folder of the job's for what its queries must have the same; see ``once``.
    ``unread`` keeps a record that can't be read, instead of a failure: see Unread. ``pause``: a file; while it is there,
    a source in real time gives no rows, and ends its micro-batch. ``readers``: how many sources of the job
    read the same place.
    """

    spark: SparkSession
    table: Table
    streaming: bool
    splits: bool
    name: str
    zone: str
    project: Path
    shared: Place | None = None
    pause: Place | None = None
    readers: int = 1
    unread: Unread | None = None


SPLIT = hidden("split")
DEAD_LETTER = "scan.dead-letter"
# Of a connector that gives ``Read.unread`` to the formats of its records.
DEAD_LETTERS = Option(
    DEAD_LETTER, OptionKind.STRING, summary="A table that gets the records that can't be read, which else fail the job.", role=Role.TUNING
)


@dataclass(frozen=True)
class SourceFrame:
    """What ``read`` gives. ``frame`` has column KIND where the connector's ``source_mode`` carries kinds.

    ``splits``: the names of the source's splits; with more than one, column SPLIT (INT, from 0) of ``frame`` has a row's, where the
    request asked for it. ``topics`` (Java's KafkaTopics) has them where others can be found while the query runs.
    """

    frame: DataFrame
    splits: tuple[str, ...] = ("",)
    topics: Any = None


@dataclass(frozen=True)
class Write:
    """A request to write ``frame`` into ``table``.

    ``frame``'s columns are the table's persisted columns, same names and order, in carrier types (``Type.spark``), and KIND where ``mode``
    carries kinds. ``mode`` says what changes it carries; ``keys`` are the columns of its upsert key, if it has one.
    ``emit`` prints a line on the session's standard output. ``name`` identifies the sink in the job. ``order`` is a column by which a person
    expects the rows of a micro-batch to be shown. ``version`` (app id, version) makes a batch write that is tried again idempotent where the
    sink can; a micro-batch has its query's id and its number. ``watermark`` says how far the watermark of a stream is when its micro-batch has
    been computed, in milliseconds since 1970, None before the first. ``met`` hears of what writing a micro-batch has raised.
    ``pause``: each row is written at once, see ``Connector.writes_in_real_time``, and micro-batches end while this file is there.
    ``replaces``: what a row is comes right behind what it was, under the same primary key. ``marked``: rows that are written at once say which
    query has written them, and in which micro-batch, so that ``Connector.take_back`` finds them.
    """

    spark: SparkSession
    table: Table
    frame: DataFrame
    mode: ChangelogMode
    keys: tuple[str, ...]
    name: str
    zone: str
    project: Path
    emit: Callable[[str], None]
    _: KW_ONLY
    partition: Mapping[str, str] = field(default_factory=dict)
    overwrite: bool = False
    order: str | None = None
    version: tuple[str, int] | None = None
    watermark: Callable[[], int | None] = lambda: None
    met: Callable[[Exception], None] = lambda error: None
    pause: Place | None = None
    replaces: bool = False
    marked: bool = False

    @property
    def real_time(self) -> bool:
        """Whether each row is written at once."""
        return self.pause is not None

    def row_by_row(self, rows: DataFrame, targets: str) -> DataStreamWriter:
        """The stream of ``rows``, each of which one of our Java targets takes as it comes; ``targets``: the id that their opener was given."""
        assert self.pause is not None
        return rows.writeStream.format("sqlstream.realtime.RowSink").option("id", targets).option("pause", storage.uri(self.pause))

    def in_batches(self, write: Callable[[DataFrame, int], None], frame: DataFrame | None = None) -> DataStreamWriter:
        """The stream of ``frame``, the request's own where there is none, each micro-batch of which, with its number, ``write`` writes."""

        def heard(batch: DataFrame, number: int) -> None:
            try:
                write(batch, number)
            except Exception as error:
                # Spark keeps the text of it alone.
                self.met(error)
                raise

        return (self.frame if frame is None else frame).writeStream.foreachBatch(heard)


@dataclass(frozen=True)
class Lookup:
    """How a database's table is queried for the rows of keys.

    ``cached``: what was found is kept, of at most ``max_keys`` keys, for so long after it was found or used (None: without limit);
    ``misses``: also keys without a row. ``retries``: how often a failed request is retried.
    """

    cached: bool = False
    max_keys: int | None = None
    after_write_ms: int | None = None
    after_access_ms: int | None = None
    misses: bool = True
    retries: int = 0


class Connector(ABC):
    """Base of connectors. ``options`` exclude ``connector`` itself and the format's own options."""

    name: ClassVar[str]
    summary: ClassVar[str]
    # A CREATE TABLE.
    example: ClassVar[str]
    options: ClassVar[tuple[Option, ...]] = ()
    metadata: ClassVar[tuple[Metadata, ...]] = ()
    is_source: ClassVar[bool] = False
    is_sink: ClassVar[bool] = False
    # The option that says where the table's files are.
    path_option: ClassVar[str | None] = None
    # Whether the sink is for looking at changes, where the driver is, so that each must say what a row was.
    shows_changes: ClassVar[bool] = False
    # Whether it takes every change as it comes, and has no rows that a key could replace.
    takes_any_change: ClassVar[bool] = False
    can_be_looked_up: ClassVar[bool] = False
    # Whether a lookup join asks it for the rows of keys, by ``answered``; and whether that is all that it reads.
    answers: ClassVar[bool] = False
    only_answers: ClassVar[bool] = False
    # Whether each table of it is a place of its own: its rows are made, and read nowhere. All options that say which are PLACE then.
    generates: ClassVar[bool] = False
    # What gives a table that never ends a bound, behind "Give the table a bound: "; empty where nothing does.
    bounded_by: ClassVar[str] = ""
    # The library that it is made of, where not each release of Spark has it.
    library: ClassVar[str] = ""
    # Whether a stream of it can give each record at once, without micro-batches.
    reads_in_real_time: ClassVar[bool] = False
    # Whether what was written in real time, and is in no checkpoint, can be taken back.
    takes_back: ClassVar[bool] = False
    # Whether a micro-batch of a stream may leave some of the available rows to the next one.
    reads_in_parts: ClassVar[bool] = False

    @abstractmethod
    def check(self, table: Table) -> list[str]:
        """Check the table's options (formats included) and columns when the table is used; returns notices. It runs without a JVM.

        Raises ValidationError: ``options.wrong_option`` shows it at an option, another message at the option or the column that it names
        in quotes.
        """

    def option(self, table: Table, key: str) -> Any:
        """The typed value of an option of ``table``, or its default."""
        return option_rows.value(table.options, self.options, key)

    def idle_timeout(self, table: Table) -> int | None:
        """After how many milliseconds without rows a split of ``table`` is idle, where it says so itself."""
        return None

    def check_source(self, table: Table) -> None:
        """Check what is asked of ``table`` where it is read, and not where it is only written. Raises ValidationError."""

    def columns(self, table: Table) -> tuple[PhysicalColumn, ...]:
        """The columns of ``table``, which is declared without any; none where they can't be found. Raises ValidationError."""
        return ()

    def placed(self, table: Table, warehouse: str) -> Table:
        """``table`` with its path below ``warehouse``, a folder or a URI, where that is relative."""
        if self.path_option is None or not self.is_relative(table):
            return table
        return replace(table, options={**table.options, self.path_option: f"{warehouse.rstrip('/')}/{table.options[self.path_option]}"})

    def is_relative(self, table: Table) -> bool:
        """Whether the path of ``table`` is relative: below the warehouse, or the project's folder."""
        path = None if self.path_option is None else table.options.get(self.path_option)
        return path is not None and not path.startswith("/") and not is_uri(path)

    def places(self, table: Table, *, written: bool = False) -> tuple[str, ...]:
        """Where rows of ``table`` are read, or ``written``: texts that are equal for the same place, whatever else is declared of the table.

        Offsets belong to places. There are none where nothing is kept, as on a screen.
        """
        if not any(option.role is Role.PLACE for option in self.options):
            return ()
        said = {k: masked_option(k, v) for k, v in table.options.items() if (o := find_option(self.options, k)) is not None and o.role is Role.PLACE}
        if self.path_option in said:
            said[self.path_option] = one_spelling(said[self.path_option])
        return (" ".join([*([f"{table.path}:"] if self.generates else []), self.name, *(f"'{k}' = '{v}'" for k, v in sorted(said.items()))]),)

    def datasets(self, table: Table, project: Path) -> tuple[Dataset, ...]:
        """What ``table`` reads or writes, as OpenLineage names it. Neither part may hold a secret.

        Options of ``table`` are resolved as in a Read. A table that is nowhere else is named by its path, in a namespace of the connector.
        """
        if self.path_option is not None and self.path_option in table.options:
            return (Dataset(*file_names(table.options[self.path_option], project)),)
        return (Dataset(self.name, str(table.path)),)

    def reads(self, place: str, places: Collection[str]) -> bool:
        """Whether what a table of ``places`` reads has all that was read at ``place``."""
        return place in places

    def offsets(self, table: Table, before: str) -> str:
        """Of ``before``, Spark's text of a source's offsets, those of what ``table`` reads, which reads less."""
        return before

    def as_of(self, table: Table, moment: datetime) -> Table | None:
        """``table`` as it was at ``moment``, which has a time zone; None where it keeps no versions."""
        return None

    def metadata_keys(self, table: Table) -> tuple[Metadata, ...]:
        """The metadata keys of ``table``, those of its format included (``value.source.timestamp``)."""
        return self.metadata

    def source_mode(self, table: Table) -> ChangelogMode:
        """The kinds of rows that a stream of ``table`` has."""
        return ChangelogMode.APPEND

    def sink_modes(self, table: Table) -> tuple[ChangelogMode, ...]:
        """The kinds of changes that ``table`` takes when it is written to."""
        return (ChangelogMode.APPEND,)

    def writes_in_real_time(self, table: Table, mode: ChangelogMode, *, in_order: bool) -> bool:
        """Whether ``write_stream`` writes each row of changes of such a mode at once, by a sink of Spark's.

        ``in_order``: the changes of each row by the table's primary key come one after the other, from one task.
        """
        return False

    def needs_micro_batches(self, table: Table) -> tuple[str, str] | None:
        """The option of ``table``, and its value, for which it is written by micro-batches whatever the changes are; None where none says so."""
        return None

    def bounded(self, table: Table) -> bool:
        """Whether reading ``table`` in a streaming job ends by itself: a job of such tables alone reads what is there, and finishes.

        In batch mode only these are read; others are refused before ``read`` is asked.
        """
        return False

    def static(self, table: Table) -> bool:
        """Whether ``table`` is read as a static DataFrame even in a streaming job (it is bounded, and small or local)."""
        return False

    def awaits_watermark(self, table: Table) -> bool:
        """Whether the sink ``table`` does something as the watermark passes a time."""
        return False

    def lookup(self, table: Table) -> Lookup | None:
        """How ``table``, which can be looked up, is asked for keys; None where it is read as it is when a micro-batch begins."""
        return None

    def found(self, table: Table, rows: DataFrame, names: Mapping[str, str]) -> DataFrame:
        """``rows``, each with the row of ``table`` that is looked up for it, of a table that ``generates`` what is asked for: its columns that have
        ``names``, under these.
        """
        raise NotImplementedError

    def answered(self, table: Table, rows: DataFrame, keys: Mapping[str, str], into: str, *, attempts: int, delay_ms: int) -> DataFrame:
        """``rows`` with a column ``into``: an ARRAY of the rows of ``table`` that have a row's key.

        ``keys``: columns of ``table``, each with the column of ``rows`` that has its value. A key without a row is asked for again so many times,
        after so long each.
        """
        raise NotImplementedError

    def read(self, request: Read) -> SourceFrame:
        """The table's physical and metadata columns, in any order, under their declared names, in carrier types (``Type.spark``).

        A streaming source is named: ``spark.readStream.name(request.name)``. Rows of one task of Spark's come in order.
        """
        raise ValidationError(f"Connector '{self.name}' can only be used as a sink. It cannot be used as a source.")

    def positions(self, request: Read, wanted: Mapping[str, str], zone: str) -> Mapping[str, Mapping[int, int | None]]:
        """From where a source of the table goes on: of each of its topics that is ``wanted`` the offset of each partition, None for its own.

        ``wanted`` says where by topic, in ``zone`` where a time names none. Raises ValidationError for what is not there, SetupError.
        """
        return {}

    def write_stream(self, request: Write) -> DataStreamWriter:
        """A writer ready to start: format, options and partitioning set; the job adds name, trigger, checkpoint, output mode."""
        raise NotImplementedError(f"'{self.name}' is no sink: a plan with one is refused")

    def is_there(self, request: Write) -> bool:
        """Whether what is written into is there, as far as that is known: a table that is not is made when a query starts."""
        return True

    def identity(self, request: Write) -> str | None:
        """What is another for a table that is made anew in the place of one that was deleted, as far as this process knows; None where nothing is."""
        return None

    def landed(self, request: Write, query: str, batch: int) -> bool | None:
        """Whether micro-batch ``batch`` of the streaming query with id ``query``, which has ended, is in the sink; None where that can't be known.

        What has landed in part is completed. False as well where rows that are written again take the place of what they were.
        """
        return None

    def take_back(self, request: Write, committed: Mapping[str, int], since: float) -> int:
        """Give the rows the values back that they had before streaming queries, which have ended, wrote them in micro-batches after the last one that
        is ``committed``, by the query's id: they read the same again, maybe in another order, in which a row that was written never is.

        All of it was written after ``since``, in seconds since 1970. How many rows it was is returned; none where ``takes_back`` is false.
        """
        return 0

    def add_columns(self, request: Write, names: Sequence[str]) -> None:
        """The sink, if it exists, is declared with these columns besides since it was last written: give them to it where it has a schema of its own.

        Rows that it has get NULL there. Given again, what is there already stays. Raises ValidationError, having changed nothing, where it can't.
        """

    def forget(self, request: Write, writer: str) -> None:
        """Delete what the sink keeps of the writer with this id, a query's or that of a Write's ``version``, which never writes again."""

    def write_batch(self, request: Write) -> None:
        """Write a static frame."""
        raise NotImplementedError(f"'{self.name}' is no sink: a plan with one is refused")


# Of a Kafka table's properties, those by which its offsets are found.
_SAY_WHERE = ("properties.group.id", "properties.auto.offset.reset")


def once(request: Read, what: str, look: Callable[[], str], *, of_name: bool = False) -> str:
    """The value of ``look()`` in the first query of a job that reads the table. All queries that read it get the same, also after a restart.

    ``of_name``: also with other options.
    """
    if request.shared is None:
        return look()
    kept = _shared_file(request, request.shared, what, of_name=of_name)
    if not kept.exists():
        storage.write(kept, look())
    return kept.read_text()


def changed(request: Read, what: str, change: Callable[[str], str]) -> None:
    """Change what ``once`` has kept of the table's name, if it has."""
    if request.shared is not None and (kept := _shared_file(request, request.shared, what, of_name=True)).exists():
        storage.write(kept, change(kept.read_text()))


def _shared_file(request: Read, shared: Place, what: str, *, of_name: bool) -> Place:
    """The file in which ``once`` keeps something."""
    path, options = str(request.table.path), request.table.options
    # Where the cluster is, and how one gets in, may change while a job is stopped.
    lasting = {k: v for k, v in options.items() if not of_name and (k in _SAY_WHERE or not k.startswith("properties."))}
    return shared / shared_name(request.table, what, json.dumps([path, lasting], sort_keys=True))


def shared_name(table: Table, what: str, said: str) -> str:
    """The name, below ``Read.shared``, of something that is kept for ``table``: another one where ``said`` is another text."""
    digest = hashlib.sha256(said.encode()).hexdigest()[:12]
    name = re.sub(r"\W", "_", table.path.name, flags=re.ASCII)
    return f"{name}-{digest}.{what}"


def with_kinds(frame: DataFrame) -> DataFrame:
    """The rows with column KIND, also where all are new."""
    from pyspark.sql import functions as F

    return frame if KIND in frame.columns else frame.withColumn(KIND, F.expr(RowKind.INSERT.spark))


def plain_options(table: Table) -> dict[str, str]:
    """The options of ``table`` without ``connector``."""
    return {k: v for k, v in table.options.items() if k != "connector"}
