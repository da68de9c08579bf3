"""Correlate: each row with the elements of a collection, by Spark's generators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.core.hidden import hidden
from sqlstream.plan import make
from sqlstream.runtime.lower.python_functions import register
from sqlstream.runtime.lower.row import row
from sqlstream.sql.expressions import Call, ColumnRef, Expr, FieldAccess
from sqlstream.sql.generated_names import bound
from sqlstream.sql.quoting import quote
from sqlstream.sql.spark_sql import render
from sqlstream.sql.types import BOOLEAN, INT, Type
from sqlstream.sql.types import row as row_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from sqlstream.plan.nodes import Correlate

_ENTRY, _ELEMENT, _PLACE = hidden("entry"), hidden("element"), hidden("place")


def correlated(node: Correlate, frame: DataFrame, zone: str) -> DataFrame:
    """The rows of ``frame``, the node's input, with the elements."""
    from pyspark.sql import functions as F

    register(node, frame.sparkSession, zone)
    elements, type_ = _array(render(node.collection, zone), node.collection.type)
    element, place = ColumnRef(type_, _ELEMENT), ColumnRef(INT.not_null(), _PLACE)
    conditions = [_present(element)] if type_.root == "ROW" and type_.nullable else []
    names = [quote(name) for name in frame.columns]
    if node.outer and (conditions or node.condition is not None):
        # What does not count is left out before, since a row keeps its NULLs where nothing is left.
        entry = ColumnRef(row_of((_ELEMENT, _PLACE), (type_, INT.not_null())), _ENTRY)
        parts: dict[str, Expr] = {n: FieldAccess(t, entry, n) for n, t in zip(entry.type.names, entry.type.children, strict=True)}
        cells = {name: make.substituted(cell, parts) for name, cell in _cells(node, element, place).items()}
        conditions = [make.substituted(c, parts) for c in conditions]
        conditions += [] if node.condition is None else [make.substituted(node.condition, cells)]
        condition = make.all_of(conditions)
        assert condition is not None
        entries = f"transform({elements}, ({_ELEMENT}, {_PLACE}) -> named_struct('{_ELEMENT}', {_ELEMENT}, '{_PLACE}', {_PLACE}))"
        kept = f"filter({entries}, {_ENTRY} -> {render(condition, zone)})"
        each = frame.select(*names, F.expr(f"explode_outer({kept})").alias(_ENTRY))
    else:
        cells = _cells(node, element, place)
        outer = "_outer" if node.outer else ""
        generated = F.expr(f"posexplode{outer}({elements})").alias(_PLACE, _ELEMENT)
        each = frame.select(*names, generated if node.ordinality else F.expr(f"explode{outer}({elements})").alias(_ELEMENT))
        for condition in conditions:
            each = each.where(render(condition, zone))
    return each.select(*[F.expr(render(cells[n], zone) if n in cells else quote(n)).alias(n) for n in row(node)])


def _array(sql: str, type_: Type) -> tuple[str, Type]:
    """A collection as an array, and the type of its elements."""
    match type_.root:
        case "MAP":
            return f"map_entries({sql})", row_of(("key", "value"), type_.children).not_null()
        case "MULTISET":
            return f"flatten(transform(map_entries({sql}), {bound(lambda e: f'array_repeat({e}.key, {e}.value)')}))", type_.children[0]
    return sql, type_.children[0]


def _cells(node: Correlate, element: ColumnRef, place: ColumnRef) -> dict[str, Expr]:
    """The columns that the node adds, over an element and its place (from 0)."""
    type_ = element.type
    parts: list[Expr] = [element]
    if type_.root == "ROW":
        parts = [FieldAccess(t, element, n) for n, t in zip(type_.names, type_.children, strict=True)]
    if node.ordinality:
        parts.append(Call(place.type, make.builtin("+"), (place, make.number(1))))
    return {f.name: part for f, part in zip(node.columns, parts, strict=True)}


def _present(element: ColumnRef) -> Expr:
    return Call(BOOLEAN.not_null(), make.builtin("NOT"), (make.is_null(element),))
