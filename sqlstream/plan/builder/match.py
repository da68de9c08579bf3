"""MATCH_RECOGNIZE: conditions and measures are expressions over values of a match, which the operator provides as columns.

FROM t MATCH_RECOGNIZE (.. MEASURES B.x - LAST(A.x) AS d ..)      Project(k, $m0 - $m1 AS d)
                                                             ->   +- Match(.., measures=[LAST(B.x, 0) AS $m0, LAST(A.x, 0) AS $m1])
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.core.errors import NotSupported, ValidationError, did_you_mean
from sqlstream.plan import make
from sqlstream.plan.builder import row_pattern
from sqlstream.plan.nodes import Match, MatchValue, Named, PatternVariable, Project, RowsValue, RowValue, Skip, SortKey, TimeAttribute
from sqlstream.plan.properties import fields
from sqlstream.plan.rules.each_node import resolved
from sqlstream.plan.time_attributes import why_none
from sqlstream.sql.bind import Scope, ScopeColumn, bind
from sqlstream.sql.expressions import AggregateCall, Call, ColumnRef, Expr, Literal
from sqlstream.sql.functions.base import Function
from sqlstream.sql.generated_names import generated
from sqlstream.sql.keys import require_key
from sqlstream.sql.literals import interval_millis
from sqlstream.sql.names import repeated
from sqlstream.sql.sqlglot.dialect import flink_sql
from sqlstream.sql.syntax.calls import call_name, calls, is_called
from sqlstream.sql.syntax.clauses import is_descending, nulls_first, order_of, partition_of

if TYPE_CHECKING:
    from sqlstream.plan.builder.scope import Environment
    from sqlstream.plan.nodes import Node
    from sqlstream.sql.syntax import ast

_ANY = "*"
_TIME = generated("match_time")
_PHYSICAL = ("PREV", "NEXT")


def _row_of(name: str, summary: str) -> Function:
    return Function(name, ("any", "integer?"), lambda types: types[0].null(), "", summary)


_ROWS = (_row_of("FIRST", "The value at a row of a variable, counted from its first."), _row_of("LAST", "The same, counted from its last."))


def match(node: ast.MatchRecognize, source: Node, env: Environment) -> Node:
    """The matches of ``node`` in the rows of ``source``. Raises ValidationError, NotSupported."""
    return _Builder(node, source, env).build()


@dataclass
class _Values:
    """The values of a match that expressions read, each once. Their names begin with ``prefix``."""

    prefix: str
    by_key: dict[object, MatchValue] = field(default_factory=dict)

    def row(self, variable: str | None, last: bool, offset: int, column: ColumnRef) -> ColumnRef:
        """The column that holds the value of ``column`` at a row of the variable."""
        key = (variable, last, offset, column.name)
        made = self.by_key.setdefault(key, RowValue(self._name(), variable, last, offset, column))
        return ColumnRef(column.type.null(), made.name)

    def rows(self, variable: str | None, call: AggregateCall) -> ColumnRef:
        """The column that holds the result of an aggregate."""
        made = self.by_key.setdefault((variable, call), RowsValue(self._name(), variable, call))
        return ColumnRef(call.type, made.name)

    def _name(self) -> str:
        return f"{self.prefix}{len(self.by_key)}"


class _Builder:
    """Builds one Match."""

    def __init__(self, node: ast.MatchRecognize, source: Node, env: Environment) -> None:
        self.node, self.source, self.env = node, source, env
        self.columns = {f.name: f for f in fields(resolved(source))}

    def build(self) -> Node:
        self._refuse_python()
        partition = tuple(self._partition(item) for item in partition_of(self.node))
        order = self._order()
        pattern = self._pattern()
        self.time = self.columns[order[0].name]
        self.variables = [v.name for v in pattern]
        defined = [d.alias for d in self.node.define]
        if (twice := repeated(defined)) is not None:
            at = [d for d in self.node.define if d.alias == twice][1]
            raise ValidationError(f"Pattern variable '{twice}' has already been defined", at=at)
        self.scope = self._scope([*self.variables, *defined])
        conditions = _Values(generated("d"))
        define = self._define(conditions)
        values = _Values(generated("m"))
        measures = [Named(m.alias, self._measure(m.this, values)) for m in self.node.measures]
        names = [*partition, *(m.name for m in measures)]
        ambiguous = [name for name, times in Counter(names).items() if times > 1]
        if ambiguous or not names:
            raise ValidationError(f"Columns ambiguously defined: {{{', '.join(ambiguous)}}}", at=self.node)
        skip = Skip(self.node.after or "TO NEXT ROW") if self.node.after != "TO" else Skip.TO_LAST
        target = self.node.after_variable
        if target is not None and target.name not in self.variables:
            raise ValidationError(f"Unknown pattern '{target.name}'", at=target, hint=did_you_mean(target.name, self.variables))
        matched = Match(
            self.source, partition, order, pattern, define, tuple(conditions.by_key.values()), tuple(values.by_key.values()), skip,
            None if target is None else target.name, self._within(), _TIME,
        )  # fmt: skip
        return Project(matched, (*(Named(k, make.ref(self.columns[k])) for k in partition), *measures))

    def _refuse_python(self) -> None:
        for part in (*self.node.define, *self.node.measures):
            for call in calls(part):
                if call_name(call) in self.env.settings.functions:
                    problem = "Python Function can not be used in MATCH_RECOGNIZE for now."
                    raise NotSupported(problem, at=call, hint="Call it in a sub-query, below the pattern or around it.")

    def _partition(self, item: exp.Expr) -> str:
        if not isinstance(item, exp.Column):
            raise NotSupported("PARTITION BY of MATCH_RECOGNIZE takes columns.", at=item, hint="Compute the expression in a sub-query.")
        return self._key(item, "PARTITION BY")

    def _key(self, item: exp.Column, clause: str) -> str:
        name = self._column(item)
        require_key(self.columns[name].type, item, clause)
        return name

    def _column(self, item: exp.Column) -> str:
        if item.name not in self.columns or item.table not in ("", getattr(self.node.this, "alias_or_name", "")):
            raise ValidationError(f"Column '{item.name}' not found in any table", at=item, hint=did_you_mean(item.name, self.columns))
        return str(item.name)

    def _order(self) -> tuple[SortKey, ...]:
        clause = order_of(self.node)
        if clause is None:
            hint = "ORDER BY a column with WATERMARK FOR, behind PARTITION BY."
            raise ValidationError("You must specify either rowtime or proctime for order by.", at=self.node, hint=hint)
        keys = []
        for item in clause.expressions:
            if not isinstance(item.this, exp.Column):
                raise NotSupported("ORDER BY of MATCH_RECOGNIZE takes columns.", at=item, hint="Compute the expression in a sub-query.")
            keys.append(SortKey(self._key(item.this, "ORDER BY"), is_descending(item), nulls_first(item)))
        first = self.columns[keys[0].name]
        at = clause.expressions[0]
        if first.time is TimeAttribute.PROCTIME:
            raise NotSupported("MATCH_RECOGNIZE in the order of processing time is not supported.", at=at, hint="Order by a rowtime attribute.")
        if self.env.settings.batch and not first.type.is_timestamp:
            raise ValidationError("You must specify time point for order by as the first one.", at=at, hint="ORDER BY a TIMESTAMP column first.")
        if not self.env.settings.batch and first.time is None:
            raise ValidationError(
                "You must specify either rowtime or proctime for order by as the first one.", at=at, hint=why_none(self.source, first.name)
            )
        if keys[0].descending:
            hint = "Leave out DESC. PATTERN lists what comes first at its left."
            raise ValidationError("Primary sort order of a streaming table must be ascending on time.", at=at, hint=hint)
        return tuple(keys)

    def _pattern(self) -> tuple[PatternVariable, ...]:
        variables = []
        for item in self.node.args["pattern"]:
            low, high = item.low, item.high
            # As Flink has it, an optional variable is none that takes all it can: both ways are gone.
            greedy = not item.reluctant and low != high and (low, high) != (0, 1)
            variables.append(PatternVariable(item.name, low, high, greedy))
        pattern = tuple(variables)
        row_pattern.refuse(pattern, self.node.args["pattern"][-1])
        return pattern

    def _within(self) -> int:
        clause = self.node.within
        if clause is None:
            return 0
        millis = interval_millis(clause)
        if millis is None:
            raise ValidationError("Only constant intervals with millisecond resolution are supported as time constraints of patterns.", at=clause)
        return millis

    def _scope(self, variables: list[str]) -> Scope:
        """The columns of each variable's rows as ``A.x``, and of any row as ``x``; bound, they are called ``A.x`` and ``*.x``."""
        qualified = [
            ScopeColumn(v, n, ColumnRef(f.type.null(), f"{v}.{n}"), qualified=True) for v in dict.fromkeys(variables) for n, f in self.columns.items()
        ]
        bare = [ScopeColumn(None, n, ColumnRef(f.type.null(), f"{_ANY}.{n}")) for n, f in self.columns.items()]
        times = (
            Function("MATCH_ROWTIME", ("any?",), lambda _: self.time.type.not_null(), "", "The time of a match's last row."),
            Function("MATCH_PROCTIME", (), lambda _: make.builtin("PROCTIME").returns(()), "", "The time at which a match is given."),
        )
        settings, functions = self.env.settings, {f.name: f for f in (*_ROWS, *times)}
        return Scope((*bare, *qualified), zone=settings.zone, functions=functions, database=settings.database)

    def _define(self, values: _Values) -> tuple[tuple[str, Expr], ...]:
        conditions_by_name: dict[str, Expr] = {}
        for item in self.node.define:
            if item.alias in conditions_by_name:
                raise ValidationError(f"Pattern variable '{item.alias}' has already been defined", at=item)
            condition = self._bound(item.this)
            if condition.type.root not in ("BOOLEAN", "NULL"):
                raise ValidationError("DEFINE clause must be a condition", at=item.this)
            conditions_by_name[item.alias] = self._over(condition, values, item.alias, item.this)
        return tuple((name, condition) for name, condition in conditions_by_name.items() if name in self.variables)

    def _measure(self, item: exp.Expr, values: _Values) -> Expr:
        return self._over(self._bound(item), values, None, item)

    def _bound(self, item: exp.Expr) -> Expr:
        for call in calls(item):
            if call_name(call).upper() in _PHYSICAL:
                raise ValidationError("Flink does not support physical offsets within partition.", at=call, hint="LAST(A.x, 1) counts rows of A.")
            if is_called(call, "CLASSIFIER"):
                raise ValidationError("Unsupported call: CLASSIFIER()", at=call)
        if any(isinstance(e, exp.Select | exp.Window) for e in item.walk()):
            raise NotSupported(
                "Sub-queries and OVER are not supported in MATCH_RECOGNIZE.",
                at=item,
                hint="Compute it as a column of the query that MATCH_RECOGNIZE reads.",
            )
        return bind(item, self.scope)

    def _over(self, expr: Expr, values: _Values, variable: str | None, at: exp.Expr) -> Expr:
        """``expr`` over values of a match, and in the definition of a ``variable`` over the columns of the row itself."""

        def replaced(e: Expr) -> Expr | None:
            match e:
                case AggregateCall():
                    return self._aggregate(e, values, at)
                case Call(function=function) if function in _ROWS:
                    return self._navigated(e, values, variable, at)
                case Call(function=function) if function.name == "MATCH_ROWTIME":
                    return self._rowtime(e, variable, at)
                case Call(function=function) if function.name == "MATCH_PROCTIME":
                    if variable is not None:
                        raise NotSupported("MATCH_PROCTIME() in DEFINE is not supported.", at=at, hint="Compare the time attribute of the rows.")
                    return Call(e.type, make.builtin("PROCTIME"), ())
                case ColumnRef():
                    return self._value(e, values, variable)
            return None

        return expr.transform(replaced)

    def _value(self, ref: ColumnRef, values: _Values, variable: str | None, *, last: bool = True, offset: int = 0) -> Expr:
        owner, _, name = ref.name.partition(".")
        column = make.ref(self.columns[name])
        if variable is not None and owner in (variable, _ANY) and last and offset == 0:
            return column
        return values.row(None if owner == _ANY else owner, last, offset, column)

    def _navigated(self, call: Call, values: _Values, variable: str | None, at: exp.Expr) -> Expr:
        """FIRST(e, n), LAST(e, n): ``e`` over the values at a row of its variable."""
        inner, *rest = call.args
        offset = rest[0] if rest else make.number(0)
        if not isinstance(offset, Literal) or offset.value < 0:
            raise ValidationError(f"{call.function.name} takes a constant number of rows.", at=at)
        if any(isinstance(e, Call) and e.function in _ROWS for e in inner.walk()):
            raise ValidationError("Cannot nest FIRST/LAST under LAST/FIRST", at=at)
        self._single(inner, at)
        last = call.function.name == "LAST"
        return inner.transform(lambda e: self._value(e, values, variable, last=last, offset=offset.value) if isinstance(e, ColumnRef) else None)

    def _single(self, expr: Expr, at: exp.Expr) -> str | None:
        """The one variable whose columns ``expr`` reads: ``*`` for any; None without columns."""
        owners = {name.partition(".")[0] for name in make.columns(expr)}
        if len(owners) > 1:
            raise ValidationError(f"Multiple pattern variables in '{flink_sql(at)}'", at=at)
        return owners.pop() if owners else None

    def _aggregate(self, call: AggregateCall, values: _Values, at: exp.Expr) -> Expr:
        if call.distinct:
            raise ValidationError(f"DISTINCT/ALL not allowed with {call.function.name}(DISTINCT ..) function", at=at)
        if call.filter is not None:
            raise ValidationError("Unsupported call: FILTER", at=at)
        if any(isinstance(e, Call) and e.function in _ROWS for a in call.args for e in a.walk()):
            raise NotSupported(
                "FIRST and LAST inside of an aggregate are not supported.", at=at, hint="Aggregate a column: a variable stands for all of its rows."
            )
        owner = self._single(call, at) if call.args else _ANY
        if owner is None:
            raise ValidationError("No pattern variable specified in aggregate", at=at)
        plain = call.transform(lambda e: make.ref(self.columns[e.name.partition(".")[2]]) if isinstance(e, ColumnRef) else None)
        assert isinstance(plain, AggregateCall)
        return values.rows(None if owner == _ANY else owner, plain)

    def _rowtime(self, call: Call, variable: str | None, at: exp.Expr) -> Expr:
        for argument in call.args:
            name = argument.name.partition(".")[2] if isinstance(argument, ColumnRef) else None
            if name is None or (self.columns[name].time is not TimeAttribute.ROWTIME and not self.env.settings.batch):
                raise ValidationError(
                    f"The function MATCH_ROWTIME requires argument to be a row time attribute type, but is '{argument.type}'.", at=at
                )
        return ColumnRef(call.type, _TIME if variable is None else self.time.name)
