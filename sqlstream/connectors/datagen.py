"""The datagen connector: rows made up by Spark expressions over a row number.

In: a field's options. Out: one SQL expression a column. A random cell is a hash of row number, column and a seed that is the job's, so
that two scans of a table in one job, and a batch that is run again, see the same rows.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from sqlstream.connectors.base import Connector, Read, SourceFrame, once, plain_options
from sqlstream.core import options as option_rows
from sqlstream.core.errors import NotSupported, ValidationError, did_you_mean
from sqlstream.core.options import Option, OptionKind, Support
from sqlstream.sql.generated_names import bound
from sqlstream.sql.quoting import spark_string
from sqlstream.sql.types import INT, STRING, Type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlstream.sql.tables import Table

ROW = "__sqlstream_row"
NOW = "__sqlstream_now"
_RANGES = {
    "TINYINT": (-(2**7), 2**7 - 1),
    "SMALLINT": (-(2**15), 2**15 - 1),
    "INT": (-(2**31), 2**31 - 1),
    "BIGINT": (-(2**63), 2**63 - 1),
}
_LARGEST = {"FLOAT": "3.4028235E38", "DOUBLE": "1.7976931348623157E308"}
_LENGTH = 100
_COLLECTION_LENGTH = 3
_IN_ORDER = 100_000  # So many rows come from one task, and therefore in order.


class Datagen(Connector):
    """Random or counted rows."""

    name = "datagen"
    summary = "Generates rows, random or in sequence."
    example = (
        "CREATE TABLE orders (id BIGINT, item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)\n"
        "WITH ('connector' = 'datagen', 'rows-per-second' = '10', 'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '1000',\n"
        "  'fields.item.length' = '3', 'fields.price.min' = '1', 'fields.price.max' = '99');"
    )
    is_source = True
    options = (
        Option("rows-per-second", OptionKind.LONG, "10000", "How many rows a second, if there is no last row."),
        Option("number-of-rows", OptionKind.LONG, summary="How many rows; by default there is no end."),
        Option("scan.parallelism", OptionKind.INT, use=Support.NOTICE, why="Spark chooses the number of tasks"),
        Option("fields.#.kind", OptionKind.ENUM, "random", "random or sequence.", values=("random", "sequence")),
        Option("fields.#.min", OptionKind.STRING, summary="Smallest random number."),
        Option("fields.#.max", OptionKind.STRING, summary="Largest random number."),
        Option("fields.#.max-past", OptionKind.DURATION, "0", "How far a random TIMESTAMP may lie in the past."),
        Option("fields.#.length", OptionKind.INT, summary="Length of a string, of bytes or of a collection."),
        Option("fields.#.var-len", OptionKind.BOOLEAN, "false", "Lengths are random, up to 'length'."),
        Option("fields.#.start", OptionKind.LONG, summary="First number of a sequence."),
        Option("fields.#.end", OptionKind.LONG, summary="Last number of a sequence; the rows end with it."),
        Option("fields.#.null-rate", OptionKind.DOUBLE, "0", "Share of cells that are NULL."),
    )

    def check(self, table: Table) -> list[str]:
        notices = option_rows.check_options(self.name, plain_options(table), self.options)
        _check_paths(table)
        _count(table)
        for column in table.physical:
            _cell(_Field.of(table, column.name, column.type))
        if _count(table) is not None and "rows-per-second" in table.options:
            notices.append("Option 'rows-per-second' of 'datagen' has no effect if there is a last row: all rows come at once.")
        if table.metadata:
            raise ValidationError("The 'datagen' connector has no metadata columns.")
        return notices

    def bounded(self, table: Table) -> bool:
        return _count(table) is not None

    def static(self, table: Table) -> bool:
        return self.bounded(table)

    def read(self, request: Read) -> SourceFrame:
        from pyspark.sql import functions as F

        table, spark = request.table, request.spark
        count = _count(table)
        began, seed = map(int, once(request, "datagen", lambda: f"{int(time.time() * 1000)} {secrets.randbits(32)}").split())
        if count is not None:
            numbers = spark.range(0, count, 1, 1 if count <= _IN_ORDER else None).select(
                F.col("id").alias(ROW), F.timestamp_millis(F.lit(began)).alias(NOW)
            )
        elif not request.streaming:
            raise ValidationError("Querying an unbounded table in batch mode is not allowed. The table source is unbounded.",
                                  hint="Set 'number-of-rows'.")  # fmt: skip
        else:
            rate = option_rows.value(table.options, self.options, "rows-per-second")
            source = spark.readStream.name(request.name).format("rate").option("rowsPerSecond", str(rate))
            # Spark's own times are of the query, and there may be several of a job.
            time_of_row = F.expr(f"timestamp_millis({began}L + value * 1000 div {rate})")
            numbers = source.load().select(F.col("value").alias(ROW), time_of_row.alias(NOW))
        cells = [F.expr(_cell(_Field.of(table, c.name, c.type, seed))).alias(c.name) for c in table.physical]
        return SourceFrame(numbers.select(*cells))


@dataclass(frozen=True)
class _Field:
    """A column, a field of a row or an element, under the ``path`` of its options. ``salt`` makes its numbers its own."""

    path: str
    type: Type
    options: Mapping[str, str]
    salt: str

    @classmethod
    def of(cls, table: Table, name: str, type_: Type, seed: int = 0) -> _Field:
        return cls(f"fields.{name}", type_, table.options, f"{seed}L")

    def option(self, key: str) -> str | None:
        return self.options.get(f"{self.path}.{key}")

    def child(self, name: str, type_: Type, salt: str | None = None) -> _Field:
        return _Field(f"{self.path}.{name}", type_, self.options, salt or self.salt)

    def hash(self, use: str) -> str:
        """SQL for 64 random bits."""
        return f"xxhash64({ROW}, {spark_string(f'{self.path} {use}')}, {self.salt})"

    def share(self, use: str) -> str:
        """SQL for a random number from 0 to below 1."""
        return f"(shiftrightunsigned({self.hash(use)}, 11) * 1.1102230246251565E-16D)"

    def number(self, key: str, default: Decimal) -> Decimal:
        text = self.option(key)
        if text is None:
            return default
        try:
            return Decimal(text)
        except InvalidOperation:
            raise ValidationError(f"Invalid value for option '{self.path}.{key}': '{text}' is not a number.") from None


def _sequence(table: Table, name: str) -> tuple[int, int] | None:
    if table.options.get(f"fields.{name}.kind", "random").lower() != "sequence":
        return None
    bounds = []
    for key in ("start", "end"):
        option = f"fields.{name}.{key}"
        if option not in table.options:
            raise ValidationError(f"Could not find required property '{option}' for sequence generator.")
        bounds.append(int(table.options[option]))
    return bounds[0], bounds[1]


def _count(table: Table) -> int | None:
    """How many rows there are; None where they never end."""
    counts = [int(table.options["number-of-rows"])] if "number-of-rows" in table.options else []
    for column in table.physical:
        if (bounds := _sequence(table, column.name)) is not None:
            counts.append(max(0, bounds[1] - bounds[0] + 1))
    return min(counts) if counts else None


def _check_paths(table: Table) -> None:
    """Raise for an option of a field that is not there."""
    known: list[str] = []

    def walk(path: str, type_: Type) -> None:
        known.append(path)
        match type_.root:
            case "ROW":
                for name, child in zip(type_.names, type_.children, strict=True):
                    walk(f"{path}.{name}", child)
            case "ARRAY" | "MULTISET":
                walk(f"{path}.element", type_.children[0])
            case "MAP":
                walk(f"{path}.key", type_.children[0])
                walk(f"{path}.value", type_.children[1])

    for column in table.physical:
        walk(f"fields.{column.name}", column.type)
    for key in table.options:
        if key.startswith("fields.") and key.rpartition(".")[0] not in known:
            path = key.rpartition(".")[0]
            raise ValidationError(
                f"Unsupported options found for 'datagen'.\n\nUnsupported options:\n\n{key}\n\nThere is no field '{path[7:]}'.",
                hint=did_you_mean(path, known),
            )


def _cell(field: _Field) -> str:
    type_ = field.type
    if (field.option("kind") or "random").lower() == "sequence":
        return _counted(field)
    value = f"CAST({_random(field)} AS {type_.spark})"
    rate = field.option("null-rate")
    return f"if({field.share('null')} < {float(rate)}D, NULL, {value})" if rate and float(rate) > 0 else value


def _counted(field: _Field) -> str:
    type_ = field.type
    if not (type_.is_numeric or type_.is_string) or field.path.count(".") > 1:
        raise ValidationError(f"Unsupported type for sequence generator: {type_} of '{field.path[7:]}'.",
                              hint="A sequence is one of numbers or strings, and can't be part of another value.")  # fmt: skip
    start = int(field.option("start") or 0)
    return f"CAST({ROW} + {start}L AS {type_.spark})"


def _random(field: _Field) -> str:
    type_ = field.type
    match type_.root:
        case "BOOLEAN":
            return f"({field.hash('value')} >= 0)"
        case "TINYINT" | "SMALLINT" | "INT" | "BIGINT":
            smallest, largest = _RANGES[type_.root]
            first, last = int(field.number("min", Decimal(smallest))), int(field.number("max", Decimal(largest)))
            _ordered(field, first, last)
            span = last - first + 1
            return f"(pmod({field.hash('value')}, {span}L) + {first}L)" if span < 2**63 else field.hash("value")
        case "FLOAT" | "DOUBLE":
            low, high = field.number("min", Decimal(0)), field.number("max", Decimal(_LARGEST[type_.root]))
            _ordered(field, low, high)
            return f"({field.share('value')} * ({high}D - {low}D) + {low}D)".replace("E+", "E")
        case "DECIMAL":
            precision, scale = type_.args
            low, high = field.number("min", Decimal(0)), field.number("max", (Decimal(10) ** precision - 1).scaleb(-scale))
            _ordered(field, low, high)
            # Doubles may round up to a number with too many digits.
            number = f"CAST({field.share('value')} * {high - low:f}D + {low:f}D AS {type_.spark})"
            return f"coalesce(least({number}, CAST('{high:f}' AS {type_.spark})), CAST('{high:f}' AS {type_.spark}))"
        case "CHAR" | "VARCHAR" | "BINARY" | "VARBINARY":
            length = f"{_length(field)}"
            text = _hex(field, _length(field), 1 if type_.is_string else 2)
            if (field.option("var-len") or "false").lower() == "true":
                if type_.root in ("CHAR", "BINARY"):
                    raise ValidationError(f"Only supports specifying '{field.path}.var-len' option for VARCHAR/STRING/"
                                          "VARBINARY/BYTES types.")  # fmt: skip
                length = f"CAST(1 + pmod({field.hash('length')}, {max(1, _length(field))}L) AS INT)"
                text = f"left({text}, {length if type_.is_string else f'2 * {length}'})"
            return text if type_.is_string else f"unhex({text})"
        case "DATE":
            return NOW
        case "TIME":
            return f"substr(CAST({NOW} AS STRING), 12, 8)"
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            past = option_rows.parse_duration(field.option("max-past") or "0")
            shifted = f"timestamp_millis(unix_millis({NOW}) - pmod({field.hash('value')}, {past}L))" if past else NOW
            return f"date_trunc('{'SECOND' if type_.args[0] == 0 else 'MILLISECOND'}', {shifted})"
        case "ARRAY":
            return _elements(field, field.child("element", type_.children[0]))
        case "MULTISET":
            counts = _Field(f"{field.path}.count", INT, {f"{field.path}.count.min": "0", f"{field.path}.count.max": "10"}, field.salt)
            return _map(field, field.child("element", type_.children[0]), counts)
        case "MAP":
            return _map(field, field.child("key", type_.children[0]), field.child("value", type_.children[1]))
        case "ROW":
            parts = (f"{spark_string(n)}, {_cell(field.child(n, c))}" for n, c in zip(type_.names, type_.children, strict=True))
            return f"named_struct({', '.join(parts)})"
    raise NotSupported(f"The 'datagen' connector can't generate values of type {type_}, of column '{field.path[7:]}'.")


def _ordered(field: _Field, low: Decimal | int, high: Decimal | int) -> None:
    if low > high:
        raise ValidationError(f"'{field.path}.min' must not be greater than '{field.path}.max'.")


def _length(field: _Field) -> int:
    type_, given = field.type, field.option("length")
    declared = type_.args[0]
    fixed = type_.root in ("CHAR", "BINARY")
    if given is None:
        return declared if fixed or declared < 2**31 - 1 else _LENGTH
    if fixed:
        raise ValidationError(f"Custom length for fixed-length type ({type_}) field '{field.path[7:]}' is not supported.")
    if int(given) > declared:
        raise ValidationError(f"Custom length '{given}' for variable-length type ({type_}) field '{field.path[7:]}' should be "
                              "shorter than the length defined in the schema.")  # fmt: skip
    return int(given)


def _hex(field: _Field, length: int, digits: int) -> str:
    """SQL for ``length`` times ``digits`` hexadecimal digits."""
    total = length * digits
    words = max(1, -(-total // 16))

    def word(w: str) -> str:
        return f"lpad(lower(hex({_Field(field.path, STRING, field.options, f'{field.salt}, {w}').hash('text')})), 16, '0')"

    return f"left(array_join(transform(sequence(1, {words}), {bound(word)}), ''), {total})"


def _elements(field: _Field, element: _Field) -> str:
    length = int(field.option("length") or _COLLECTION_LENGTH)
    if length == 0:
        return f"CAST(array() AS ARRAY<{element.type.spark}>)"

    def cell(i: str) -> str:
        return _cell(_Field(element.path, element.type, element.options, f"{element.salt}, {i}"))

    return f"transform(sequence(1, {length}), {bound(cell, field.path.count('.'))})"


def _map(field: _Field, key: _Field, value: _Field) -> str:
    keys, values = _elements(field, key), _elements(field, value)
    return f"map_from_arrays({keys}, {values})"
