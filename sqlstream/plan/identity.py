"""The identity of a job: a plan as lines of JSON, one for each node, built from the nodes' own fields.

It has all that state depends on: types, keys, orders, options, what the connectors say about their tables. It has no text that is made to be read, so
EXPLAIN can change its wording. Nodes and their fields are in it under the names that ``Node.recorded`` says, what nodes are made of under those of
``_RECORDED``: a class or a field that gets another name in the code keeps the one that it has there.
"""

from __future__ import annotations

import datetime
import json
from dataclasses import MISSING, is_dataclass
from dataclasses import fields as dataclass_fields
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlstream.connectors import lasting_options
from sqlstream.plan.nodes import (
    Field,
    JoinHints,
    JoinSide,
    Named,
    NamedAggregate,
    Node,
    PatternVariable,
    Retry,
    RowsValue,
    RowValue,
    SortKey,
    Window,
)
from sqlstream.plan.properties import changelog_mode
from sqlstream.plan.properties import fields as columns
from sqlstream.sql.expressions import AggregateCall, Call, Cast, ColumnRef, FieldAccess, Frame, Keyword, Literal, OverCall
from sqlstream.sql.functions import Function
from sqlstream.sql.functions.windows import WindowFunction
from sqlstream.sql.tables import Table
from sqlstream.sql.types import Type
from sqlstream.udf.declarations.functions import Accumulator, PythonFunction
from sqlstream.udf.declarations.java import JavaFunction
from sqlstream.udf.declarations.signature import FunctionParameter, Signature

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

# What is recorded of the values that nodes are made of: as Node.recorded, a name, then that of each field.
_RECORDED: Mapping[type, tuple[str, ...]] = {
    AggregateCall: ("AggregateCall", "type", "function", "args", "distinct", "filter"),
    Call: ("Call", "type", "function", "args"),
    Cast: ("Cast", "type", "operand", "safe"),
    ColumnRef: ("ColumnRef", "type", "name"),
    Field: ("Field", "name", "type", "time"),
    FieldAccess: ("FieldAccess", "type", "operand", "name"),
    Frame: ("Frame", "rows", "first", "last"),
    FunctionParameter: ("Parameter", "name", "type", "optional", "repeated"),
    JoinHints: ("JoinHints", "ttl", "strategies"),
    JoinSide: ("JoinSide", "collected", "columns", "aggregates", "row"),
    Keyword: ("Word", "type", "text"),
    Literal: ("Literal", "type", "value"),
    Named: ("Named", "name", "expr"),
    NamedAggregate: ("NamedAggregate", "name", "call"),
    OverCall: ("OverCall", "type", "call", "partition", "order", "descending", "nulls_first", "frame"),
    PatternVariable: ("PatternVariable", "name", "low", "high", "greedy"),
    Retry: ("Retry", "delay", "attempts"),
    RowValue: ("RowValue", "name", "variable", "last", "offset", "column"),
    RowsValue: ("RowsValue", "name", "variable", "call"),
    Signature: ("Signature", "parameters", "result", "accumulator"),
    SortKey: ("SortKey", "name", "descending", "nulls_first"),
    Type: ("Type", "root", "args", "children", "names", "nullable"),
    Window: ("Window", "kind", "time", "size", "slide", "offset", "keys"),
}


# Those options of a table that count.
_Options: TypeAlias = "Callable[[Table], Mapping[str, str]]"


def all_options(table: Table) -> Mapping[str, str]:
    """What jobs were first identified by: every option of their tables."""
    return table.options


def signature(node: Node, options: _Options = lasting_options) -> str:
    """The plan as one string: equal for the same statements over the same declarations, as far as ``options`` of tables count.

    A node that is shared is in it once.
    """
    numbers: dict[int, int] = {}
    lines = []
    for part in nodes_of(node):
        lines.append(json.dumps(_node(part, numbers, options), sort_keys=True))
        numbers[id(part)] = len(numbers)
    return "\n".join(lines)


def nodes_of(node: Node) -> list[Node]:
    """``node`` and all that it is made of, each once, after what it is made of itself."""
    found: list[Node] = []
    done: set[int] = set()
    waiting = [node]
    while waiting:
        top = waiting[-1]
        missing = [part for part in below(top) if id(part) not in done]
        if missing:
            waiting.extend(reversed(missing))
            continue
        waiting.pop()
        if id(top) not in done:
            done.add(id(top))
            found.append(top)
    return found


def own_fields(node: Node, *, columns_only: bool = False) -> Any:
    """What ``node`` is by itself, as JSON, whatever it is made of; with ``columns_only`` its columns."""
    if columns_only:
        return _encoded(columns(node), lasting_options)
    return _node(node, {id(part): 0 for part in below(node)}, lasting_options)


def user_functions(node: Node) -> Iterator[PythonFunction | JavaFunction]:
    """The user's that are called in the expressions of ``node`` itself."""
    waiting: list[Any] = list(_values(node).values())
    while waiting:
        match waiting.pop():
            case Accumulator() as accumulator:
                yield accumulator.of
            case PythonFunction() | JavaFunction() as function:
                yield function
            case tuple() | list() as values:
                waiting += values
            case Node() | Function() | Table():
                pass
            case value if is_dataclass(value):
                waiting += (getattr(value, f.name) for f in dataclass_fields(value))


def recorded(kind: type) -> tuple[str, ...]:
    """What records call this class of nodes, or of what they are made of, and each of its fields. Raises KeyError where they know none."""
    return kind.recorded if issubclass(kind, Node) else _RECORDED[kind]


def _values(of: Any) -> dict[str, Any]:
    """The fields of ``of`` as they are recorded, without those that have their default: one that a release adds with a default changes nothing."""
    _, *names = recorded(type(of))
    compared = [(f, getattr(of, f.name)) for f in dataclass_fields(of) if f.compare]
    return {name: value for name, (f, value) in zip(names, compared, strict=True) if f.default is MISSING or value != f.default}


def below(node: Node) -> list[Node]:
    """The nodes that ``node`` is made of, without the join that an operator runs: of that only its columns matter."""
    return list({id(n): n for n in (*node.inputs, *node.tables)}.values())


def _node(node: Node, numbers: dict[int, int], options: _Options) -> dict[str, Any]:
    def value(of: Any) -> Any:
        if isinstance(of, Node):
            return numbers[id(of)] if id(of) in numbers else _join(of, options)
        if isinstance(of, tuple) and any(isinstance(v, Node) for v in of):
            return [value(v) for v in of]
        return _encoded(of, options)

    return {node.recorded[0]: {name: value(v) for name, v in _values(node).items()}}


def _join(node: Node, options: _Options) -> dict[str, Any]:
    """A join of whose inputs only the columns and changelog modes matter."""
    own = {name: _encoded(v, options) for name, v in _values(node).items() if v not in node.inputs}
    inputs = [[_encoded(columns(i), options), changelog_mode(i).value] for i in node.inputs]
    return {node.recorded[0]: {**own, "inputs": inputs}}


def _encoded(value: Any, options: _Options) -> Any:
    """``value``, of a field of a node, as JSON."""
    match value:
        case None | bool() | int() | str():
            return value
        case Enum():
            return value.name
        case float() | Decimal() | bytes() | datetime.date() | datetime.time() | datetime.timedelta():
            return {type(value).__name__: repr(value)}
        case tuple() | list():
            return [_encoded(v, options) for v in value]
        case PythonFunction():
            return {"function": value.name, "signature": _encoded(value.of, options)}
        case JavaFunction():
            return {"function": value.name, "class": value.implementation}
        case Accumulator():
            return {"accumulator": _encoded(value.of, options)}
        case Function():
            return {"function": value.name}
        case Table():
            return _table(value, options)
        case WindowFunction():
            return value.name
    return {recorded(type(value))[0]: {name: _encoded(v, options) for name, v in _values(value).items()}}


def _table(table: Table, options: _Options) -> dict[str, Any]:
    """What is read and written of a table, and how; its expressions are nodes of the plan."""
    return {
        "table": str(table.path),
        "options": dict(sorted(options(table).items())),
        "columns": [[c.name, _encoded(c.type, options)] for c in table.physical],
        "metadata": [[c.name, _encoded(c.type, options), c.key, c.virtual] for c in table.metadata],
        "primary key": None if table.primary_key is None else list(table.primary_key.columns),
        "partition keys": list(table.partition_keys),
    }
