"""What a format is: options as data, and two functions between bytes and columns, written as Spark SQL text.

In: physical columns as (name, type) and the format's options without their prefix. Out: a DataFrame with the columns decoded,
or the expression that encodes them. A format never reads or writes anything by itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from sqlstream.core import options as option_rows
from sqlstream.core import user_jars
from sqlstream.core.changelog import ChangelogMode
from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.sql.quoting import quote, spark_string
from sqlstream.sql.types import Type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import Column, DataFrame

    from sqlstream.core.options import Option

Fields = tuple[tuple[str, Type], ...]
# Of a record as text, its place and its error: a condition that is FALSE, and keeps the record.
Unread: TypeAlias = "Callable[[Column, Column, Column], Column]"


@dataclass(frozen=True)
class ProjectFiles:
    """The files of a project that may say what records mean: those in its folder, and the jars that its options name."""

    project: Path = Path()
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def jars(self) -> list[Path]:
        """Raises ValidationError for what is not there."""
        return user_jars.named(self.options, self.project)


@dataclass(frozen=True)
class Encoded:
    """Records to decode: ``value`` is the name of their column in ``frame`` (BINARY or STRING), ``origin`` the SQL text of a
    string that says where a record stands (topic, partition and offset, or a file). ``lines``: they are lines of a text, so
    that one with a line break in it has fallen apart. ``properties``: keys of the format's that are columns too, under these names. ``nulls``:
    a record that is NULL is a row of NULLs; else it is none. ``unread``: what keeps one that can't be decoded, which else fails the query."""

    frame: DataFrame
    value: str
    origin: str
    lines: bool = False
    properties: tuple[str, ...] = ()
    nulls: bool = False
    unread: Unread | None = None

    def kept(self, text: str, error: str | Column, otherwise: Column) -> Column:
        """``otherwise``, where a record can't be decoded that is kept: ``text`` (SQL) is the record, ``error`` what is wrong with it."""
        from pyspark.sql import functions as F

        assert self.unread is not None
        problem = F.expr(error) if isinstance(error, str) else error
        # None of them may be NULL: nothing would be kept.
        told = (F.coalesce(part, F.lit("")) for part in (F.expr(text), F.expr(self.origin), problem))
        return F.when(self.unread(*told), None).otherwise(otherwise)


@dataclass(frozen=True)
class Property:
    """A metadata key of a format: ``sql`` over ``field`` of the record, which stands for ``{}`` in it.

    ``outer``: the field is not the record's own, but one of what it is wrapped in.
    """

    key: str
    type: Type
    field: str
    field_type: Type
    sql: str
    outer: bool = False


class Format(ABC):
    """Base of formats. ``options`` are without prefix. ``records``: whether it has records, as of Kafka; ``in_lines``: whether these can be the lines
    of a file; ``files``: whether it has files of its own, which a file source of Spark's reads and writes. ``of_records``, ``of_files``: options that
    only the one or the other have. ``ignores_fields``: whether ``ignore-parse-errors`` gives NULL for a field that does not fit, and leaves out only
    records that are broken.

    ``mode``: the kinds of rows that records stand for.
    """

    name: ClassVar[str]
    options: ClassVar[tuple[Option, ...]] = ()
    properties: ClassVar[tuple[Property, ...]] = ()
    records: ClassVar[bool] = True
    files: ClassVar[bool] = False
    in_lines: ClassVar[bool] = True
    of_records: ClassVar[tuple[str, ...]] = ()
    of_files: ClassVar[tuple[str, ...]] = ()
    ignores_fields: ClassVar[bool] = True
    mode: ClassVar[ChangelogMode] = ChangelogMode.APPEND

    def check(self, fields: Fields, options: Mapping[str, str], *, at: Any = None) -> None:
        """Check types and what options mean together; their names and values are checked already. Raises ValidationError."""

    def notices(self, fields: Fields, options: Mapping[str, str]) -> list[str]:
        """Notices about these columns, where values differ from Flink's."""
        precise = (n for n, t in fields if any(p.is_timestamp and p.args[0] > 6 for p in t.parts))
        return [f"Column '{n}': times are kept to the microsecond; further digits are cut off." for n in precise]

    def with_files(self, options: dict[str, str], files: ProjectFiles) -> dict[str, str]:
        """``options`` with what files of the project say of the records, when a table is used. Raises ValidationError, SetupError."""
        return options

    def in_topic(self, options: dict[str, str], topic: str, part: str) -> dict[str, str]:
        """``options`` with what a topic says of its records; ``part``: key or value."""
        return options

    def option(self, options: Mapping[str, str], key: str) -> Any:
        """The typed value of an option, or its default."""
        return option_rows.value(options, self.options, key)

    @abstractmethod
    def decode(self, record: Encoded, fields: Fields, options: Mapping[str, str]) -> DataFrame:
        """``record.frame`` with the columns of ``fields`` added, in carrier types, those of the record's properties, and KIND where ``mode``
        carries kinds. A record that can't be decoded fails the job with its place and text, or is skipped, as the options say, or kept."""

    @abstractmethod
    def encode(self, fields: Fields, options: Mapping[str, str], *, lines: bool = False) -> Column:
        """The record (STRING or BINARY), over columns named as the fields, and KIND where ``mode`` carries kinds.

        ``lines``: it is a line of a file."""

    def file_source(self, fields: Fields, options: Mapping[str, str]) -> tuple[str, dict[str, str]]:
        """The name of the file source that reads and writes files of these columns, and its options."""
        raise NotImplementedError(f"{self.name} has no files of its own")

    def file_type(self, type_: Type) -> str:
        """The Spark type as which a column of files of its own is read."""
        return type_.stored

    def from_file(self, x: str, type_: Type) -> str:
        """SQL for the value of ``x``, which is of ``file_type``."""
        return f"CAST({x} AS {type_.spark})"

    def to_file(self, x: str, type_: Type, options: Mapping[str, str]) -> str:
        """SQL for the value ``x`` as files of its own store it."""
        return f"CAST({x} AS {type_.stored})"


# The marks around a record in an error's message, and how much of the record it contains.
RECORD_BEGINS, RECORD_ENDS = "<<record ", " record>>"
RECORD_CHARACTERS = 10_000


def marked_record(text: str) -> str:
    """SQL for a record, or a part of one, in the message of an error: marked, so that the message can truncate it and mask its secrets."""
    return f"concat('{RECORD_BEGINS}', left({text}, {RECORD_CHARACTERS}), '{RECORD_ENDS}')"


def sql_map(entries: Mapping[str, str]) -> str:
    """``entries`` as a Spark SQL map of strings."""
    return f"map({', '.join(spark_string(x) for pair in entries.items() for x in pair)})"


def columns_sql(fields: Fields) -> str:
    """``fields`` as Spark's schema text, in carrier types."""
    return ", ".join(f"{quote(name)} {type_.spark}" for name, type_ in fields)


def truncated(timestamp: str, precision: int) -> str:
    """SQL for ``timestamp`` cut to ``precision`` digits of a second."""
    if precision >= 6:
        return timestamp
    units = {0: "SECOND", 3: "MILLISECOND"}
    if precision in units:
        return f"date_trunc('{units[precision]}', {timestamp})"
    micros = f"unix_micros({timestamp})"
    return f"timestamp_micros({micros} - pmod({micros}, {10 ** (6 - precision)}L))"


def refuse_types(owner: str, fields: Fields, refused: Callable[[Type], bool], *, at: Any = None) -> None:
    """Raise NotSupported for the first type, nested ones included, that ``refused`` picks."""
    for name, type_ in fields:
        for t in filter(refused, type_.parts):
            raise NotSupported(
                f"The {owner} format can't carry type {t} of column '{name}'.", at=at, hint="Declare it as STRING, or take another format."
            )


def exclusive(owner: str, options: Mapping[str, str], first: str, second: str, *, at: Any = None) -> None:
    """Raise where two switches are both on."""
    if all(options.get(k, "false").strip().lower() == "true" for k in (first, second)):
        raise ValidationError(f"{owner}: {first} and {second} shouldn't both be true.", at=at)
