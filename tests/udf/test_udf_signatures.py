"""What a declared function takes and gives."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, NamedTuple

import pytest

from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.sql import types as t
from sqlstream.udf import AggregateFunction, DataTypes, ScalarFunction, TableFunction, udaf, udf, udtf
from sqlstream.udf.declarations.signature import signature, undecorated


class Point(NamedTuple):
    x: int
    y: float | None


@dataclass
class Order:
    item: str
    price: Decimal


def shown(declared) -> str:
    found = signature(declared, "f")
    takes = ", ".join(f"{p.name}{'?' if p.optional else '*' if p.repeated else ''} {p.type}" for p in found.parameters)
    return f"{takes} -> {found.result}"


@udf
def simple(a: int, b: float, c: str | None, d: bool = True) -> Decimal: ...


@udf
def times(a: datetime.date, b: datetime.time, c: datetime.datetime, *d: bytes) -> datetime.timedelta: ...


@udf
def nested(a: list[int], b: dict[str, list[bool]], c: Point, d: Annotated[int, "SMALLINT"]) -> Order: ...


@udf(result_type="ROW<a INT, b STRING NOT NULL, c ARRAY<TIMESTAMP_LTZ(3)>>")
def unannotated(a, b=1): ...


@udf(input_types=["INT", DataTypes.DECIMAL(10, 2)], result_type=DataTypes.MAP(DataTypes.STRING(), DataTypes.BYTES()))
def declared(a, b): ...


@udf(result_type="BIGINT", func_type="pandas")
def vectors(a, b): ...


@udtf(result_types=["INT", DataTypes.STRING()])
def listed(a): ...


@udtf(result_types=DataTypes.ROW([DataTypes.FIELD("word", DataTypes.STRING()), DataTypes.FIELD("n", DataTypes.INT())]))
def named(a: str): ...


@udtf
def points(a: int) -> Iterator[Point]: ...


class Mean(AggregateFunction):
    def create_accumulator(self):
        return [0, 0]

    def accumulate(self, accumulator, value: float): ...

    def get_value(self, accumulator) -> float: ...


class Upper(ScalarFunction):
    def eval(self, text: str) -> str: ...


class Words(TableFunction):
    def eval(self, text: str) -> Iterator[str]: ...


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (simple, "a BIGINT, b DOUBLE, c STRING, d? BOOLEAN -> DECIMAL(38, 18)"),
        (times, "a DATE, b TIME(0), c TIMESTAMP(6), d* BYTES -> INTERVAL SECOND(3)"),
        (
            nested,
            "a ARRAY<BIGINT>, b MAP<STRING, ARRAY<BOOLEAN>>, c ROW<`x` BIGINT, `y` DOUBLE>, d SMALLINT -> ROW<`item` STRING, `price` DECIMAL(38, 18)>",
        ),
        (unannotated, "a None, b? None -> ROW<`a` INT, `b` STRING NOT NULL, `c` ARRAY<TIMESTAMP_LTZ(3)>>"),
        (declared, "a INT, b DECIMAL(10, 2) -> MAP<STRING, BYTES>"),
        (vectors, "a None, b None -> BIGINT"),
        (listed, "a None -> ROW<`f0` INT, `f1` STRING>"),
        (named, "a STRING -> ROW<`word` STRING, `n` INT>"),
        (points, "a BIGINT -> ROW<`x` BIGINT, `y` DOUBLE>"),
        (udaf(Mean()), "value DOUBLE -> DOUBLE"),
        (udf(Upper), "text STRING -> STRING"),
        (undecorated(Words()), "text STRING -> ROW<`f0` STRING>"),
        (
            udf(lambda: 1, result_type="Row<value Row<order INT NOT NULL, `time` TIMESTAMP(3)>, date MAP<STRING NOT NULL, INT ARRAY>>"),
            " -> ROW<`value` ROW<`order` INT NOT NULL, `time` TIMESTAMP(3)>, `date` MAP<STRING NOT NULL, ARRAY<INT>>>",
        ),
        (udf(lambda a, b: a, result_type="TINYINT"), "a None, b None -> TINYINT"),
    ],
)
def test_signature(function, wanted: str) -> None:
    assert shown(function) == wanted


@pytest.mark.parametrize(
    ("function", "error", "problem"),
    [
        (udf(lambda a: a), ValidationError, "The function 'f': its result has no type"),
        (udf(lambda a: a, result_type="STRNG"), ValidationError, "'STRNG' is not a type"),
        (udf(lambda a: a, result_type=7), ValidationError, "7 is not a type"),
        (
            udf(lambda a: a, result_type=DataTypes.ROW([DataTypes.FIELD("a", t.VARIANT)])),
            NotSupported,
            "values of type VARIANT are not passed to Python",
        ),
        (
            udf(lambda a: a, result_type=DataTypes.ROW([DataTypes.FIELD("__sqlstream_x", t.INT)])),
            ValidationError,
            "a field can't be called '__sqlstream_x'",
        ),
        (udtf(lambda a: a), ValidationError, "its columns have no types"),
    ],
)
def test_refused(function, error, problem: str) -> None:
    with pytest.raises(error, match=problem):
        signature(function, "f")


def test_an_annotation_that_names_no_type() -> None:
    def f(a: object) -> int: ...

    with pytest.raises(ValidationError, match="the annotation of 'a' does not name a SQL type"):
        signature(udf(f), "f")


def test_a_decorated_function_is_called_as_it_is() -> None:
    @udf
    def twice(a: int) -> int:
        """Two times."""
        return 2 * a

    assert (twice(4), twice.__name__, twice.__doc__, twice.kind.value, twice.deterministic) == (8, "twice", "Two times.", "SCALAR", True)
    assert twice.file == __file__


def test_what_is_no_function() -> None:
    with pytest.raises(TypeError, match="7 is not a function"):
        udf(7)
    with pytest.raises(ValueError, match="func_type must be general, pandas or arrow"):
        udf(len, func_type="numpy")
