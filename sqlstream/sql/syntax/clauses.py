"""The clauses of sqlglot's own nodes, with their types; those of our nodes are attributes (``ast``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from sqlglot import exp

if TYPE_CHECKING:
    from sqlstream.sql.syntax.ast import OptionsHint

E = TypeVar("E", bound=exp.Expr)


def _clause(node: exp.Expr, key: str, kind: type[E]) -> E | None:
    clause = node.args.get(key)
    assert clause is None or isinstance(clause, kind), (key, clause)
    return clause


def own_parts(node: exp.Expr, *kinds: type[E]) -> list[E]:
    """The parts of ``node`` that are of ``kinds``, except those in its own sub-queries."""
    around = node.find_ancestor(exp.Select)
    return [part for part in node.find_all(*kinds) if part.find_ancestor(exp.Select) is around]


def with_of(query: exp.Expr) -> exp.With | None:
    return _clause(query, "with_", exp.With)


def ctes(query: exp.Expr) -> list[exp.CTE]:
    """The queries of WITH."""
    clause = with_of(query)
    return clause.expressions if clause is not None else []


def hint_of(select: exp.Expr) -> exp.Hint | None:
    """The hints behind SELECT."""
    return _clause(select, "hint", exp.Hint)


def hints_of(node: exp.Expr) -> list[OptionsHint]:
    """The hints of a table or an INSERT."""
    return node.args.get("hints") or []


def is_distinct(node: exp.Expr) -> bool:
    """SELECT DISTINCT; a set operation without ALL."""
    return bool(node.args.get("distinct"))


def from_of(select: exp.Expr) -> exp.From | None:
    return _clause(select, "from_", exp.From)


def joins_of(node: exp.Expr) -> list[exp.Join]:
    """The joins of a SELECT, or of joined tables in parentheses."""
    return node.args.get("joins") or []


def items_of(select: exp.Expr) -> list[exp.Expr]:
    """What stands in FROM."""
    clause = from_of(select)
    return [] if clause is None else [clause.this, *(join.this for join in joins_of(select))]


def on_of(join: exp.Join) -> exp.Expr | None:
    return _clause(join, "on", exp.Expr)


def using_of(join: exp.Join) -> list[exp.Identifier]:
    return join.args.get("using") or []


def where_of(select: exp.Expr) -> exp.Where | None:
    return _clause(select, "where", exp.Where)


def group_of(select: exp.Expr) -> exp.Group | None:
    return _clause(select, "group", exp.Group)


def having_of(select: exp.Expr) -> exp.Having | None:
    return _clause(select, "having", exp.Having)


def qualify_of(select: exp.Expr) -> exp.Qualify | None:
    return _clause(select, "qualify", exp.Qualify)


def windows_of(select: exp.Expr) -> list[exp.Window]:
    """The WINDOW clause."""
    return select.args.get("windows") or []


def order_of(node: exp.Expr) -> exp.Order | None:
    """ORDER BY of a query, a window, a pattern."""
    return _clause(node, "order", exp.Order)


def limit_of(query: exp.Expr) -> exp.Limit | exp.Fetch | None:
    limit = query.args.get("limit")
    assert limit is None or isinstance(limit, exp.Limit | exp.Fetch)
    return limit


def limit_count(clause: exp.Expr) -> exp.Expr:
    """The number of LIMIT, FETCH or OFFSET."""
    count = clause.args.get("expression") or clause.args.get("count")
    assert isinstance(count, exp.Expr)
    return count


def offset_of(query: exp.Expr) -> exp.Offset | None:
    return _clause(query, "offset", exp.Offset)


def is_modified(query: exp.Expr) -> bool:
    """Whether it has an ORDER BY, LIMIT, OFFSET or WITH."""
    return any(query.args.get(key) for key in ("order", "limit", "offset", "with_"))


def unwrapped(query: exp.Expr) -> exp.Expr:
    """``query`` without the parentheses that add nothing to it."""
    while isinstance(query, exp.Subquery) and not is_modified(query):
        query = query.this
    return query


def is_descending(item: exp.Expr) -> bool:
    return bool(item.args.get("desc"))


def nulls_first(item: exp.Expr) -> bool:
    return bool(item.args.get("nulls_first"))


def alias_of(node: exp.Expr) -> exp.TableAlias | None:
    """The alias of what stands in FROM."""
    return _clause(node, "alias", exp.TableAlias)


def window_name(window: exp.Expr) -> exp.Identifier | None:
    """The window of the WINDOW clause that ``window`` names."""
    return _clause(window, "alias", exp.Identifier)


def version_of(table: exp.Expr) -> exp.Version | None:
    """FOR SYSTEM_TIME AS OF."""
    return _clause(table, "system_time", exp.Version)


def query_of(test: exp.Expr) -> exp.Expr | None:
    """The query of IN."""
    return _clause(test, "query", exp.Expr)


def branches(case: exp.Expr) -> list[exp.If]:
    """The WHEN .. THEN of a CASE."""
    return case.args["ifs"]  # type: ignore[no-any-return]


def default_of(case: exp.Expr) -> exp.Expr | None:
    """The ELSE of a CASE."""
    return _clause(case, "default", exp.Expr)


def value_of(branch: exp.Expr) -> exp.Expr:
    """What stands behind THEN."""
    value = branch.args["true"]
    assert isinstance(value, exp.Expr)
    return value


def bounds_of(between: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    low, high = between.args["low"], between.args["high"]
    return low, high


def is_symmetric(between: exp.Expr) -> bool:
    return bool(between.args.get("symmetric"))


def is_negated(node: exp.Expr) -> bool:
    return bool(node.args.get("negate"))


def partition_of(window: exp.Expr) -> list[exp.Expr]:
    """PARTITION BY of a window."""
    return window.args.get("partition_by") or []


def has_ordinality(unnest: exp.Expr) -> bool:
    return bool(unnest.args.get("offset"))
