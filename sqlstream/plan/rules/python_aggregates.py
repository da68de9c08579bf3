"""A user's aggregate function becomes a scalar call above an aggregate that runs on the JVM, as Spark's and ours do.

GroupAggregate(keys=[k], spread(x))   ->   Project(k, spread($rows0))
+- input                                   +- GroupAggregate(keys=[k], $rows0 = ACCUMULATOR(x))
                                              +- input

For a group of a stream, the aggregate below keeps an accumulator and the latest rows. It keeps all rows, as ARGUMENTS(x), where they are bounded (in
windows, OVER, batch mode), where the function takes them as columns, and where rows are retracted but the function has no retract; of one in Java
also where its accumulator has parts that no type of SQL is for.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from sqlstream.plan import make
from sqlstream.plan.nodes import GroupAggregate, Named, NamedAggregate, Node, Over, Project, WindowAggregate
from sqlstream.plan.properties import changelog_mode, fields, static
from sqlstream.sql.expressions import AggregateCall, Call, ColumnRef, Expr
from sqlstream.sql.functions.aggregates import ARGUMENTS
from sqlstream.sql.generated_names import generated
from sqlstream.udf.declarations.functions import PythonFunction, rows_of_group
from sqlstream.udf.declarations.java import JavaFunction


def python_aggregates(node: Node) -> Node:
    """``node`` with every user's aggregate function below it rewritten."""
    node = node.with_inputs(tuple(python_aggregates(i) for i in node.inputs))
    return _called(node) if isinstance(node, GroupAggregate | WindowAggregate | Over) else node


def _called(node: GroupAggregate | WindowAggregate | Over) -> Node:
    columns = fields(node)
    names = (name for n in count() if (name := generated(f"rows{n}")) not in {f.name for f in columns})
    collected: dict[AggregateCall, str] = {}
    values: dict[str, Expr] = {}
    for named in node.aggregates:
        if isinstance(named.call.function, PythonFunction | JavaFunction):
            rows = _rows(node, named.call, named.call.function)
            if rows not in collected:
                collected[rows] = next(names)
            values[named.name] = Call(named.call.type, named.call.function, (ColumnRef(rows.type, collected[rows]),))
    if not values:
        return node
    others = tuple(a for a in node.aggregates if a.name not in values)
    below = replace(node, aggregates=(*others, *(NamedAggregate(name, rows) for rows, name in collected.items())))
    return Project(below, tuple(Named(f.name, values.get(f.name) or make.ref(f)) for f in columns))


def _rows(node: Node, call: AggregateCall, function: PythonFunction | JavaFunction) -> AggregateCall:
    """What keeps the rows of ``call``, one of ``node``'s."""
    (source,) = node.inputs
    written = {c.name: c.expr for c in source.columns} if isinstance(source, Project) else {}
    read = (make.substituted(a, written) if make.columns(a) <= written.keys() else a for a in call.args)
    columns = tuple(", ".join(sorted(make.columns(a))) for a in read)
    types = tuple(a.type for a in call.args)
    rows = rows_of_group(types, columns)
    by_group = isinstance(node, GroupAggregate) and not static(node)
    if by_group and function.accumulates(types, updates=changelog_mode(source).updates):
        return replace(call, type=function.accumulator.kept(rows), function=function.accumulator)
    return replace(call, type=rows, function=ARGUMENTS)
