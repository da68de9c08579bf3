"""An aggregate function in Python is a scalar call above the aggregate, of the array of its arguments: Spark's aggregates, and ours, are on the
JVM. They keep the rows of a group, so that rows that go are simply taken out.

GroupAggregate(keys=[k], spread(x))   ->   Project(k, spread($rows0))
+- input                                   +- GroupAggregate(keys=[k], $rows0 = ARGUMENTS(x))
                                              +- input
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from sqlstream.plan import make
from sqlstream.plan.nodes import GroupAggregate, Named, NamedAggregate, Node, Over, Project, WindowAggregate
from sqlstream.plan.properties import fields
from sqlstream.sql.expressions import AggregateCall, Call, ColumnRef, Expr
from sqlstream.sql.functions.aggregates import ARGUMENTS
from sqlstream.udf.functions import PythonFunction


def python_aggregates(node: Node) -> Node:
    """``node`` with every aggregate function in Python below it rewritten."""
    node = node.with_inputs(tuple(python_aggregates(i) for i in node.inputs))
    return _called(node) if isinstance(node, GroupAggregate | WindowAggregate | Over) else node


def _called(node: GroupAggregate | WindowAggregate | Over) -> Node:
    given = fields(node)
    names = (name for n in count() if (name := f"$rows{n}") not in {f.name for f in given})
    collected: dict[AggregateCall, str] = {}
    values: dict[str, Expr] = {}
    for named in node.aggregates:
        if isinstance(named.call.function, PythonFunction):
            rows = _arguments(node.input, named.call, named.call.function)
            if rows not in collected:
                collected[rows] = next(names)
            values[named.name] = Call(named.call.type, named.call.function, (ColumnRef(rows.type, collected[rows]),))
    if not values:
        return node
    others = tuple(a for a in node.aggregates if a.name not in values)
    below = replace(node, aggregates=(*others, *(NamedAggregate(name, rows) for rows, name in collected.items())))
    return Project(below, tuple(Named(f.name, values.get(f.name) or make.ref(f)) for f in given))


def _arguments(source: Node, call: AggregateCall, function: PythonFunction) -> AggregateCall:
    """What collects the arguments of ``call``."""
    written = {c.name: c.expr for c in source.columns} if isinstance(source, Project) else {}
    read = (make.substituted(a, written) if make.columns(a) <= written.keys() else a for a in call.args)
    columns = tuple(", ".join(sorted(make.columns(a))) for a in read)
    return replace(call, type=function.rows(tuple(a.type for a in call.args), columns), function=ARGUMENTS)
