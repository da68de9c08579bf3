"""Replaces Python calls in expressions by columns."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from sqlstream.plan import make
from sqlstream.plan.nodes import Named, Node, Project
from sqlstream.plan.properties import fields
from sqlstream.sql.expressions import Call, ColumnRef, Expr
from sqlstream.sql.generated_names import generated
from sqlstream.udf.declarations.functions import PythonFunction, keeps_failures

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlstream.plan.nodes import Field


def is_python_call(expr: Expr) -> bool:
    return isinstance(expr, Call) and isinstance(expr.function, PythonFunction)


def _is_fixed(call: Expr) -> bool:
    """Whether equal calls can share one result."""
    return isinstance(call, Call) and call.function.deterministic


def outermost_calls(expr: Expr | None) -> list[Expr]:
    """The outermost Python calls of ``expr``."""
    if expr is None:
        return []
    return [expr] if is_python_call(expr) else [call for child in expr.children for call in outermost_calls(child)]


class Lift:
    """Puts columns in the place of Python calls. ``calls`` has the calls by the names of their columns."""

    def __init__(self, columns: Sequence[Field], prefix: str = generated("py"), often: Sequence[Expr] = ()) -> None:
        self.calls: dict[str, Expr] = {}
        self._twice = [call for i, call in enumerate(often) if _is_fixed(call) and call in often[:i]]
        used = {f.name for f in columns}
        self._names: Iterator[str] = (name for n in count() if (name := f"{prefix}{n}") not in used)

    def __call__(self, expr: Expr) -> Expr:
        return expr.transform(lambda e: self.column(e) if is_python_call(e) else None)

    def top(self, expr: Expr) -> Expr:
        """``expr``, which may stay a call with calls as arguments, unless its value is needed elsewhere too."""
        if not is_python_call(expr) or expr in self._twice:
            return self(expr)
        inner = self if keeps_failures(expr) else self.top
        return expr.with_children(tuple(inner(a) for a in expr.children))

    def below(self, source: Node) -> Node:
        """``source`` with the columns of the calls."""
        if not self.calls:
            return source
        kept = (Named(f.name, make.ref(f)) for f in fields(source))
        return Project(source, (*kept, *(Named(n, e) for n, e in self.calls.items())))

    def column(self, call: Expr) -> ColumnRef:
        name = next((n for n, e in self.calls.items() if e == call and _is_fixed(call)), None)
        if name is None:
            name = next(self._names)
            self.calls[name] = call
        return ColumnRef(call.type, name)
