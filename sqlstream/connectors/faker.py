"""The faker connector: cells that Datafaker makes of an expression each, as flink-faker does.

In: a field's options. Out: one SQL expression a column, over a row number. The same number gives the same cells, but for expressions of the current
time. What is wrong with an expression is said where the table is read: it takes Datafaker, which a session fetches then.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sqlstream.connectors.added_jars import provide
from sqlstream.connectors.base import Read, SourceFrame, plain_options
from sqlstream.connectors.numbered import HOW_MANY, ROW, Numbered, makes
from sqlstream.core import options as option_rows
from sqlstream.core.errors import NotSupported, SetupError, ValidationError
from sqlstream.core.hidden import hidden
from sqlstream.core.java import classes
from sqlstream.core.options import OptionKind, find_option
from sqlstream.sql.generated_names import bound
from sqlstream.sql.quoting import quote, spark_string
from sqlstream.sql.types import INT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import DataFrame, SparkSession

    from sqlstream.sql.tables import PhysicalColumn, Table
    from sqlstream.sql.types import Type

_DATAFAKER = "net.datafaker.Faker"
_COLLECTIONS = ("ARRAY", "MAP", "MULTISET")
_SCALARS = (
    "CHAR", "VARCHAR", "BOOLEAN", "DECIMAL", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ",
)  # fmt: skip
# Names that Datafaker's predecessor had, in lower case.
_RENAMED = {"internet.useragentany": "Internet.userAgent"}


class Faker(Numbered):
    """Rows that look like real ones."""

    name = "faker"
    summary = "Generates rows of names, addresses, times and the like, by the expressions of Datafaker."
    example = (
        "CREATE TABLE orders (customer STRING, price DECIMAL(10, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)\n"
        "WITH ('connector' = 'faker', 'rows-per-second' = '10',\n"
        "  'fields.customer.expression' = '#{Name.fullName}',\n"
        "  'fields.price.expression' = '#{number.randomDouble ''2'',''1'',''99''}',\n"
        "  'fields.ts.expression' = '#{date.past ''5'',''SECONDS''}');"
    )
    can_be_looked_up = True
    options = (
        *HOW_MANY,
        makes("fields.#.expression", OptionKind.STRING,
               summary="What the cells are made of: of a map fields.<column>.key.expression and .value.expression, of a row"
                       " fields.<column>.<field>.expression."),
        makes("fields.#.null-rate", OptionKind.DOUBLE, "0", "Share of cells that are NULL.", least=0),
        makes("fields.#.length", OptionKind.INT, "1", "How many values a collection has.", least=1),
    )  # fmt: skip

    def check(self, table: Table) -> list[str]:
        own = plain_options(table)
        paths = {path for column in table.physical for path, _ in _parts(column)} | {f"fields.{column.name}" for column in table.physical}
        # Flink's scripts have such of columns that are computed.
        idle = [k for k in own if find_option(self.options, k) is not None and k.startswith("fields.") and k.rpartition(".")[0] not in paths]
        option_rows.check_options(self.name, {k: v for k, v in own.items() if k not in idle}, self.options)
        notices = [f"Option '{key}' of 'faker' has no effect: it is of no column that rows are made for." for key in idle]
        for column in table.physical:
            _check(column, table)
        return [*notices, *self.without_rate(table)]

    def count(self, table: Table) -> int | None:
        found: int | None = option_rows.value(table.options, self.options, "number-of-rows")
        return found

    def read(self, request: Read) -> SourceFrame:
        table = request.table
        _provide(request.spark, table)
        numbers, seed = self.numbers(request)
        names = {c.name: c.name for c in table.physical}
        return SourceFrame(_made(numbers, table, names, seed).select(*map(quote, names)))

    def found(self, table: Table, rows: DataFrame, names: Mapping[str, str]) -> DataFrame:
        from pyspark.sql import functions as F

        _provide(rows.sparkSession, table)
        numbers = rows.select("*", F.expr("CAST(rand() * 9.0E18D AS BIGINT)").alias(ROW))
        return _made(numbers, table, names, 0).drop(ROW)


def _made(rows: DataFrame, table: Table, names: Mapping[str, str], seed: int) -> DataFrame:
    """``rows`` with the columns of ``table`` that have ``names``, under these, made for their ROW."""
    from pyspark.sql import functions as F

    columns = [c for c in table.physical if c.name in names]
    cells = {c.name: hidden(f"cells_{i}") for i, c in enumerate(columns)}
    calls = (F.expr(f"sqlstream_faked({ROW}, {seed}L, {spark_string(_field(c, table))})").alias(cells[c.name]) for c in columns)
    values = (F.expr(_value(cells[c.name], c.type)).alias(names[c.name]) for c in columns)
    # Cells are read more than once: those that are not made again are in a projection of their own.
    return rows.select("*", *calls).select("*", *values).drop(*cells.values())


def _parts(column: PhysicalColumn) -> Iterator[tuple[str, Type]]:
    """The paths below which the options have an expression each, in the order of the values, and what these are."""
    path, type_ = f"fields.{column.name}", column.type
    match type_.root:
        case "MAP":
            yield from zip((f"{path}.key", f"{path}.value"), type_.children, strict=True)
        case "ROW":
            yield from zip((f"{path}.{name}" for name in type_.names), type_.children, strict=True)
        case "ARRAY" | "MULTISET":
            yield path, type_.children[0]
        case _:
            yield path, type_


def _check(column: PhysicalColumn, table: Table) -> None:
    path = f"fields.{column.name}"
    for place, type_ in _parts(column):
        if type_.root not in _SCALARS:
            raise NotSupported(
                f"The 'faker' connector makes no values of type {type_}, of column '{column.name}'.",
                hint="It makes texts, numbers, times and BOOLEAN, and ARRAY, MAP, MULTISET and ROW of these.",
            )
        if f"{place}.expression" not in table.options:
            raise ValidationError(
                f"Every column needs a corresponding expression. No expression found for {column.name}.",
                hint=f"Add '{place}.expression' = '#{{..}}' to the options.",
            )
    if float(table.options.get(f"{path}.null-rate", "0")) > 1:
        raise option_rows.wrong_option(
            f"{path}.null-rate",
            f"Null rate needs to be in [0,1]. Null rate of {column.name} is {table.options[f'{path}.null-rate']}",
        )
    if table.options.get(f"{path}.length", "1") != "1" and column.type.root not in _COLLECTIONS:
        raise option_rows.wrong_option(f"{path}.length", f"Collection length may not be set for {column.name} with type {column.type.root}")


def _expression(table: Table, place: str) -> str:
    """The expression below ``place``, by the names that Datafaker has."""
    text = table.options[f"{place}.expression"]
    for old, new in _RENAMED.items():
        at = text.lower().find(f"#{{{old}")
        text = text if at < 0 else f"{text[: at + 2]}{new}{text[at + 2 + len(old) :]}"
    return text


def _field(column: PhysicalColumn, table: Table) -> str:
    """What our function is told of a column."""
    path = f"fields.{column.name}"
    return json.dumps(
        {
            "path": column.name,
            "null_rate": float(table.options.get(f"{path}.null-rate", "0")),
            "length": int(table.options.get(f"{path}.length", "1")) if column.type.root in _COLLECTIONS else 1,
            "counted": column.type.root == "MULTISET",
            "values": [
                {"expression": _expression(table, place), "type": type_.root, "precision": type_.args[0] if type_.args else 0}
                for place, type_ in _parts(column)
            ],
        }
    )


def _value(cells: str, type_: Type) -> str:
    """SQL for a value of ``cells``, the texts that our function gives for it."""

    def cast(cell: str, of: Type) -> str:
        return f"CAST({cell} AS {of.spark})"

    def array(texts: str, of: Type) -> str:
        return f"transform({texts}, {bound(lambda cell: cast(cell, of))})"

    match type_.root:
        case "ARRAY":
            return array(cells, type_.children[0])
        case "MAP" | "MULTISET":
            key, value = type_.children if type_.root == "MAP" else (type_.children[0], INT)
            keys = f"filter({cells}, {bound(lambda cell, i: f'{i} % 2 = 0')})"
            values = f"filter({cells}, {bound(lambda cell, i: f'{i} % 2 = 1')})"
            return f"map_from_arrays({array(keys, key)}, {array(values, value)})"
        case "ROW":
            parts = (f"{spark_string(n)}, {cast(f'{cells}[{i}]', of)}" for i, (n, of) in enumerate(zip(type_.names, type_.children, strict=True)))
            return f"if({cells} IS NULL, NULL, named_struct({', '.join(parts)}))"
    return cast(f"{cells}[0]", type_)


def _provide(spark: SparkSession, table: Table) -> None:
    """Have Datafaker there. Raises SetupError, and ValidationError for an expression that it does not know."""
    if not provide(spark, _DATAFAKER, "faker"):
        raise SetupError("Datafaker can't be loaded.", hint="It is in the jars that sqlstream fetches: look into the log of Spark.")
    for column in table.physical:
        for place, _ in _parts(column):
            expression = _expression(table, place)
            if (problem := classes(spark).functions.Fakes.problem(expression)) is not None:
                raise option_rows.wrong_option(
                    f"{place}.expression", f'Invalid expression for column "{column.name}": {problem}', None,
                    "Names and arguments are those of Datafaker: https://www.datafaker.net/documentation/expressions/",
                )  # fmt: skip
