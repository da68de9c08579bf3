"""Expressions and queries as Calcite writes them: what SHOW CREATE TABLE and DESCRIBE print for computed columns and watermarks, and SHOW
CREATE VIEW for its query, a clause a line.

A syntax tree of the Flink dialect goes in, text comes out that parses to the same tree: every identifier back-ticked, keywords upper case,
parentheses only where precedence asks for them. Nodes without a rule here are written by the dialect. Expressions and queries hold each other,
so both are in this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.sql.quoting import flink_string, quote
from sqlstream.sql.sqlglot.dialect import flink_sql
from sqlstream.sql.syntax import ast
from sqlstream.sql.syntax.calls import call_args, call_name, is_call
from sqlstream.sql.syntax.clauses import (
    alias_of,
    bounds_of,
    branches,
    default_of,
    from_of,
    group_of,
    having_of,
    is_descending,
    is_distinct,
    is_negated,
    is_symmetric,
    joins_of,
    limit_of,
    nulls_first,
    offset_of,
    on_of,
    order_of,
    qualify_of,
    query_of,
    using_of,
    value_of,
    where_of,
    with_of,
)
from sqlstream.sql.syntax.data_types import flink_type

if TYPE_CHECKING:
    from sqlstream.sql.types import Type

# Functions that Flink's parser resolves itself are printed bare; those it finds in its catalog of functions are
# printed as identifiers.
BARE = frozenset(
    """
    ABS ACOS APPROX_COUNT_DISTINCT ARRAY_AGG ASCII ASIN ATAN ATAN2 AVG BIN CARDINALITY CEIL CEILING
    CHARACTER_LENGTH CHAR_LENGTH CHR COALESCE COLLECT CONCAT CONCAT_WS CONVERT_TZ COS COSH COT COUNT CUME_DIST
    CURRENT_DATABASE CURRENT_DATE CURRENT_ROW_TIMESTAMP CURRENT_TIME CURRENT_TIMESTAMP DATE_FORMAT DAYOFMONTH
    DAYOFWEEK DAYOFYEAR DECODE DEGREES DENSE_RANK E ELEMENT ENCODE EXP EXTRACT FIRST_VALUE FLOOR FROM_BASE64
    FROM_UNIXTIME GROUPING GROUPING_ID GROUP_ID HASH_CODE HEX HOUR IF INITCAP INSTR IS_ALPHA IS_DECIMAL IS_DIGIT
    JSON_ARRAY JSON_ARRAYAGG JSON_EXISTS JSON_OBJECT JSON_OBJECTAGG JSON_QUERY JSON_VALUE LAG LAST_VALUE LEAD
    LEFT LISTAGG LN LOCALTIME LOCALTIMESTAMP LOCATE LOG LOG10 LOG2 LOWER LPAD LTRIM MATCH_PROCTIME MATCH_ROWTIME
    MAX MD5 MIN MINUTE MOD MONTH NOW NTILE NULLIF OVERLAY PARSE_URL PERCENT_RANK PI POSITION POWER PROCTIME
    QUARTER RADIANS RAND RAND_INTEGER RANK REGEXP REGEXP_EXTRACT REGEXP_REPLACE REPEAT REPLACE REVERSE RIGHT
    ROUND ROW ROW_NUMBER RPAD RTRIM SECOND SHA1 SHA2 SHA224 SHA256 SHA384 SHA512 SIGN SIN SINH SPLIT_INDEX SQRT
    STDDEV STDDEV_POP STDDEV_SAMP STR_TO_MAP SUBSTR SUBSTRING SUM TAN TANH TIMESTAMPADD TIMESTAMPDIFF TO_BASE64
    TO_DATE TO_TIMESTAMP TRIM TRUNCATE TRY_PARSE_JSON UNIX_TIMESTAMP UPPER UUID VARIANCE VAR_POP VAR_SAMP WEEK
    YEAR TUMBLE TUMBLE_START TUMBLE_END TUMBLE_ROWTIME TUMBLE_PROCTIME HOP HOP_START HOP_END HOP_ROWTIME HOP_PROCTIME SESSION
    SESSION_START SESSION_END SESSION_ROWTIME SESSION_PROCTIME
    """.split()
)
NO_PARENTHESES = ("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP")

BINARY: dict[type[exp.Expr], tuple[str, int]] = {
    exp.Or: ("OR", 1),
    exp.And: ("AND", 2),
    exp.EQ: ("=", 4),
    exp.NEQ: ("<>", 4),
    exp.LT: ("<", 4),
    exp.LTE: ("<=", 4),
    exp.GT: (">", 4),
    exp.GTE: (">=", 4),
    exp.NullSafeEQ: ("IS NOT DISTINCT FROM", 4),
    exp.NullSafeNEQ: ("IS DISTINCT FROM", 4),
    exp.Add: ("+", 6),
    exp.Sub: ("-", 6),
    exp.Mul: ("*", 7),
    exp.Div: ("/", 7),
    exp.Mod: ("%", 7),
    exp.DPipe: ("||", 7),
}
LIKES: dict[type[exp.Expr], str] = {exp.Like: "LIKE", exp.ILike: "ILIKE", exp.SimilarTo: "SIMILAR TO"}
SET_OPERATIONS: dict[type[exp.Expr], str] = {exp.Union: "UNION", exp.Except: "EXCEPT", exp.Intersect: "INTERSECT"}
ATOM = 10


def expression_text(node: exp.Expr) -> str:
    """``node`` in Calcite's form."""
    return _write(node)[0]


def _operand(node: exp.Expr, least: int) -> str:
    """``node`` as an operand that must bind at least as tightly as ``least``."""
    text, level = _write(node)
    return text if level >= least else f"({text})"


def _list(nodes: list[exp.Expr]) -> str:
    return ", ".join(expression_text(n) for n in nodes)


def _write(node: exp.Expr) -> tuple[str, int]:
    """Text and precedence."""
    kind = type(node)
    if kind in BINARY:
        sign, level = BINARY[kind]
        return f"{_operand(node.this, level)} {sign} {_operand(node.expression, level + 1)}", level
    if kind in LIKES:
        return _like(node, "NOT " if is_negated(node) else "")
    match node:
        case exp.Paren():
            return _write(node.this)
        case exp.Not():
            return _not(node.this)
        case exp.Neg():
            if isinstance(node.this, exp.Literal) and not node.this.is_string:
                return f"-{expression_text(node.this)}", 8
            return f"- {_operand(node.this, 8)}", 8
        case exp.Is():
            return f"{_operand(node.this, 5)} IS {expression_text(node.expression)}", 4
        case exp.In():
            return _in(node, "NOT " if is_negated(node) else "")
        case exp.Exists():
            return f"EXISTS ({query_text(node.this)})", ATOM
        case exp.Subquery():
            return query_text(node), ATOM
        case exp.Between():
            return _between(node, "NOT " if is_negated(node) else "")
        case exp.Escape():
            negated = is_negated(node) or is_negated(node.this)
            return _like(node.this, "NOT " if negated else "", node.expression)
        case exp.HexString():
            return f"X'{node.name.upper()}'", ATOM
        case exp.Column():
            return ".".join(quote(part.name) for part in node.parts), ATOM
        case exp.Dot():
            return f"{_operand(node.this, ATOM)}.{expression_text(node.expression)}", ATOM
        case exp.Identifier():
            return quote(node.name), ATOM
        case exp.Literal():
            return (flink_string(node.name) if node.is_string else node.name.upper()), ATOM
        case exp.Boolean():
            return ("TRUE" if node.this else "FALSE"), ATOM
        case exp.Null():
            return "NULL", ATOM
        case exp.Case():
            return _case(node), ATOM
        case exp.TryCast() | exp.Cast():
            return _cast(node), ATOM
        case exp.Bracket():
            return f"{_operand(node.this, ATOM)}[{_list(node.expressions)}]", ATOM
        case _ if is_call(node):
            return _call(node), ATOM
        case exp.Literal() if node.name.startswith(".") and not node.is_string:
            return f"0{node.name}", ATOM
        case ast.TimeLiteral():
            return f"{node.args['kind']} {flink_string(node.this)}", ATOM
        case exp.DataType():
            return _type(flink_type(node)), ATOM
    return flink_sql(node, identify=True), ATOM


def _in(node: exp.In, negated: str) -> tuple[str, int]:
    query = query_of(node)
    operands = _list(node.expressions) if query is None else query_text(query.this if isinstance(query, exp.Subquery) else query)
    return f"{_operand(node.this, 5)} {negated}IN ({operands})", 4


def _not(inner: exp.Expr) -> tuple[str, int]:
    match inner:
        case exp.Is():
            return f"{_operand(inner.this, 5)} IS NOT {expression_text(inner.expression)}", 4
        case exp.In():
            return _in(inner, "NOT ")
        case exp.Between():
            return _between(inner, "NOT ")
        case exp.Like() | exp.ILike() | exp.SimilarTo():
            return _like(inner, "NOT ")
        case exp.Escape():
            return _like(inner.this, "NOT ", inner.expression)
    return f"NOT {_operand(inner, 3)}", 3


def _like(node: exp.Expr, negated: str, escape: exp.Expr | None = None) -> tuple[str, int]:
    tail = f" ESCAPE {expression_text(escape)}" if escape is not None else ""
    return f"{_operand(node.this, 5)} {negated}{LIKES[type(node)]} {_operand(node.expression, 5)}{tail}", 4


def _between(node: exp.Expr, negated: str) -> tuple[str, int]:
    how = "SYMMETRIC" if is_symmetric(node) else "ASYMMETRIC"
    low, high = (_operand(bound, 5) for bound in bounds_of(node))
    return f"{_operand(node.this, 5)} {negated}BETWEEN {how} {low} AND {high}", 4


def _case(node: exp.Case) -> str:
    subject = node.this
    texts = []
    for branch in branches(node):
        condition = exp.EQ(this=subject.copy(), expression=branch.this.copy()) if subject is not None else branch.this
        texts.append(f"WHEN {expression_text(condition)} THEN {expression_text(value_of(branch))}")
    default = default_of(node)
    return f"CASE {' '.join(texts)} ELSE {expression_text(default) if default is not None else 'NULL'} END"


def _cast(node: exp.Cast) -> str:
    word = "TRY_CAST" if isinstance(node, exp.TryCast) else "CAST"
    return f"{word}({expression_text(node.this)} AS {expression_text(node.to)})"


def _type(type_: Type) -> str:
    match type_.root:
        case "INT":
            text = "INTEGER"
        case "ARRAY" | "MULTISET" | "MAP":
            text = f"{type_.root}< {', '.join(_type(c) for c in type_.children)} >"
        case "ROW":
            fields = ", ".join(f"{quote(n)} {_type(c)}" for n, c in zip(type_.names, type_.children, strict=True))
            text = f"ROW< {fields} >"
        case _:
            text = str(type_)
    return text if type_.nullable else f"{text} NOT NULL"


def _call(node: exp.Expr) -> str:
    name, args = call_name(node), call_args(node)
    upper = name.upper()
    if upper in NO_PARENTHESES and not args:
        return upper
    if upper.startswith("JSON_"):
        return _json_call(upper if upper in BARE else quote(name), args)
    texts = [a.name.upper() if isinstance(a, exp.Var) else expression_text(a) for a in args]
    match upper, texts:
        case "EXTRACT", [unit, value]:
            return f"EXTRACT({unit} FROM {value})"
        case (("FLOOR" | "CEIL" | "CEILING"), [value, unit]) if isinstance(args[1], exp.Var):
            return f"{upper}({value} TO {unit})"
        case "POSITION", [needle, hay]:
            return f"POSITION({needle} IN {hay})"
        case "TRIM", [value]:
            return f"TRIM(BOTH ' ' FROM {value})"
        case "TRIM", [how, what, value]:
            return f"TRIM({how} {what} FROM {value})"
        case "OVERLAY", [value, new, *numbers]:
            return f"OVERLAY({value} PLACING {new} FROM {' FOR '.join(numbers)})"
        case "NULLIF", [_, _]:
            left, right = _operand(args[0], 4), _operand(args[1], 5)
            return f"CASE WHEN {left} = {right} THEN NULL ELSE {texts[0]} END"
        case (("ARRAY" | "MAP"), _):
            return f"{upper}[{', '.join(texts)}]"
    return f"{upper if upper in BARE else '.'.join(quote(part) for part in name.split('.'))}({', '.join(texts)})"


def _json_call(name: str, args: list[exp.Expr]) -> str:
    """Words of clauses stand between the arguments: ``JSON_VALUE(`s`, '$.x' RETURNING INTEGER)``."""
    text = ""
    for i, arg in enumerate(args):
        before = args[i - 1] if i else None
        plain = not isinstance(before, exp.Var | None)
        comma = plain and (not isinstance(arg, exp.Var) or arg.name == "KEY")
        text += (", " if comma else " " if i else "") + (arg.name if isinstance(arg, exp.Var) else expression_text(arg))
    return f"{name}({text})"


def query_text(node: exp.Expr) -> str:
    """``node``, a query, in Calcite's form."""
    text = _bare(node)
    if clause := with_of(node):
        text = f"WITH {', '.join(_cte(c) for c in clause.expressions)} {text}"
    if order := order_of(node):
        text += f"\nORDER BY {', '.join(_ordered(o) for o in order.expressions)}"
    if offset := offset_of(node):
        text += f"\nOFFSET {expression_text(offset.expression)} ROWS"
    if limit := limit_of(node):
        text += f"\nFETCH NEXT {expression_text(limit.args.get('expression') or limit.args['count'])} ROWS ONLY"
    return text


def _bare(node: exp.Expr) -> str:
    match node:
        case exp.Select():
            return _select(node)
        case exp.SetOperation():
            word = SET_OPERATIONS[type(node)] + ("" if is_distinct(node) else " ALL")
            return f"{query_text(node.this)}\n{word}\n{query_text(node.expression)}"
        case exp.Subquery():
            return f"({query_text(node.this)})"
        case exp.Values():
            return "VALUES " + ",\n".join(f"ROW({', '.join(expression_text(cell) for cell in row.expressions)})" for row in node.expressions)
    return flink_sql(node, identify=True)


def _cte(node: exp.CTE) -> str:
    alias = node.args["alias"]
    return f"{quote(alias.name)}{_columns(alias)} AS ({query_text(node.this)})"


def _columns(alias: exp.TableAlias) -> str:
    return f" ({', '.join(quote(c.name) for c in alias.columns)})" if alias.columns else ""


def _ordered(node: exp.Expr) -> str:
    descending = is_descending(node)
    nulls = nulls_first(node)
    nulls_order = "" if nulls is None or bool(nulls) is not descending else f" NULLS {'FIRST' if nulls else 'LAST'}"
    return f"{expression_text(node.this)}{' DESC' if descending else ''}{nulls_order}"


def _item(node: exp.Expr) -> str:
    if isinstance(node, exp.Alias):
        return f"{_value(node.this)} AS {quote(node.alias)}"
    return _value(node)


def _value(node: exp.Expr) -> str:
    return query_text(node) if isinstance(node, exp.Query) else expression_text(node)


def _select(node: exp.Select) -> str:
    distinct = "DISTINCT " if is_distinct(node) else ""
    lines = [f"SELECT {distinct}{', '.join(_item(e) for e in node.expressions)}"]
    if clause := from_of(node):
        lines.append("FROM " + _source(clause.this) + "".join(_join(j) for j in joins_of(node)))
    if where := where_of(node):
        lines.append(f"WHERE {_value(where.this)}")
    if group := group_of(node):
        lines.append(f"GROUP BY {', '.join(expression_text(e) for e in group.expressions)}")
    if having := having_of(node):
        lines.append(f"HAVING {_value(having.this)}")
    if windows := node.args.get("windows"):
        lines.append("WINDOW " + ", ".join(flink_sql(w, identify=True).replace(" OVER (", " AS (", 1) for w in windows))
    if qualify := qualify_of(node):
        lines.append(f"QUALIFY {_value(qualify.this)}")
    return "\n".join(lines)


def _join(node: exp.Join) -> str:
    if not on_of(node) and not using_of(node) and not any(node.args.get(k) for k in ("method", "side", "kind")):
        return f",\n{_source(node.this)}"
    words = [str(node.args[k]) for k in ("method", "side", "kind") if node.args.get(k)]
    word = " ".join(words or ["INNER"])
    on = on_of(node)
    using = ", ".join(quote(c.name) for c in using_of(node))
    condition = f" ON {_value(on)}" if on is not None else f" USING ({using})" if using else ""
    return f"\n{word} JOIN {_source(node.this)}{condition}"


def _source(node: exp.Expr) -> str:
    """An item of FROM."""
    alias = alias_of(node)
    inner = node.this if isinstance(node, exp.Subquery) else None
    if isinstance(inner, exp.Table | exp.Subquery) and joins_of(inner):
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
    return flink_sql(node, identify=True)
