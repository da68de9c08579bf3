"""What stands in FROM, as sqlglot's tools understand it: ``qualify``, ``scope`` and ``lineage`` see through a window function or a MATCH_RECOGNIZE
to the table that it reads.

In comes a tree of the grammar, out goes one in which such an item is a derived table: its query selects what the item gives, of the table below. The
Flink generator writes it as it was; no other dialect can. The engine plans trees of the grammar, this is for users of ``sqlglot.parse_one``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from sqlglot import exp

from sqlstream.sql.functions.windows import WINDOW_FUNCTIONS
from sqlstream.sql.syntax import ast
from sqlstream.sql.syntax.calls import FlinkOnly, call, call_name

if TYPE_CHECKING:
    from collections.abc import Callable

E = TypeVar("E", bound=exp.Expr)
WINDOW_COLUMNS = ("window_start", "window_end", "window_time")
_WINDOWS = frozenset(name for function in WINDOW_FUNCTIONS for name in (function.name, *function.aliases))


class WindowColumn(exp.Expression, exp.Condition):
    """A column that a window function adds: ``this`` is the time attribute, ``kind`` window_start, window_end or window_time."""

    arg_types = {"this": True, "kind": True}


class WindowTable(exp.Subquery, FlinkOnly):
    """``TABLE(TUMBLE(TABLE t, DESCRIPTOR(c), ..))``: ``this`` selects the columns of ``t`` and those of the window.

    ``function`` is the name as written, ``partition`` names columns; among the ``arguments`` an exp.Placeholder stands for the table.
    """

    arg_types = {**exp.Subquery.arg_types, "function": True, "arguments": True, "partition": False}

    @property
    def construct(self) -> str:
        return f"The window function {self.text('function').upper()}"


class FunctionTable(exp.Lateral, FlinkOnly):
    """``[LATERAL] TABLE(f(..)) [AS t(a, b)]`` of a user's table function: ``this`` is the call, ``written`` the flag of LATERAL."""

    arg_types = {**exp.Lateral.arg_types, "written": False}

    @property
    def construct(self) -> str:
        return f"The table function {call_name(self.this)}"


class SystemTime(exp.Version, FlinkOnly):
    """``FOR SYSTEM_TIME AS OF time`` of a temporal or lookup join."""

    @property
    def construct(self) -> str:
        return "FOR SYSTEM_TIME AS OF"


class PatternColumn(exp.Expression, exp.Condition):
    """A column in a clause of MATCH_RECOGNIZE: ``this`` is the column of the table, ``variable`` the pattern variable before it."""

    arg_types = {"this": True, "variable": False}


class Measure(exp.Expression, exp.Condition):
    """An expression of MEASURES."""

    arg_types = {"this": True}


class MatchClauses(exp.Expression, exp.Condition):
    """The clauses of MATCH_RECOGNIZE that give no column: arguments as those of ast.MatchRecognize."""

    arg_types = dict.fromkeys(("order", "after", "after_variable", "pattern", "within", "define"), False)


class MatchTable(exp.Subquery, FlinkOnly):
    """``t MATCH_RECOGNIZE (..)``: ``this`` selects the columns of PARTITION BY and the measures; its WHERE holds the other clauses."""

    @property
    def construct(self) -> str:
        return "MATCH_RECOGNIZE"


def related(tree: E) -> E:
    """``tree``, changed in place, with derived tables for window functions and MATCH_RECOGNIZE."""
    relations = [node for node in tree.walk() if isinstance(node, tuple(_RELATIONS))]
    # The inner ones come first.
    for node in reversed(relations):
        node.replace(_RELATIONS[type(node)](node))
    return tree


def _with_alias(made: E, node: exp.Expr) -> E:
    if (alias := node.args.get("alias")) is not None:
        made.set("alias", alias)
    made.meta.update(node.meta)
    return made


def _table(node: exp.Expr) -> exp.Expr:
    if (time := node.args.get("system_time")) is None:
        return node
    node.set("system_time", None)
    node.set("version", SystemTime(**time.args))
    return node


def _function(node: exp.Expr) -> exp.Expr:
    if node.name.upper() in _WINDOWS and (window := _window(node)) is not None:
        return window
    made = FunctionTable(this=call(node.name, node.expressions), written=node.args.get("lateral"))
    return _with_alias(made, node)


def _window(node: exp.Expr) -> WindowTable | None:
    """The derived table of a call of a window function; None where it has not a table and a time attribute."""
    tables = [t for t in node.find_all(ast.TableArgument) if t.parent in (node, *node.expressions)]
    descriptor = next((d for d in node.find_all(ast.Descriptor) if d.parent in (node, *node.expressions)), None)
    if len(tables) != 1 or descriptor is None:
        return None
    table = tables[0]
    input_, partition = table.this, table.args.get("partition")
    time = descriptor.expressions[0]
    columns = [WindowColumn(this=exp.Column(this=time.copy()), kind=exp.Var(this=name)) for name in WINDOW_COLUMNS]
    added = [exp.Alias(this=column, alias=exp.to_identifier(column.text("kind"))) for column in columns]
    source = input_ if isinstance(input_, exp.Table) else exp.Subquery(this=input_)
    table.replace(exp.Placeholder())
    query = exp.Select(expressions=[exp.Star(), *added], from_=exp.From(this=source))
    made = WindowTable(this=query, function=exp.Var(this=node.name), arguments=list(node.expressions), partition=partition)
    return _with_alias(made, node)


def _match(node: exp.Expr) -> MatchTable:
    variables = {v.this.name for v in node.args["pattern"]} | {d.alias for d in node.args["define"]}

    def own(part: E) -> E:
        return _pattern_columns(part, variables)

    for measure in node.args.get("measures") or []:
        measure.set("this", Measure(this=own(measure.this)))
    for definition in node.args["define"]:
        definition.set("this", own(definition.this))
    if (order := node.args.get("order")) is not None:
        own(order)
    clauses = MatchClauses(**{key: node.args.get(key) for key in MatchClauses.arg_types})
    query = exp.Select(
        expressions=[*(node.args.get("partition_by") or []), *(node.args.get("measures") or [])],
        from_=exp.From(this=node.this),
        where=exp.Where(this=clauses),
    )
    return _with_alias(MatchTable(this=query), node)


def _pattern_columns(part: E, variables: set[str]) -> E:
    for column in list(part.find_all(exp.Column)):
        names = column.parts
        qualified = len(names) > 1 and names[0].name in variables
        rest = names[1:] if qualified else names
        inner: exp.Expr = PatternColumn(this=exp.Column(this=rest[0].copy()), variable=names[0].copy() if qualified else None)
        for name in rest[1:]:
            inner = exp.Dot(this=inner, expression=name.copy())
        if column is part:
            return inner  # type: ignore[return-value]
        column.replace(inner)
    return part


_RELATIONS: dict[type[exp.Expr], Callable[[exp.Expr], exp.Expr]] = {ast.TableFunction: _function, ast.MatchRecognize: _match, exp.Table: _table}
