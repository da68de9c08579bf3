"""Functions of arrays, maps and multisets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.sql import types as t
from sqlstream.sql.coercion import common_type
from sqlstream.sql.functions.base import Check, Coerce, Function, Rendered, Spark, Types, fixed, like
from sqlstream.sql.generated_names import bound

if TYPE_CHECKING:
    from sqlstream.sql.types import Type


def _element(types: Types) -> Type:
    return types[0].children[0].null()


def _held(types: Types) -> Types | None:
    """As ``_holds``, of a value that does not come into the array."""
    held = _holds(types)
    if held is None or types[0].root != "ARRAY":
        return held
    return (t.array(held[0].children[0].with_nullable(types[0].children[0].nullable)).with_nullable(types[0].nullable), *held[1:])


def _only_element(types: Types) -> Type:
    inner = types[0].children[0]
    return inner.with_nullable(inner.nullable or types[0].nullable)


def _holds(types: Types) -> Types | None:
    """(array, element): the element as the array's, which no longer text and no larger number widens."""
    if types[0].root != "ARRAY":
        return types
    inner = common_type([types[0].children[0], types[1]])
    if inner is None or inner.root != types[0].children[0].root:
        return None
    if inner.root == "DECIMAL":
        inner = types[0].children[0].with_nullable(inner.nullable)
    widened = t.array(inner).with_nullable(types[0].nullable)
    return (widened, inner.with_nullable(types[1].nullable), *types[2:])


def _arrays(types: Types) -> Types | None:
    common = common_type(types)
    return None if common is None else tuple(common.with_nullable(x.nullable) for x in types)


def _keys(types: Types) -> Type:
    return t.array(types[0].children[0]).with_nullable(types[0].nullable)


def _values(types: Types) -> Type:
    return t.array(types[0].children[1]).with_nullable(types[0].nullable)


def _entries(types: Types) -> Type:
    return t.array(t.row(("key", "value"), types[0].children)).with_nullable(types[0].nullable)


def _from_arrays(types: Types) -> Type:
    return t.map_of(types[0].children[0], types[1].children[0]).with_nullable(any(x.nullable for x in types))


def _union(call: Rendered) -> str:
    # The entries of the last map come first; in Spark a key has the place of its first entry and the value of its last.
    return f"map_concat({', '.join((*reversed(call.args), *call.args[1:]))})" if len(call.args) > 1 else call.args[0]


def _call(name: str) -> Spark:
    return lambda c: f"{name}({', '.join(c.args)})"


def _contains(call: Rendered) -> str:
    array, value = call.args
    return f"if({array} IS NULL, NULL, exists({array}, {bound(lambda x: f'{x} <=> {value}')}))"


def _without(call: Rendered) -> str:
    array, value = call.args
    return f"filter({array}, {bound(lambda x: f'NOT ({x} <=> {value})')})"


def _one_element(call: Rendered) -> str:
    array = call.args[0]
    many = "raise_error('ELEMENT: the array has more than one element.')"
    return f"if(size({array}) > 1, CAST({many} AS {call.type.spark}), get({array}, 0))"


def _slice(call: Rendered) -> str:
    array, start, *end = call.args
    size = f"size({array})"
    first = f"if({start} > 0, {start}, if({start} = 0, 1, greatest({size} + {start} + 1, 1)))"
    last = f"if({end[0]} >= 0, greatest({end[0]}, 1), {size} + {end[0]} + 1)" if end else size
    cut = f"slice({array}, {first}, greatest({last} - {first} + 1, 0))"
    nulls = [f"{argument} IS NULL" for argument, type_ in zip(call.args[1:], call.types[1:], strict=True) if type_.nullable]
    return f"if({' OR '.join(nulls)}, NULL, {cut})" if nulls else cut


# By (ascending, NULLs first).
_SORTED = {
    ("true", "true"): "sort_array({0}, true)", ("true", "false"): "array_sort({0})",
    ("false", "true"): "reverse(array_sort({0}))", ("false", "false"): "sort_array({0}, false)",
}  # fmt: skip


def _sort(call: Rendered) -> str:
    array, *flags = call.args
    ascending = flags[0] if flags else "true"
    nulls_first = flags[1] if len(flags) > 1 else ascending
    if (ascending, nulls_first) in _SORTED:
        return _SORTED[ascending, nulls_first].format(array)
    cases = " ".join(f"WHEN {ascending} <=> {a} AND {nulls_first} <=> {n} THEN {text.format(array)}" for (a, n), text in _SORTED.items())
    return f"CASE {cases} END"


def _row(
    name: str, params: tuple[str, ...], spark: Spark, summary: str, example: str, coerce: Coerce | None = None, check: Check | None = None
) -> Function:
    """A function that gives an array of the first's type."""
    return Function(name, params, like(0), spark, summary, f"{name}({example})", coerce=coerce, check=check)


def _check_elements(types: Types, _: tuple[object, ...]) -> str | None:
    return None if t.distinguished(types[0]) else f"The elements of {types[0]} can't be compared."


def _join(call: Rendered) -> str:
    return f"array_join({', '.join(call.args)})"


ROWS: tuple[Function, ...] = (
    Function("CARDINALITY", ("collection",), fixed(t.INT), "size({0})", "The number of elements.", "CARDINALITY(ARRAY[1, 2])"),
    Function("ELEMENT", ("array",), _only_element, _one_element, "The only element; NULL of an empty array, an error of a longer one.", "ELEMENT(ARRAY[1])"),
    Function("ARRAY_CONTAINS", ("array", "any"), lambda ts: t.BOOLEAN.with_nullable(ts[0].nullable), _contains, "Whether an array holds a value; NULL too.", "ARRAY_CONTAINS(ARRAY[1], 1)", coerce=_holds, check=_check_elements),
    Function("ARRAY_POSITION", ("array", "any"), lambda ts: t.INT.with_nullable(any(x.nullable for x in ts)), "CAST(array_position({0}, {1}) AS INT)", "Where a value stands, from 1; 0 if nowhere.", "ARRAY_POSITION(ARRAY[1], 1)", coerce=_holds, check=_check_elements),
    _row("ARRAY_APPEND", ("array", "any"), "array_append({0}, {1})", "With an element more at the end.", "ARRAY[1], 2", _holds),
    _row("ARRAY_PREPEND", ("array", "any"), "array_prepend({0}, {1})", "With an element more at the beginning.", "ARRAY[1], 2", _holds),
    Function("ARRAY_REMOVE", ("array", "any"), lambda ts: ts[0], _without, "Without a value.", "ARRAY_REMOVE(ARRAY[1, 2], 2)", coerce=_held, check=_check_elements),
    _row("ARRAY_CONCAT", ("array", "array*"), _call("concat"), "Arrays behind each other.", "ARRAY[1], ARRAY[2]", _arrays),
    _row("ARRAY_DISTINCT", ("array",), "array_distinct({0})", "Without duplicates.", "ARRAY[1, 1]", check=_check_elements),
    _row("ARRAY_UNION", ("array", "array"), "array_union({0}, {1})", "The distinct elements of both.", "ARRAY[1], ARRAY[2]", _arrays, _check_elements),
    _row("ARRAY_EXCEPT", ("array", "array"), "array_except({0}, {1})", "The distinct elements of the first that are not in the second.", "ARRAY[1, 2], ARRAY[2]", _arrays, _check_elements),
    _row("ARRAY_INTERSECT", ("array", "array"), "array_intersect({0}, {1})", "The distinct elements that are in both.", "ARRAY[1, 2], ARRAY[2]", _arrays, _check_elements),
    _row("ARRAY_REVERSE", ("array",), "reverse({0})", "Backwards.", "ARRAY[1, 2]"),
    _row("ARRAY_SLICE", ("array", "short int", "short int?"), _slice, "The elements from a position to another; negative ones count from the end.", "ARRAY[1, 2, 3], 2, 3"),
    _row("ARRAY_SORT", ("array of ordered", "boolean?", "boolean?"), _sort, "Sorted; whether ascending, whether NULLs come first.", "ARRAY[2, 1]"),
    Function("ARRAY_JOIN", ("array of strings", "string", "string?"), lambda ts: t.STRING.with_nullable(any(x.nullable for x in ts)), _join, "The elements with a delimiter between; NULLs left out or replaced.", "ARRAY_JOIN(ARRAY['a', 'b'], ',')"),
    Function("ARRAY_MAX", ("array of ordered",), _element, "array_max({0})", "The greatest element.", "ARRAY_MAX(ARRAY[1, 2])"),
    Function("ARRAY_MIN", ("array of ordered",), _element, "array_min({0})", "The least element.", "ARRAY_MIN(ARRAY[1, 2])"),
    Function("MAP_KEYS", ("map",), _keys, "map_keys({0})", "The keys.", "MAP_KEYS(MAP['a', 1])"),
    Function("MAP_VALUES", ("map",), _values, "map_values({0})", "The values.", "MAP_VALUES(MAP['a', 1])"),
    Function("MAP_ENTRIES", ("map",), _entries, "map_entries({0})", "An array of rows of key and value.", "MAP_ENTRIES(MAP['a', 1])"),
    Function("MAP_FROM_ARRAYS", ("array", "array"), _from_arrays, "map_from_arrays({0}, {1})", "A map of an array of keys and one of values.", "MAP_FROM_ARRAYS(ARRAY['a'], ARRAY[1])"),
    Function("MAP_UNION", ("map", "map*"), like(0), _union, "Maps together; of equal keys the last counts.", "MAP_UNION(MAP['a', 1], MAP['b', 2])", coerce=_arrays),
)  # fmt: skip
