"""Flink's types as sqlglot's ``exp.DataType``, and back: nothing is lost on the way.

NOT NULL is ``nullable=False``, which sqlglot's other dialects leave out. A field of a ROW is an ``exp.ColumnDef``, its comment a constraint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.sql import types as t

if TYPE_CHECKING:
    from collections.abc import Callable

_D = exp.DType
_PLAIN: dict[str, exp.DType] = {
    "BOOLEAN": _D.BOOLEAN,
    "TINYINT": _D.TINYINT,
    "SMALLINT": _D.SMALLINT,
    "INT": _D.INT,
    "BIGINT": _D.BIGINT,
    "FLOAT": _D.FLOAT,
    "DOUBLE": _D.DOUBLE,
    "DATE": _D.DATE,
    "NULL": _D.NULL,
    "VARIANT": _D.VARIANT,
}
_SIZED: dict[str, exp.DType] = {
    "CHAR": _D.CHAR,
    "VARCHAR": _D.VARCHAR,
    "BINARY": _D.BINARY,
    "VARBINARY": _D.VARBINARY,
    "DECIMAL": _D.DECIMAL,
    "TIME": _D.TIME,
    "TIMESTAMP": _D.TIMESTAMPNTZ,
    "TIMESTAMP_LTZ": _D.TIMESTAMPLTZ,
}
_INTERVALS = {"INTERVAL_MONTHS": ("YEAR", "MONTH"), "INTERVAL_MILLIS": ("DAY", "SECOND")}

# What other dialects' types are in Flink, where nothing else is written.
_DEFAULTS: dict[exp.DType, t.Type] = {
    **{kind: t.Type(root) for root, kind in _PLAIN.items()},
    _D.TEXT: t.STRING,
    _D.VARCHAR: t.STRING,
    _D.VARBINARY: t.BYTES,
    _D.BLOB: t.BYTES,
    _D.CHAR: t.char(1),
    _D.BINARY: t.Type("BINARY", (1,)),
    _D.DECIMAL: t.decimal(10, 0),
    _D.TIME: t.time(),
    _D.TIMESTAMP: t.timestamp(),
    _D.TIMESTAMPNTZ: t.timestamp(),
    _D.DATETIME: t.timestamp(),
    _D.TIMESTAMPLTZ: t.timestamp_ltz(),
    _D.TIMESTAMPTZ: t.timestamp_ltz(),
}
_ROOTS = {**{kind: root for root, kind in _SIZED.items()}, _D.TIMESTAMP: "TIMESTAMP", _D.DATETIME: "TIMESTAMP", _D.TIMESTAMPTZ: "TIMESTAMP_LTZ"}


class FlinkTypeName(exp.Expression):
    """The name of a type that only Flink has."""

    arg_types = {"this": True}


def data_type(type_: t.Type) -> exp.DataType:
    """``type_`` as a node of sqlglot."""
    node = _data_type(type_)
    if not type_.nullable:
        node.set("nullable", False)
    return node


def _data_type(type_: t.Type) -> exp.DataType:
    root = type_.root
    if kind := _PLAIN.get(root):
        return exp.DataType(this=kind)
    if type_.null() == t.STRING:
        return exp.DataType(this=_D.TEXT)
    if type_.null() == t.BYTES:
        return exp.DataType(this=_D.VARBINARY)
    if kind := _SIZED.get(root):
        return exp.DataType(this=kind, expressions=[exp.DataTypeParam(this=exp.Literal.number(size)) for size in type_.args])
    if span := _INTERVALS.get(root):
        first, last = (exp.Var(this=unit) for unit in span)
        return exp.DataType(this=exp.Interval(unit=exp.IntervalSpan(this=first, expression=last)))
    children = [data_type(child) for child in type_.children]
    match root:
        case "ARRAY" | "MAP":
            return exp.DataType(this=_D(root), expressions=children, nested=True)
        case "MULTISET":
            return exp.DataType(this=_D.USERDEFINED, kind=FlinkTypeName(this=root), expressions=children, nested=True)
        case "ROW":
            comments = type_.comments or (None,) * len(children)
            fields = [_field(*field) for field in zip(type_.names, children, comments, strict=True)]
            return exp.DataType(this=_D.STRUCT, expressions=fields, nested=True)
    raise ValueError(f"No type of sqlglot for {type_}.")


def _field(name: str, kind: exp.DataType, comment: str | None) -> exp.ColumnDef:
    field = exp.ColumnDef(this=exp.Identifier(this=name, quoted=True), kind=kind)
    if comment is not None:
        constraint = exp.CommentColumnConstraint(this=exp.Literal.string(comment))
        field.set("constraints", [exp.ColumnConstraint(kind=constraint)])
    return field


def flink_type(node: exp.Expr) -> t.Type:
    """The type that ``node``, an ``exp.DataType`` of any dialect, is in Flink. Raises ValueError."""
    assert isinstance(node, exp.DataType)
    return _flink_type(node).with_nullable(node.args.get("nullable") is not False)


def _flink_type(node: exp.DataType) -> t.Type:
    kind, parts = node.this, node.expressions
    if isinstance(kind, exp.Interval):
        unit = kind.args.get("unit")
        word = unit.name if unit is not None else ""
        return t.INTERVAL_MONTHS if word in ("YEAR", "QUARTER", "MONTH") else t.INTERVAL_MILLIS
    if build := _NESTED.get(kind):
        return build(parts)
    if kind == _D.USERDEFINED and isinstance(node.args.get("kind"), FlinkTypeName):
        return t.multiset(flink_type(parts[0]))
    if parts and (root := _ROOTS.get(kind)):
        sizes = tuple(int(part.name) for part in parts)
        return t.Type(root, (*sizes, 0) if root == "DECIMAL" and len(sizes) == 1 else sizes)
    if default := _DEFAULTS.get(kind):
        return default
    raise ValueError(f"Flink has no type {node.sql()}.")


def _row(fields: list[exp.Expr]) -> t.Type:
    # Spark and others may leave out the names: STRUCT<INT, STRING>.
    names = tuple(field.name if isinstance(field, exp.ColumnDef) else f"f{i}" for i, field in enumerate(fields))
    kinds = [field.kind if isinstance(field, exp.ColumnDef) else field for field in fields]
    comments = tuple(_comment(field) for field in fields)
    return t.row(names, tuple(flink_type(kind) for kind in kinds if kind is not None), comments if any(c is not None for c in comments) else ())


def _comment(field: exp.Expr) -> str | None:
    comment = field.find(exp.CommentColumnConstraint) if isinstance(field, exp.ColumnDef) and field.constraints else None
    return comment.name if comment is not None and comment.parent is not None and comment.parent.parent is field else None


_NESTED: dict[exp.DType, Callable[[list[exp.Expr]], t.Type]] = {
    _D.ARRAY: lambda parts: t.array(flink_type(parts[0])),
    _D.LIST: lambda parts: t.array(flink_type(parts[0])),
    _D.MAP: lambda parts: t.map_of(flink_type(parts[0]), flink_type(parts[1])),
    _D.STRUCT: _row,
}
