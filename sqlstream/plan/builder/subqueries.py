"""Sub-queries: as items of FROM (LATERAL), and as values in expressions.

SELECT id, (SELECT COUNT(*) FROM b WHERE b.k = a.k) FROM a    ->    Project(id, CASE WHEN $q0c0 IS NULL THEN 0 ELSE $q0 END)
                                                                    +- Join(LEFT, k = $q0c0)
                                                                       +- a
                                                                       +- GroupAggregate(keys=[$q0c0], COUNT(*) AS $q0)

The value of IN and EXISTS is whether the row found a partner among the distinct rows of the sub-query.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.plan import make
from sqlstream.plan.builder.decorrelate import Decorrelated, aggregate_calls, decorrelated, over_calls, reading, whole_call
from sqlstream.plan.nodes import GroupAggregate, Join, JoinKind, Limit, Named, NamedAggregate, Node, OneByOne, Project
from sqlstream.plan.places import clause_of, placed
from sqlstream.plan.properties import fields
from sqlstream.sql.bind import Scope, ScopeColumn, bind, equal
from sqlstream.sql.expressions import AggregateCall, Expr, OverCall
from sqlstream.sql.functions.aggregates import SINGLE_VALUE
from sqlstream.sql.generated_names import generated
from sqlstream.sql.syntax.clauses import branches, group_of, having_of, limit_of, offset_of, query_of, unwrapped
from sqlstream.sql.types import BIGINT

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlstream.plan.builder.relations import Query
    from sqlstream.plan.builder.scope import Environment

# The parts of a SELECT without FROM.
_LIST = {"expressions", "distinct"}
SAME_NUMBER = "Select as many columns as stand at the left of IN."
# What qualifies columns that stand for sub-queries.
QUALIFIER = generated("query")


def is_sub_query(node: exp.Expr) -> bool:
    """Whether ``node`` itself is a sub-query in an expression."""
    return isinstance(node, exp.Subquery | exp.Select | exp.Exists) or (isinstance(node, exp.In) and query_of(node) is not None)


@dataclass
class SubQueries:
    """The sub-queries of a clause's expressions: each becomes a column ``$q..`` of a join with what the clause reads.

    ``scope`` is that of the clause, over the rows of ``node``; ``inside_of`` returns the scope of a SELECT's own FROM. ``replaced`` collects
    sub-queries, ``columns`` are their columns, ``apply`` joins them.
    """

    node: Node
    scope: Scope
    env: Environment
    build: Query
    inside_of: Callable[[exp.Select], Scope]
    columns: list[ScopeColumn] = field(default_factory=list)
    joins: list[tuple[Node, Expr | None]] = field(default_factory=list)

    def replaced(self, node: exp.Expr, *, condition: bool = False) -> exp.Expr:
        """``node`` with columns in the place of its sub-queries. In a ``condition`` NULL is as good as FALSE."""
        if not any(is_sub_query(n) for n in node.walk()):
            return node
        whole = node.copy()
        lenient = {id(n) for n in _conditions(whole, condition)}
        return whole.transform(lambda n: self._column(n, lenient=id(n) in lenient) if is_sub_query(n) else n, copy=False)

    def aggregated(self, select: exp.Select) -> exp.Select:
        """``select`` with columns in the place of the sub-queries in keys of GROUP BY and in what aggregates read."""
        if not any(is_sub_query(n) for place in _grouped(select) for n in place.walk()):
            return select
        made = select.copy()
        written = {key: self.replaced(key) for key in _keys(group_of(made)) if any(map(is_sub_query, key.walk()))}
        if written:
            for node in [n for place in _grouped(made) for n in place.walk() if n.find_ancestor(exp.Select) is made and n in written]:
                node.replace(written[node].copy())
        for call in [whole_call(call) for place in _grouped(made) for call in aggregate_calls(place, self.scope)]:
            call.replace(self.replaced(call))
        return made

    @property
    def inner(self) -> Scope:
        """The clause's scope with the new columns."""
        return replace(self.scope, columns=(*self.scope.columns, *self.columns))

    @property
    def conditions(self) -> list[Expr]:
        """Those by which the new columns are joined."""
        return [condition for _, condition in self.joins if condition is not None]

    def apply(self, node: Node, above: Callable[[Expr], Expr | None] = lambda expr: None) -> Node:
        """``node`` with the new columns after its own; ``above`` gives its column for what it has computed."""
        for right, condition in self.joins:
            clause = clause_of(right)
            node = Join(node, placed(right, clause), JoinKind.LEFT, None if condition is None else condition.transform(above), at=clause)
        return node

    # --- each kind ----------------------------------------------------------------------------------------------------

    def _column(self, node: exp.Expr, *, lenient: bool) -> exp.Expr:
        with reading(self.scope):
            if isinstance(node, exp.In):
                return self._in(node, lenient=lenient)
            return self._exists(node) if isinstance(node, exp.Exists) else self._scalar(node)

    def _scalar(self, node: exp.Expr) -> exp.Expr:
        if (value := self._of_the_row(node)) is not None:
            return exp.Paren(this=self.replaced(value))
        split = self._decorrelated(node)
        built = self.build(split.query, split.environment(self.env))
        width = len(fields(built)) - len(split.keys)
        if width != 1:
            raise ValidationError("Cannot apply '$SCALAR_QUERY' to a sub-query of several columns", at=node, hint="A value has one column.")
        prefix = self._prefix()
        names = [prefix, *(f"{prefix}c{i}" for i in range(len(split.keys)))]
        right = _named(built, names)
        if not (split.scalar or _one_row(built)):
            only = fields(right)[0]
            call = AggregateCall(only.type.null(), SINGLE_VALUE, (make.ref(only),))
            grouped = GroupAggregate(right, tuple(names[1:]), (NamedAggregate(prefix, call),))
            right = _named(grouped, [*names[1:], prefix], order=names)
        self._join(right, split, names[1:], [])
        value = _column(prefix)
        empty = split.of_no_rows(0)
        return value if empty is None else _case(_null(_column(names[1])), empty, value)

    def _of_the_row(self, query: exp.Expr) -> exp.Expr | None:
        """The only item that ``query`` selects, where it has no FROM: it is computed from the outer row."""
        select = unwrapped(query)
        if not isinstance(select, exp.Select) or len(select.expressions) != 1 or any(v for k, v in select.args.items() if k not in _LIST):
            return None
        (item,) = select.expressions
        return None if item.is_star or aggregate_calls(item, self.scope) or any(over_calls([item])) else item.unalias()

    def _exists(self, node: exp.Exists) -> exp.Expr:
        if (value := self._of_the_row(node.this)) is not None:
            bind(self.replaced(value), self.inner)
            return exp.true()
        split = self._decorrelated(_without_star(node.this))
        built = self.build(split.query, split.environment(self.env))
        if split.scalar:
            refuse_of_no_rows(split, node)
            return exp.true()
        prefix = self._prefix()
        keys = fields(built)[len(fields(built)) - len(split.keys) :]
        names = [f"{prefix}c{i}" for i in range(len(keys))]
        right = _distinct(Project(built, (Named(prefix, make.true()), *(Named(n, make.ref(k)) for n, k in zip(names, keys, strict=True)))))
        self._join(right, split, names, [])
        return _not_null(prefix)

    def _in(self, node: exp.In, *, lenient: bool) -> exp.Expr:
        asked = query_of(node)
        assert asked is not None
        split = self._decorrelated(asked)
        built = self.build(split.query, split.environment(self.env))
        compared = node.this.expressions if isinstance(node.this, exp.Tuple) else [node.this]
        if len(fields(built)) - len(split.keys) != len(compared):
            raise ValidationError("The sub-query of IN has a different number of columns.", at=node, hint=SAME_NUMBER)
        compared = [self.replaced(value) for value in compared]
        prefix = self._prefix()
        names = [*(f"{prefix}v{i}" for i in range(len(compared))), *(f"{prefix}c{i}" for i in range(len(split.keys)))]
        rows = _named(built, names)
        right = _distinct(Project(rows, (Named(prefix, make.true()), *(Named(f.name, make.ref(f)) for f in fields(rows)))))
        values = [bind(a, self.inner) for a in compared]
        if any(isinstance(e, OverCall) for value in values for e in value.walk()):
            raise NotSupported("IN with a sub-query can't be asked of a call of OVER.", at=node, hint="Call it in a sub-query of FROM.")
        by_name = {f.name: make.ref(f) for f in fields(right)}
        pairs = [equal(value, by_name[name], node) for value, name in zip(values, names, strict=False)]
        self._join(right, split, names[len(compared) :], pairs)
        known = _not_null(prefix)
        if lenient or not any(p.type.nullable for p in pairs):
            return known
        if len(compared) > 1:
            hint = "IN is in WHERE, alone or within AND and OR, and NOT IN within AND."
            raise NotSupported("IN as a value is not supported for several columns where NULLs are possible.", at=node, hint=hint)
        total, present = f"{prefix}n", f"{prefix}p"
        count = make.builtin("COUNT")
        value = make.ref(fields(rows)[0])
        counts = tuple(NamedAggregate(n, AggregateCall(BIGINT.not_null(), count, args)) for n, args in ((total, ()), (present, (value,))))
        counted = GroupAggregate(rows, tuple(names[1:]), counts)
        keys = [f"{prefix}k{i}" for i in range(len(split.keys))]
        self._join(_named(counted, [*keys, total, present]) if keys else counted, split, keys, [])
        nothing = exp.Or(this=_null(_column(total)), expression=exp.EQ(this=_column(total), expression=exp.Literal.number(0)))
        unknown = exp.Or(this=_null(compared[0].copy()), expression=exp.LT(this=_column(present), expression=_column(total)))
        return _case(nothing, exp.false(), known, exp.true(), unknown, exp.Null(), exp.false())

    def _decorrelated(self, node: exp.Expr) -> Decorrelated:
        # A row has one partner at most.
        return decorrelated(node, self.inside_of, self.scope, self.node, by_keys=True)

    def _prefix(self) -> str:
        used = {c.ref.name for c in (*self.scope.columns, *self.columns)}
        return next(name for i in range(len(used) + 1) if (name := generated(f"q{i}")) not in used)

    def _join(self, right: Node, split: Decorrelated, keys: list[str], conditions: list[Expr]) -> None:
        by_name = {f.name: make.ref(f) for f in fields(right)}
        correlated = split.asked([by_name[key] for key in keys], self.scope)
        self.columns += [ScopeColumn(QUALIFIER, f.name, replace(make.ref(f), type=f.type.null())) for f in fields(right)]
        self.joins.append((right, make.all_of([*conditions, *correlated])))


def refuse_of_no_rows(split: Decorrelated, at: exp.Expr) -> None:
    """Raises NotSupported where an aggregate without GROUP BY in EXISTS may have no row: it has one for each outer row else."""
    if split.select is not None and (having_of(split.select) or limit_of(split.select) or offset_of(split.select)):
        problem = "EXISTS of an aggregate without GROUP BY that has HAVING or LIMIT is not supported."
        raise NotSupported(problem, at=at, hint="Compare the aggregate: (SELECT COUNT(*) ..) > 1.")


def _conditions(node: exp.Expr, condition: bool) -> list[exp.Expr]:
    """The parts of ``node`` for which NULL is as good as FALSE."""
    parts = []
    if condition:
        parts = [node]
        for part in parts:
            if isinstance(part, exp.And | exp.Or | exp.Paren):
                parts += [p for p in (part.this, part.args.get("expression")) if p is not None]
    for case in node.find_all(exp.Case):
        if case.args.get("this") is None:
            parts += [p for branch in branches(case) for p in _conditions(branch.this, True)]
    return parts


def _grouped(select: exp.Select) -> list[exp.Expr]:
    """The parts of ``select`` that name keys of groups and call aggregates."""
    return [*select.expressions, *filter(None, [group_of(select), having_of(select)])]


def _keys(group: exp.Expr | None) -> list[exp.Expr]:
    """The expressions by which ``group`` groups."""
    if isinstance(group, exp.Group | exp.GroupingSets | exp.Rollup | exp.Cube | exp.Tuple):
        return [key for item in group.expressions for key in _keys(item)]
    return _keys(group.this) if isinstance(group, exp.Paren) else [group] if group is not None else []


def _without_star(query: exp.Expr) -> exp.Expr:
    """``query`` of EXISTS, for which it does not matter what is selected."""
    made = query.copy()
    select = made.unnest()
    if isinstance(select, exp.Select):
        select.set("expressions", [exp.Literal.number(1) if isinstance(item, exp.Star) else item for item in select.expressions])
    return made


def _named(node: Node, names: list[str], order: list[str] | None = None) -> Node:
    """``node`` with its columns called ``names``, in ``order``."""
    columns = {name: Named(name, make.ref(f)) for name, f in zip(names, fields(node), strict=True)}
    return Project(node, tuple(columns[name] for name in order or names))


def _distinct(node: Node) -> Node:
    return GroupAggregate(node, tuple(f.name for f in fields(node)), ())


def _one_row(node: Node) -> bool:
    """Whether ``node`` emits one row at most."""
    match node:
        case GroupAggregate(keys=keys):
            return not keys
        case Limit(count=count):
            return count in (0, 1)
        case OneByOne(input=source):
            return _one_row(source)
    return False


def _not_null(name: str) -> exp.Expr:
    return exp.Not(this=_null(_column(name)))


def _column(name: str) -> exp.Column:
    return exp.column(name, table=QUALIFIER)


def _null(node: exp.Expr) -> exp.Is:
    return exp.Is(this=node, expression=exp.Null())


def _case(*cells: exp.Expr) -> exp.Case:
    ifs = [exp.If(this=c, true=v) for c, v in zip(cells[:-1:2], cells[1::2], strict=True)]
    return exp.Case(ifs=ifs, default=cells[-1])
