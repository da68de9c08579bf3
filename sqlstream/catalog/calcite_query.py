"""Queries as Calcite writes them: what SHOW CREATE VIEW prints. A clause a line; expressions as in ``calcite``."""

from __future__ import annotations

from sqlglot import exp

from sqlstream.catalog import calcite
from sqlstream.sql.quoting import quote

_SET_OPERATIONS: dict[type[exp.Expr], str] = {exp.Union: "UNION", exp.Except: "EXCEPT", exp.Intersect: "INTERSECT"}


def expression_text(node: exp.Expr) -> str:
    """An expression in Calcite's form."""
    return calcite.expression_text(node)  # type: ignore[arg-type]


def query_text(node: exp.Expr) -> str:
    """``node``, a query, in Calcite's form."""
    text = _bare(node)
    if clause := node.args.get("with_"):
        text = f"WITH {', '.join(_cte(c) for c in clause.expressions)} {text}"
    if order := node.args.get("order"):
        text += f"\nORDER BY {', '.join(_ordered(o) for o in order.expressions)}"
    if offset := node.args.get("offset"):
        text += f"\nOFFSET {expression_text(offset.expression)} ROWS"
    if limit := node.args.get("limit"):
        text += f"\nFETCH NEXT {expression_text(limit.args.get('expression') or limit.args['count'])} ROWS ONLY"
    return text


def _bare(node: exp.Expr) -> str:
    match node:
        case exp.Select():
            return _select(node)
        case exp.SetOperation():
            word = _SET_OPERATIONS[type(node)] + ("" if node.args.get("distinct") else " ALL")
            return f"{query_text(node.this)}\n{word}\n{query_text(node.expression)}"
        case exp.Subquery():
            return f"({query_text(node.this)})"
        case exp.Values():
            return "VALUES " + ",\n".join(f"ROW({', '.join(expression_text(cell) for cell in row.expressions)})" for row in node.expressions)
    return node.sql(dialect="flink", identify=True)


def _cte(node: exp.CTE) -> str:
    alias = node.args["alias"]
    return f"{quote(alias.name)}{_columns(alias)} AS ({query_text(node.this)})"


def _columns(alias: exp.TableAlias) -> str:
    return f" ({', '.join(quote(c.name) for c in alias.columns)})" if alias.columns else ""


def _ordered(node: exp.Expr) -> str:
    descending = bool(node.args.get("desc"))
    nulls = node.args.get("nulls_first")
    told = "" if nulls is None or bool(nulls) is not descending else f" NULLS {'FIRST' if nulls else 'LAST'}"
    return f"{expression_text(node.this)}{' DESC' if descending else ''}{told}"


def _item(node: exp.Expr) -> str:
    if isinstance(node, exp.Alias):
        return f"{_value(node.this)} AS {quote(node.alias)}"
    return _value(node)


def _value(node: exp.Expr) -> str:
    return query_text(node) if isinstance(node, exp.Query) else expression_text(node)


def _select(node: exp.Select) -> str:
    distinct = "DISTINCT " if node.args.get("distinct") else ""
    lines = [f"SELECT {distinct}{', '.join(_item(e) for e in node.expressions)}"]
    if clause := node.args.get("from_"):
        lines.append("FROM " + _source(clause.this) + "".join(_join(j) for j in node.args.get("joins") or []))
    if where := node.args.get("where"):
        lines.append(f"WHERE {_value(where.this)}")
    if group := node.args.get("group"):
        lines.append(f"GROUP BY {', '.join(expression_text(e) for e in group.expressions)}")
    if having := node.args.get("having"):
        lines.append(f"HAVING {_value(having.this)}")
    if windows := node.args.get("windows"):
        lines.append("WINDOW " + ", ".join(w.sql(dialect="flink", identify=True).replace(" OVER (", " AS (", 1) for w in windows))
    return "\n".join(lines)


def _join(node: exp.Join) -> str:
    if not node.args.get("on") and not node.args.get("using") and not any(node.args.get(k) for k in ("method", "side", "kind")):
        return f",\n{_source(node.this)}"
    words = [str(node.args[k]) for k in ("method", "side", "kind") if node.args.get(k)]
    word = " ".join(words or ["INNER"])
    on = node.args.get("on")
    using = ", ".join(quote(c.name) for c in node.args.get("using") or [])
    condition = f" ON {_value(on)}" if on is not None else f" USING ({using})" if using else ""
    return f"\n{word} JOIN {_source(node.this)}{condition}"


def _source(node: exp.Expr) -> str:
    """An item of FROM."""
    alias = node.args.get("alias")
    inner = node.this if isinstance(node, exp.Subquery) else None
    if isinstance(inner, exp.Table | exp.Subquery) and inner.args.get("joins"):
        first = inner.copy()
        first.set("joins", None)
        return f"({_source(first)}{''.join(_join(j) for j in inner.args['joins'])})"
    if inner is not None and alias is not None:
        return f"({query_text(inner)}) AS {quote(alias.name)}{_columns(alias)}"
    if inner is not None:
        return f"({query_text(inner)})"
    if isinstance(node, exp.Lateral):
        bare = node.this.copy()
        bare.set("alias", alias)
        return f"LATERAL {_source(bare)}"
    if isinstance(node, exp.Values):
        return f"({_bare(node)})" + (f" AS {quote(alias.name)}{_columns(alias)}" if alias is not None else "")
    if alias is not None and alias.columns:
        bare = node.copy()
        bare.set("alias", None)
        return f"{_source(bare)} AS {quote(alias.name)}{_columns(alias)}"
    return node.sql(dialect="flink", identify=True)
