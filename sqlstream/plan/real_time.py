"""Which queries run in real time: row after row goes from the source to the sink, without micro-batches."""

from __future__ import annotations

from enum import Enum

from sqlstream.connectors import find_connector
from sqlstream.core.errors import NotSupported
from sqlstream.plan.explain import describe
from sqlstream.plan.nodes import Node, Scan, Sink
from sqlstream.plan.properties import changelog_mode, static, walk
from sqlstream.sql.expressions import Call
from sqlstream.sql.text import to_text
from sqlstream.udf.declarations.functions import calls_python


class RealTime(Enum):
    """The values of ``execution.real-time``."""

    AUTO = "auto"
    TRUE = "true"
    FALSE = "false"


def prevented(sink: Sink) -> str | None:
    """What keeps the query of ``sink`` from running in real time, as a sentence; None where nothing does."""
    table = sink.table
    if static(sink):
        return "What it reads ends by itself."
    for node in walk(sink):
        if isinstance(node, Scan) and (node.bounded or not find_connector(node.table.connector).reads_in_real_time):
            ends = ", for it ends" if node.bounded else ""
            return f"A '{node.table.connector}' table, as {node.table.path.quoted}, is read by micro-batches{ends}."
        if not node.real_time:
            return f"It has {describe(node)}."
        for expr in node.expressions():
            if calls_python(expr):
                return f"It calls a function in Python: {to_text(expr)}."
            if any(isinstance(e, Call) and e.function.clock and not e.args for e in expr.walk()):
                return f"The time is that of a micro-batch in {describe(node)}: select it as a column, and compare that."
    if not find_connector(table.connector).writes_in_real_time(table, changelog_mode(sink.input)):
        return f"A '{table.connector}' table, as {table.path.quoted}, is written by micro-batches."
    return None


def refuse_unless_real_time(sink: Node) -> None:
    """Raises NotSupported for a query that would run by micro-batches."""
    if isinstance(sink, Sink) and (why := prevented(sink)) is not None:
        raise NotSupported(
            f"The query can't run in real time. {why}", hint="RESET 'execution.real-time' runs it by micro-batches, of some 100 milliseconds."
        )
