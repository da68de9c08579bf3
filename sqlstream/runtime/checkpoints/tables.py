"""The state of operators as tables: to the columns that Java has found their names and types in the plan.

A column of Spark's may be of several types of Flink's: which it is, is known of the columns of the node that keeps the state, and of its inputs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlstream.plan.identity import nodes_of
from sqlstream.plan.nodes import GroupAggregate, KeyedJoin, Project, WindowAggregate
from sqlstream.plan.properties import fields
from sqlstream.plan.upgrade.record import node_ids
from sqlstream.sql import types as t
from sqlstream.sql.bind import to_text
from sqlstream.sql.generated_names import reserved, shown
from sqlstream.sql.names import unique

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql.types import DataType

    from sqlstream.plan.nodes import Node, Sink
    from sqlstream.runtime.checkpoints.records import OperatorRecord, QueryRecord
    from sqlstream.sql.types import Type

# What a column is called that has no name of its own.
_UNNAMED = "EXPR$"
_PLAIN = {
    "boolean": t.BOOLEAN, "tinyint": t.TINYINT, "smallint": t.SMALLINT, "int": t.INT, "bigint": t.BIGINT, "float": t.FLOAT, "double": t.DOUBLE,
    "date": t.DATE, "string": t.STRING, "binary": t.BYTES, "timestamp": t.timestamp(6), "timestamp_ntz": t.timestamp(6), "variant": t.VARIANT,
    "void": t.NULL,
}  # fmt: skip


def with_columns(record: QueryRecord, sink: Sink) -> QueryRecord:
    """``record`` of the query into ``sink`` with the columns of its operators as Flink's: ``name``, ``type``, ``sql``, whether of the ``key``."""
    ids = node_ids(sink)
    nodes = {ids[id(node)]: node for node in nodes_of(sink)}
    return replace(record, operators=tuple(_named(o, nodes.get(o.node or "")) for o in record.operators))


def _named(operator: OperatorRecord, node: Node | None) -> OperatorRecord:
    if operator.table is None:
        return operator
    from pyspark.sql.types import _parse_datatype_json_string

    known, texts = _known(node), _texts(node)
    columns: list[dict[str, Any]] = []
    for column in operator.table["columns"]:
        type_ = flink(_parse_datatype_json_string(column["type"]), column["name"], known)
        columns.append({**column, "name": shown(texts.get(column["name"]) or _shown(column["name"])), "type": type_.full})
    for column, name in zip(columns, unique([c["name"] for c in columns]), strict=True):
        column["name"] = name
    return replace(operator, table={**operator.table, "columns": columns})


def _known(node: Node | None) -> Mapping[str, Type]:
    """The types of the columns that ``node`` has or reads."""
    if node is None:
        return {}
    inputs = (*node.inputs, *(node.join.inputs if isinstance(node, KeyedJoin) else ()))
    return {f.name: f.type for each in (*inputs, node) for f in fields(each)}


def _texts(node: Node | None) -> Mapping[str, str]:
    """What columns are called to which no name was given: calls of aggregates, expressions that are grouped by."""
    if not isinstance(node, GroupAggregate | WindowAggregate):
        return {}
    made = node.input.columns if isinstance(node.input, Project) else ()
    return {c.name: to_text(c.expr) for c in made if reserved(c.name)} | {a.name: to_text(a.call) for a in node.aggregates if _unnamed(a.name)}


def _unnamed(name: str) -> bool:
    return name.startswith(_UNNAMED) or reserved(name)


def _shown(name: str) -> str:
    return "key" if reserved(name) else name


def flink(type_: DataType, name: str, known: Mapping[str, Type]) -> Type:
    """The type of a column ``name`` that Spark carries as ``type_``; ``known``: those of columns, and of fields, by their names."""
    from pyspark.sql import types as s

    hint = known.get(name)
    if hint is not None and _carrier(hint.spark) == _carrier(type_.simpleString()):
        return hint.null()
    match type_:
        case s.ArrayType():
            return t.array(flink(type_.elementType, name, known))
        case s.MapType():
            return t.map_of(flink(type_.keyType, name, {}).not_null(), flink(type_.valueType, name, {}))
        case s.StructType():
            return t.row(tuple(type_.names), tuple(flink(f.dataType, f.name, known) for f in type_.fields))
        case s.DecimalType():
            return t.decimal(type_.precision, type_.scale)
        case s.YearMonthIntervalType():
            return t.INTERVAL_MONTHS
        case s.DayTimeIntervalType():
            return t.INTERVAL_MILLIS
    text = type_.simpleString()
    return t.time(0) if text.startswith("time(") else _PLAIN[text]


def _carrier(text: str) -> str:
    return text.lower().replace("`", "").replace(" ", "")
