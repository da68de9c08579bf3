"""Syntax trees back to Flink SQL: what parses to the same tree. Statements are in ``sql/statements/table``."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp, generator

from sqlstream.sql.quoting import flink_name, flink_string, quote
from sqlstream.sql.sqlglot import relations
from sqlstream.sql.sqlglot.meanings import UNCERTAIN, Bytes, Elements, certain, is_literal, is_needless
from sqlstream.sql.statements.table import WRITERS
from sqlstream.sql.statements.text import CLAUSES
from sqlstream.sql.syntax import ast
from sqlstream.sql.syntax.calls import CALLS, call_args, call_name, is_written
from sqlstream.sql.syntax.clauses import hints_of
from sqlstream.sql.syntax.data_types import flink_type
from sqlstream.sql.syntax.lexer import CALLABLE
from sqlstream.sql.syntax.type_syntax import type_sql

_NILADIC = ("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP")
_BRACKETED = ("ARRAY", "MAP", "MULTISET")


class FlinkGenerator(generator.Generator):
    """sqlglot's generator with what Flink SQL writes otherwise."""

    TABLE_HINTS = True
    QUERY_HINTS = True
    UNNEST_WITH_ORDINALITY = True
    VALUES_AS_TABLE = True
    # What is said of a statement stands before it.
    WITH_SEPARATED_COMMENTS = (*generator.Generator.WITH_SEPARATED_COMMENTS, *WRITERS)
    TRANSFORMS: ClassVar[dict[Any, Any]] = {
        **generator.Generator.TRANSFORMS,
        **CLAUSES,
        **WRITERS,
        **dict.fromkeys(CALLS, lambda self, e: _call(self, e)),
        exp.Identifier: lambda self, e: _identifier(self, e),
        **dict.fromkeys((exp.HexString, Bytes), lambda self, e: f"X'{e.name}'"),
        exp.Literal: lambda self, e: _literal(self, e),
        exp.NullSafeEQ: lambda self, e: self.binary(e, "IS NOT DISTINCT FROM"),
        exp.NullSafeNEQ: lambda self, e: self.binary(e, "IS DISTINCT FROM"),
        exp.RegexpLike: lambda self, e: self.binary(e, "RLIKE"),
        exp.SimilarTo: lambda self, e: self.binary(e, "SIMILAR TO"),
        exp.DPipe: lambda self, e: self.binary(e, "||"),
        exp.Div: lambda self, e: self.binary(e, "/"),
        exp.Mod: lambda self, e: self.binary(e, "%"),
        exp.JSON: lambda self, e: f"JSON {e.this}" if e.this else "JSON",
        exp.Between: lambda self, e: _between(self, e),
        exp.Not: lambda self, e: _not(self, e),
        exp.All: lambda self, e: f"ALL {_quantified(self, e)}",
        exp.Any: lambda self, e: f"ANY {_quantified(self, e)}",
        exp.Version: lambda self, e: f"FOR SYSTEM_TIME AS OF {self.sql(e, 'expression')}",
        exp.Filter: lambda self, e: f"{self.sql(e, 'this')} FILTER (WHERE {self.sql(e.expression, 'this')})",
        exp.WindowSpec: lambda self, e: _window_spec(self, e),
        exp.Table: lambda self, e: _table(self, e),
        exp.Values: lambda self, e: _values(self, e),
        exp.Tuple: lambda self, e: f"({self.expressions(e, flat=True)})",
        exp.DataType: lambda self, e: type_sql(flink_type(e), nested=True, short=True) if e.this != exp.DType.UNKNOWN else "UNKNOWN",
        ast.TimeLiteral: lambda self, e: f"{e.args['kind']} {flink_string(e.args['this'])}",
        ast.TimeDifference: lambda self, e: f"({self.binary(e, '-')}) {e.args['unit']}{f' TO {to}' if (to := e.args['to']) else ''}",
        ast.IntervalLiteral: lambda self, e: _interval(e),
        ast.TableArgument: lambda self, e: _table_argument(self, e),
        ast.Descriptor: lambda self, e: f"DESCRIPTOR({self.expressions(e, flat=True)})",
        ast.NamedArgument: lambda self, e: f"{flink_name(e.args['this'])} => {self.sql(e, 'expression')}",
        ast.TableFunction: lambda self, e: _table_function(self, e),
        ast.OptionsHint: lambda self, e: _hint(self, e),
        ast.MatchRecognize: lambda self, e: _match_recognize(self, e),
        ast.PatternVariable: lambda self, e: _pattern_variable(self, e),
        exp.Cast: lambda self, e: _cast(self, e),
        exp.Paren: lambda self, e: self.sql(e, "this") if is_needless(e) else self.paren_sql(e),
        exp.Interval: lambda self, e: f"INTERVAL {self.sql(e, 'this')} {self.sql(e, 'unit')}",
        **dict.fromkeys(UNCERTAIN, lambda self, e: _certain(self, e)),
        Elements: lambda self, e: self.sql(e, "this"),
        relations.SystemTime: lambda self, e: f"FOR SYSTEM_TIME AS OF {self.sql(e, 'expression')}",
        relations.WindowTable: lambda self, e: _window_table(self, e),
        relations.FunctionTable: lambda self, e: _lateral(self, e) + f"TABLE({self.sql(e, 'this')}){_alias(self, e)}",
        relations.MatchTable: lambda self, e: _match_table(self, e),
        # What stands alone in no statement; sqlglot's diff writes each node.
        relations.WindowColumn: lambda self, e: e.text("kind"),
        relations.MatchClauses: lambda self, e: self.sql(e, "order").strip(),
        relations.Measure: lambda self, e: self.sql(e, "this"),
        relations.PatternColumn: lambda self, e: ".".join(self.sql(p) for p in (e.args.get("variable"), e.this.this) if p),
    }


def _literal(self: generator.Generator, node: exp.Literal) -> str:
    if not node.is_string:
        return str(node.this)
    # Else what is indented would be another string.
    return flink_string(node.this).replace("\n", self.SENTINEL_LINE_BREAK if self.pretty else "\n")


def _certain(self: generator.Generator, node: exp.Expr) -> str:
    return self.sql(certain(node))


def _cast(self: generator.Generator, node: exp.Cast) -> str:
    if is_literal(node):
        return f"{'DATE' if node.to.this == exp.DType.DATE else 'TIMESTAMP'} {self.sql(node, 'this')}"
    return self.cast_sql(node)


def _identifier(self: generator.Generator, node: exp.Identifier) -> str:
    return quote(node.name) if node.args.get("quoted") or self.identify else flink_name(node.name)


def _alias(self: generator.Generator, node: exp.Expr) -> str:
    alias = self.sql(node, "alias")
    return f" AS {alias}" if alias else ""


# --- expressions ------------------------------------------------------------------------------------------------------


def _not(self: generator.Generator, node: exp.Not) -> str:
    inner = node.this
    match inner:
        case exp.Is():
            return f"{self.sql(inner, 'this')} IS NOT {self.sql(inner, 'expression')}"
        case exp.In() | exp.Between() | exp.Like() | exp.ILike() | exp.SimilarTo() | exp.RegexpLike() | exp.Escape():
            subject = inner.this.this if isinstance(inner, exp.Escape) else inner.this
            text, whole = self.sql(subject), self.sql(inner)
            return f"{text} NOT{whole[len(text) :]}"
    return f"NOT {self.sql(inner)}"


def _between(self: generator.Generator, node: exp.Between) -> str:
    how = "SYMMETRIC " if node.args.get("symmetric") else ""
    return f"{self.sql(node, 'this')} BETWEEN {how}{self.sql(node, 'low')} AND {self.sql(node, 'high')}"


def _quantified(self: generator.Generator, node: exp.Expr) -> str:
    return self.sql(node, "this")


def _call(self: generator.Generator, node: exp.Expr) -> str:
    if not is_written(node):  # made by another dialect
        return self.function_fallback_sql(node)  # type: ignore[arg-type]
    name, nodes = call_name(node), call_args(node)
    upper, args = name.upper(), [self.sql(a) for a in nodes]
    if upper in _NILADIC and not args:
        return upper
    if upper.startswith("JSON_") and any(isinstance(a, exp.Var) for a in nodes):
        return f"{upper}({_json_arguments(nodes, args)})"
    match upper, args:
        case ("EXTRACT", [unit, value]):
            return f"EXTRACT({unit} FROM {value})"
        case (("CEIL" | "FLOOR"), [value, unit]):
            return f"{upper}({value} TO {unit})"
        case ("POSITION", [needle, value, *start]):
            return f"POSITION({needle} IN {value}{f' FROM {start[0]}' if start else ''})"
        case ("TRIM", [side, characters, value]):
            return f"TRIM({side} {characters} FROM {value})"
        case ("OVERLAY", [value, new, start, *length]):
            return f"OVERLAY({value} PLACING {new} FROM {start}{f' FOR {length[0]}' if length else ''})"
    if upper in _BRACKETED:
        return f"{upper}[{', '.join(args)}]"
    path = ".".join(p if p.upper() in CALLABLE or _special(p) else flink_name(p) for p in name.split("."))
    return f"{path}({', '.join(args)})"


def _special(name: str) -> bool:
    # Names with a grammar of their own are never user functions.
    return name.upper() in (
        "ROW",
        "CEIL",
        "FLOOR",
        "SUBSTRING",
        "TRIM",
        "JSON_OBJECT",
        "JSON_ARRAY",
        "JSON_VALUE",
        "JSON_QUERY",
        "JSON_EXISTS",
        "JSON_ARRAYAGG",
        "JSON_OBJECTAGG",
    )


def _json_arguments(nodes: list[exp.Expr], texts: list[str]) -> str:
    """Words of clauses stand between the arguments: ``s, '$.x' RETURNING INT NULL ON EMPTY``."""
    written = ""
    for i, node in enumerate(nodes):
        after_value = i > 0 and not isinstance(nodes[i - 1], exp.Var)
        comma = after_value and (not isinstance(node, exp.Var) or node.name == "KEY")
        written += (", " if comma else " " if i else "") + texts[i]
    return written


def _interval(node: ast.IntervalLiteral) -> str:
    sign = "-" if node.negative else ""
    to, precision, scale = (node.args.get(key) for key in ("to", "precision", "scale"))
    digits = [str(d) for d in (precision, None if to else scale) if d is not None]
    first = f"{node.args['unit']}({', '.join(digits)})" if digits else node.unit
    last = f" TO {to}" + (f"({scale})" if scale is not None else "") if to else ""
    return f"INTERVAL {sign}{flink_string(node.args['this'])} {first}{last}"


def _window_spec(self: generator.Generator, node: exp.WindowSpec) -> str:
    def bound(which: str) -> str:
        return " ".join(t for t in (self.sql(node, which), self.sql(node, f"{which}_side")) if t)

    kind, start, end = node.args["kind"], bound("start"), bound("end")
    return f"{kind} BETWEEN {start} AND {end}" if end else f"{kind} {start}"


# --- tables -----------------------------------------------------------------------------------------------------------


def _table(self: generator.Generator, node: exp.Table) -> str:
    path = ".".join(self.sql(p) for p in (node.args.get("catalog"), node.args.get("db"), node.this) if p)
    version = self.sql(node, "system_time") or self.sql(node, "version")
    joins = self.expressions(node, key="joins", sep="", flat=True)
    return f"{path}{hints(self, node)}{' ' + version if version else ''}{_alias(self, node)}{joins}"


def hints(self: generator.Generator, node: exp.Expr) -> str:
    """The hints of a table or INSERT, a space before them."""
    listed = hints_of(node)
    return f" /*+ {', '.join(self.sql(h) for h in listed)} */" if listed else ""


def _hint(self: generator.Generator, node: exp.Expr) -> str:
    args = self.expressions(node, flat=True)
    return f"{node.name}({args})" if args else node.name


def _values(self: generator.Generator, node: exp.Values) -> str:
    text = f"VALUES {self.expressions(node, flat=True)}"
    wrapped = node.args.get("alias") or isinstance(node.parent, exp.From | exp.Join)
    return f"({text}){_alias(self, node)}" if wrapped else text


def _table_argument(self: generator.Generator, node: ast.TableArgument) -> str:
    inner = self.sql(node, "this")
    text = f"TABLE {inner}" if isinstance(node.this, exp.Table) else f"({inner})"
    if node.partition:
        text += f" PARTITION BY ({', '.join(self.sql(p) for p in node.args['partition'])})"
    return text


def _table_function(self: generator.Generator, node: ast.TableFunction) -> str:
    lateral = "LATERAL " if node.lateral else ""
    name = ".".join(flink_name(part) for part in node.name.split("."))
    return f"{lateral}TABLE({name}({self.expressions(node, flat=True)})){_alias(self, node)}"


def _lateral(_self: generator.Generator, node: exp.Expr) -> str:
    return "LATERAL " if node.args.get("written") else ""


def _window_table(self: generator.Generator, node: relations.WindowTable) -> str:
    query = node.this
    source = query.args["from_"].this
    columns = [item for item in query.expressions if not isinstance(item.unalias(), relations.WindowColumn)]
    alias = _alias(self, node)
    if any(_is_renamed(item) for item in query.expressions):
        # qualify has moved ``AS w(a, b)`` into the query; DESCRIPTOR and PARTITION BY have the names of before.
        alias += f"({', '.join(self.sql(item.args['alias']) for item in query.expressions)})"
        columns = [item.unalias() for item in columns]
    if isinstance(source, exp.Subquery) and not source.alias and type(source) is exp.Subquery:
        table = f"({self.sql(source.this)})"
    elif isinstance(source, exp.Table) and not _renames(source) and len(columns) == 1 and isinstance(columns[0], exp.Star):
        table = f"TABLE {self.sql(source)}"
    else:  # a tool has changed it
        plain = query.copy()
        plain.set("expressions", [column.copy() for column in columns])
        table = f"({self.sql(plain)})"
    if partition := node.args.get("partition"):
        table += f" PARTITION BY ({', '.join(self.sql(p) for p in partition)})"
    arguments = ", ".join(_around(self, argument, table) for argument in node.args["arguments"])
    return f"TABLE({self.sql(node, 'function')}({arguments})){alias}"


def _is_renamed(item: exp.Expr) -> bool:
    """Whether a column of a window function has another name behind it."""
    column = item.unalias()
    return isinstance(item, exp.Alias) and item.alias != (column.text("kind") or column.output_name)


def _renames(table: exp.Table) -> bool:
    return bool(table.alias)


def _around(self: generator.Generator, argument: exp.Expr, table: str) -> str:
    match argument:
        case exp.Placeholder():
            return table
        case ast.NamedArgument(expression=exp.Placeholder()):
            return f"{flink_name(argument.this)} => {table}"
    return self.sql(argument)


def _match_table(self: generator.Generator, node: exp.Expr) -> str:
    query = node.this
    clauses = query.args["where"].this
    measures = [item for item in query.expressions if isinstance(item.unalias(), relations.Measure)]
    partition = [item for item in query.expressions if item not in measures]
    before = [_name_of(item) for item in partition]
    alias = node.args["alias"].copy() if node.args.get("alias") else None
    if alias is not None and [b.name for b in before] != [item.output_name for item in partition]:  # qualify has moved ``AS m(a, b)`` into the query
        alias.set("columns", [exp.to_identifier(item.output_name) for item in query.expressions])
    made = ast.MatchRecognize(this=query.args["from_"].this.copy(), alias=alias)
    for key, value in (*clauses.copy().args.items(), ("partition_by", before), ("measures", [m.copy() for m in measures])):
        made.set(key, value)
    return _match_recognize(self, made)


def _name_of(item: exp.Expr) -> exp.Identifier:
    """The name of the column that ``item`` is, with the comments of its parts."""
    name = exp.to_identifier(item.unalias().output_name)
    name.add_comments([comment for part in item.walk() for comment in part.comments or ()])
    return name


def _match_recognize(self: generator.Generator, node: ast.MatchRecognize) -> str:
    def listed(words: str, key: str) -> str:
        text = self.expressions(node, key=key, flat=True)
        return f"{words} {text}" if text else ""

    order = node.args.get("order")
    after = node.after
    variable = self.sql(node, "after_variable")
    within = self.sql(node, "within")
    define = ", ".join(f"{self.sql(d, 'alias')} AS {self.sql(d, 'this')}" for d in node.define)
    parts = (
        listed("PARTITION BY", "partition_by"),
        self.order_sql(order, flat=True).strip() if order else "",
        listed("MEASURES", "measures"),
        f"ONE ROW PER MATCH AFTER MATCH SKIP {after}{' ' + variable if variable else ''}" if after else "",
        f"PATTERN ({' '.join(self.sql(v) for v in node.args['pattern'])})",
        f"WITHIN {within}" if within else "",
        f"DEFINE {define}",
    )
    return f"{self.sql(node, 'this')} MATCH_RECOGNIZE ({' '.join(p for p in parts if p)}){_alias(self, node)}"


def _pattern_variable(self: generator.Generator, node: ast.PatternVariable) -> str:
    low, high = node.low, node.high
    fixed = {(1, 1): "", (0, None): "*", (1, None): "+", (0, 1): "?"}
    quantifier = fixed.get((low, high))
    if quantifier is None:
        quantifier = f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}"
    return f"{self.sql(node, 'this')}{quantifier}{'?' if node.args.get('reluctant') else ''}"
