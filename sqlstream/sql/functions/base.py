"""What a function is: one frozen row of a table that the binder, Spark's rendering, HELP and SHOW FUNCTIONS all read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

from sqlstream.sql import types as t
from sqlstream.sql.generated_names import bound
from sqlstream.sql.quoting import quote, spark_string
from sqlstream.sql.types import Type

# In the place of a constant's value: the argument is none.
VARIES: Any = object()


@dataclass(frozen=True)
class Rendered:
    """A call on its way to Spark SQL: its arguments as text with their types, the result's type, the session's zone.

    ``values`` are those of constant arguments, VARIES for others. ``distinct`` and ``filter`` (``FILTER (WHERE ..)`` as text, or
    empty) are an aggregate's. ``sign`` is SQL for how often a row counts: 1, -1 for one that is retracted, 0. ``arrival`` is SQL for a row's place among
    those that have come, where rows are aggregated in another order.
    """

    args: tuple[str, ...]
    types: tuple[Type, ...]
    type: Type
    zone: str
    values: tuple[Any, ...] = ()
    distinct: bool = False
    filter: str = ""
    sign: str = ""
    arrival: str = ""


# What the examples of aggregates are over.
VALUES = "(VALUES (1.5e0, 'a'), (2e0, 'b'), (2e0, 'c')) AS t (x, s)"

Types = tuple[Type, ...]
Returns = Callable[[Types], Type]
# The result's type where it depends on constants too: those of the arguments, VARIES for others.
Sized = Callable[[Types, tuple[Any, ...]], Type]
# What is wrong with a call, in words, or None.
Check = Callable[[Types, tuple[Any, ...]], str | None]
# The types to which a call's arguments are cast; None where it can't take them.
Coerce = Callable[[Types], Types | None]
Spark = str | Callable[[Rendered], str]


@dataclass(frozen=True, eq=False)
class Function:
    """One built-in.

    ``params`` are families (see ``accepts``), ``?`` at the end of one marks it and all behind it optional, ``*`` on the last repeats it.
    ``coerce`` brings the arguments to common types first. ``spark`` is a template (``{0}``) or a function of the rendered call.
    ``signed`` is an aggregate's form over rows of which some take others away (``Rendered.sign``), where it has one.
    ``check`` refuses what is right in Flink and can't be done here. ``words`` are positions of arguments that are words of SQL (a unit of time, LEADING), not values.
    ``deterministic``: the same arguments give the same value. ``notice``: what is reported of a call with so many arguments, since it is not quite as in Flink.
    ``clock``: its value is the time, one for all rows of a micro-batch.

    Of aggregates. ``null_of_none``: it is NULL over no rows, for which there must be no GROUP BY; ``returns`` is its type over some.
    ``over_only``: it stands before OVER alone; ``batch_only``: and that of bounded rows. ``ordered``: its value depends on the order of rows.
    ``ignores_nulls``: a row of NULLs changes nothing. ``same_distinct``: it is the same with and without DISTINCT. ``of_set``: what it is with
    DISTINCT where Spark knows none, a function of the set of the values, which the state holds.
    """

    name: str
    params: tuple[str, ...]
    returns: Returns
    spark: Spark
    summary: str
    example: str = ""
    aggregate: bool = False
    coerce: Coerce | None = None
    sized: Sized | None = None
    check: Check | None = None
    words: tuple[int, ...] = ()
    signed: Callable[[Rendered], str] | None = None
    deterministic: bool = True
    notice: Callable[[int], str | None] | None = None
    clock: bool = False
    null_of_none: bool = False
    over_only: bool = False
    batch_only: bool = False
    ordered: bool = False
    ignores_nulls: bool = False
    same_distinct: bool = False
    of_set: Spark | None = None

    @property
    def group(self) -> str:
        """What Flink calls the kind of the function."""
        return "AGGREGATE" if self.aggregate else "SCALAR"

    @property
    def signature(self) -> str:
        """The arguments as HELP shows them."""
        shown = [p.rstrip("?*").upper() + ("?" if p.endswith("?") else " ..." if p.endswith("*") else "") for p in self.params]
        return f"{self.name}({', '.join(shown)})"

    @property
    def runnable(self) -> str:
        """The example as a statement; an aggregate's is over the columns of VALUES. Some are statements already."""
        if not self.example or self.example.startswith(("SELECT", "CREATE")):
            return self.example and f"{self.example};"
        return f"SELECT {self.example}{f' FROM {VALUES}' if self.aggregate else ''};"

    @property
    def details(self) -> str:
        """What HELP says besides the summary and the example."""
        return ""

    @property
    def forms(self) -> list[str]:
        """The calls that there are, as messages list them: 'F(<CHARACTER>)'."""
        shortest = next((i for i, p in enumerate(self.params) if p.endswith("?")), len(self.params))
        counts = range(shortest, len(self.params) + 1)
        chosen = [form for n in counts for form in product(*(_NAMES.get(p.rstrip("?*"), ("ANY",)) for p in self.params[:n]))]
        return [f"'{self.name}({', '.join(f'<{name}>' for name in form)})'" for form in chosen]

    def render(self, call: Rendered) -> str:
        return self.spark.format(*call.args) if isinstance(self.spark, str) else self.spark(call)


# What messages call the families.
_NAMES: dict[str, tuple[str, ...]] = {
    "string": ("CHARACTER",), "binary": ("BINARY",), "bytes or string": ("STRING",), "int": ("INTEGER",), "bigint": ("INTEGER",), "integer": ("INTEGER",),
    "exact": ("EXACT_NUMERIC",), "double": ("NUMERIC",), "numeric": ("NUMERIC",), "datetime or interval": ("DATETIME", "DATETIME_INTERVAL"),
    "number or string": ("NUMERIC", "CHARACTER"), "number or interval": ("NUMERIC", "DATETIME_INTERVAL"), "boolean": ("BOOLEAN",), "timestamp": ("TIMESTAMP",),
    "datetime": ("DATETIME",), "date or timestamp": ("DATETIME",), "timestamp or string": ("TIMESTAMP", "CHARACTER"), "array": ("ARRAY",), "map": ("MAP",),
    "collection": ("MULTISET", "ARRAY", "MAP"), "ordered": ("COMPARABLE_TYPE",), "comparable": ("COMPARABLE_TYPE",),
}  # fmt: skip


def accepts(family: str, type_: Type) -> bool:
    """Whether an argument of ``type_`` fits ``family``; the NULL type fits all."""
    if type_.root == "NULL":
        return True
    match family:
        case "any":
            return True
        case "string":
            return type_.is_string
        case "binary":
            return type_.is_binary
        case "bytes or string":
            return type_.is_binary or type_.is_string
        case "int" | "bigint" | "integer":
            return type_.is_integer
        case "short int":
            return type_.is_integer and type_.root != "BIGINT"
        case "integer or string":
            return type_.is_integer or type_.is_string
        case "exact":
            return type_.is_exact
        case "double" | "numeric":
            return type_.is_numeric
        case "datetime or interval":
            return type_.is_timestamp or type_.is_interval or type_.root in ("DATE", "TIME")
        case "number or string":
            return type_.is_numeric or type_.is_string
        case "number or interval":
            return type_.is_numeric or type_.is_interval
        case "boolean":
            return type_.root == "BOOLEAN"
        case "timestamp":
            return type_.is_timestamp
        case "datetime":
            return type_.is_timestamp or type_.root in ("DATE", "TIME")
        case "date or timestamp":
            return type_.is_timestamp or type_.root == "DATE"
        case "timestamp or string":
            return type_.is_timestamp or type_.is_string
        case "array":
            return type_.root == "ARRAY"
        case "array of strings":
            return type_.root == "ARRAY" and type_.children[0].is_string
        case "array of ordered":
            return type_.root == "ARRAY" and type_.children[0].root != "BOOLEAN" and accepts("ordered", type_.children[0])
        case "map":
            return type_.root == "MAP"
        case "collection":
            return type_.root in ("ARRAY", "MAP", "MULTISET")
        case "ordered":
            return not type_.children and type_.root != "VARIANT"
        case "plain":
            return not type_.children and not type_.is_binary and not type_.is_interval and type_.root != "VARIANT"
        case "comparable":
            return t.distinguished(type_)
        case "unit" | "word":
            return True
    raise ValueError(family)


# To what an untyped NULL of the family is cast, and any argument of those in CONVERTED.
TARGETS: dict[str, Type] = {
    "int": t.INT, "short int": t.INT, "integer or string": t.STRING, "bigint": t.BIGINT, "integer": t.BIGINT, "number or string": t.STRING, "double": t.DOUBLE, "numeric": t.INT, "exact": t.INT, "string": t.STRING, "boolean": t.BOOLEAN,
    "timestamp": t.timestamp(3), "datetime": t.timestamp(3), "date or timestamp": t.timestamp(3), "timestamp or string": t.STRING,
    "bytes or string": t.STRING, "binary": t.BYTES,
}  # fmt: skip
CONVERTED = ("int", "short int", "bigint", "double")
# Families whose untyped NULL could be of any type.
COLLECTIONS = ("array", "array of strings", "array of ordered", "map", "collection")


def fixed(result: Type) -> Returns:
    """``result``, NULL only where an argument is."""
    return lambda types: result.with_nullable(any(a.nullable for a in types))


def nullable(result: Type) -> Returns:
    """``result``, possibly NULL."""
    return lambda _: result.null()


def varying(types: Types, length: int) -> Type:
    """VARCHAR(length), NULL where an argument is."""
    return t.varchar(min(length, t.MAX_LENGTH)).with_nullable(any(a.nullable for a in types))


def not_null(result: Type) -> Returns:
    return lambda _: result.not_null()


def like(index: int) -> Returns:
    """The type of an argument; NULL where any argument is."""
    return lambda types: types[index].with_nullable(any(a.nullable for a in types))


def local(text: str, type_: Type, zone: str) -> str:
    """A timestamp's wall time, as if UTC: an LTZ's in ``zone``, a TIMESTAMP as it is."""
    return f"from_utc_timestamp({text}, {spark_string(zone)})" if type_.root == "TIMESTAMP_LTZ" and zone != "UTC" else text


def listed(call: Rendered, value: str) -> str:
    """The values of an aggregate's rows as an array, in the order of their arrival."""
    if not call.arrival:
        return f"collect_list({value}){call.filter}"
    rows = f"collect_list(named_struct('at', {call.arrival}, 'x', {value})){call.filter}"
    earlier = bound(lambda a, b: f"CASE WHEN {a}.at < {b}.at THEN -1 WHEN {a}.at > {b}.at THEN 1 ELSE 0 END")
    return f"transform(array_sort({rows}, {earlier}), {bound(lambda e: f'{e}.x')})"


def listed_values(call: Rendered, value: str) -> str:
    """As ``listed``, without NULLs."""
    values = listed(call, value)
    return f"filter({values}, {bound(lambda x: f'{x} IS NOT NULL')})" if call.arrival else values


def instant(text: str, type_: Type, zone: str) -> str:
    """The carrier of a ``type_`` whose wall time is ``text``."""
    return f"to_utc_timestamp({text}, {spark_string(zone)})" if type_.root == "TIMESTAMP_LTZ" and zone != "UTC" else text


def packed(args: tuple[str, ...], types: Types) -> str:
    """The arguments as one STRUCT, and its columns' types as DDL: arguments of a Java function that takes values of any type."""
    names = [f"{'json' if x.root == 'JSON' else 'value'}{i}" for i, x in enumerate(types)]
    values = ", ".join(f"{spark_string(name)}, {arg}" for name, arg in zip(names, args, strict=True))
    columns = ", ".join(f"{quote(name)} {'STRING' if x.root in ('JSON', 'NULL') else x.stored}" for name, x in zip(names, types, strict=True))
    return f"named_struct({values}), {spark_string(columns)}"
