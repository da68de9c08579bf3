"""Scalar functions of numbers, strings, conditions, collections and hashes."""

from __future__ import annotations

from sqlstream.sql import types as t
from sqlstream.sql.coercion import common_type
from sqlstream.sql.functions.base import Function, Rendered, Spark, fixed, like, not_null, nullable
from sqlstream.sql.types import Type

STR = fixed(t.STRING)
MAYBE_STR = nullable(t.STRING)


def _integral(types: tuple[Type, ...]) -> Type:
    a = types[0]
    return t.decimal(min(38, a.args[0] - a.args[1] + 1), 0).with_nullable(a.nullable) if a.root == "DECIMAL" else a


def _ceil(name: str) -> Spark:
    def render(call: Rendered) -> str:
        return call.args[0] if call.type.is_integer else f"CAST({name}({call.args[0]}) AS {call.type.spark})"

    return render


def _round_type(types: tuple[Type, ...]) -> Type:
    a = types[0]
    nulls = any(x.nullable for x in types)
    if a.root == "DECIMAL" and len(types) == 1:
        return t.decimal(min(38, a.args[0] - a.args[1] + 1), 0).with_nullable(nulls)
    return a.with_nullable(nulls)


def _round(call: Rendered) -> str:
    return f"CAST(round({', '.join(call.args)}) AS {call.type.spark})"


def _coalesce_type(types: tuple[Type, ...]) -> Type:
    found = common_type(types) or types[0]
    return found.with_nullable(all(x.nullable for x in types))


def _first_nullable(types: tuple[Type, ...]) -> Type:
    return types[0].null()


def _if_type(types: tuple[Type, ...]) -> Type:
    return (common_type(types[1:]) or types[1]).with_nullable(types[1].nullable or types[2].nullable)


def _extreme(name: str) -> Spark:
    def render(call: Rendered) -> str:
        nulls = " OR ".join(f"{a} IS NULL" for a in call.args)
        return f"if({nulls}, NULL, {name}({', '.join(call.args)}))" if len(call.args) > 1 else call.args[0]

    return render


def _common(types: tuple[Type, ...]) -> Type:
    return (common_type(types) or types[0]).with_nullable(any(x.nullable for x in types))


def _substring(call: Rendered) -> str:
    text, start, *length = call.args
    # Position 0 is position 1; one before the beginning gives ''; a negative length gives NULL.
    cut = f"substring({', '.join([text, start, *length])})"
    cut = f"CASE WHEN {start} < 0 AND -({start}) > char_length({text}) THEN '' ELSE {cut} END"
    return f"CASE WHEN {length[0]} < 0 THEN NULL ELSE {cut} END" if length else cut


def _trim(call: Rendered) -> str:
    if len(call.args) == 1:
        return f"trim({call.args[0]})"
    side, characters, text = call.args
    return f"trim({side} {characters} FROM {text})"


def _one_sided(side: str) -> Spark:
    def render(call: Rendered) -> str:
        return f"trim({side} {call.args[1] if len(call.args) > 1 else chr(39) + ' ' + chr(39)} FROM {call.args[0]})"

    return render


def _pad(name: str) -> Spark:
    return lambda c: f"if({c.args[1]} < 0, NULL, {name}({', '.join(c.args)}))"


def _regexp_extract(call: Rendered) -> str:
    text, pattern, *group = call.args
    return f"if({text} RLIKE {pattern}, regexp_extract({text}, {pattern}, {group[0] if group else '0'}), NULL)"


def _quoted(text: str) -> str:
    return f"concat('\\\\Q', {text}, '\\\\E')"


def _split_index(call: Rendered) -> str:
    text, delimiter, index = call.args
    if call.types[1].is_integer:
        delimiter = f"char({delimiter})"
    return f"if({index} < 0 OR {text} = '', NULL, get(split({text}, {_quoted(delimiter)}, -1), {index}))"


def _regexp_replace(call: Rendered) -> str:
    text, pattern, replacement = call.args
    # The replacement is taken literally: $1 and \ mean nothing.
    literal = f"replace(replace({replacement}, '\\\\', '\\\\\\\\'), '$', '\\\\$')"
    return f"regexp_replace({text}, {pattern}, {literal})"


def _position(call: Rendered) -> str:
    return f"locate({', '.join(call.args)})"


def _sha(bits: int) -> Spark:
    return f"sha2({{0}}, {bits})"


def _element_type(types: tuple[Type, ...]) -> Type:
    return types[0].children[0].null()


def _all(name: str) -> Spark:
    return lambda c: f"{name}({', '.join(c.args)})"


_DOUBLES = (
    ("SQRT", "if({0} < 0, CAST('NaN' AS DOUBLE), sqrt({0}))"),
    ("EXP", "exp({0})"),
    ("LN", "CASE WHEN {0} = 0 THEN CAST('-Infinity' AS DOUBLE) WHEN {0} < 0 THEN CAST('NaN' AS DOUBLE) ELSE ln({0}) END"),
    ("LOG10", "CASE WHEN {0} = 0 THEN CAST('-Infinity' AS DOUBLE) WHEN {0} < 0 THEN CAST('NaN' AS DOUBLE) ELSE log10({0}) END"),
    ("LOG2", "CASE WHEN {0} = 0 THEN CAST('-Infinity' AS DOUBLE) WHEN {0} < 0 THEN CAST('NaN' AS DOUBLE) ELSE log2({0}) END"),
    *((n, f"{n.lower()}({{0}})") for n in ("SIN", "COS", "TAN", "COT", "ASIN", "ACOS", "ATAN", "SINH", "COSH", "TANH", "DEGREES", "RADIANS")),
)

ROWS: tuple[Function, ...] = (
    Function("ABS", ("numeric",), like(0), "abs({0})", "The absolute value.", "ABS(-1)"),
    Function("SIGN", ("numeric",), like(0), lambda c: f"CAST(sign({c.args[0]}) AS {c.type.spark})", "-1, 0 or 1.", "SIGN(-3)"),
    *(Function(name, ("double",), fixed(t.DOUBLE), sql, f"{name} of a number.", f"{name}(1.0)") for name, sql in _DOUBLES),
    Function("POWER", ("double", "double"), fixed(t.DOUBLE), "power({0}, {1})", "x to the power of y.", "POWER(2, 3)"),
    Function("CEIL", ("numeric",), _integral, _ceil("ceil"), "The next whole number upwards.", "CEIL(1.2)"),
    Function("FLOOR", ("numeric",), _integral, _ceil("floor"), "The next whole number downwards.", "FLOOR(1.8)"),
    Function("ROUND", ("numeric", "int?"), _round_type, _round, "Rounded, half away from zero.", "ROUND(1.555, 2)"),
    Function("PI", (), not_null(t.DOUBLE), "pi()", "The number pi.", "PI()"),
    Function("E", (), not_null(t.DOUBLE), "e()", "The number e.", "E()"),
    Function("RAND", ("int?",), not_null(t.DOUBLE), _all("rand"), "A random number from 0 to 1.", "RAND()"),
    Function("RAND_INTEGER", ("int",), not_null(t.INT), "CAST(floor(rand() * {0}) AS INT)", "A random whole number below n.", "RAND_INTEGER(10)"),
    Function("UUID", (), not_null(t.char(36)), "uuid()", "A random UUID.", "UUID()"),
    Function("COALESCE", ("any*",), _coalesce_type, _all("coalesce"), "The first that is not NULL.", "COALESCE(a, b, 0)"),
    Function("IFNULL", ("any", "any"), _coalesce_type, _all("coalesce"), "The second where the first is NULL.", "IFNULL(a, 0)"),
    Function("NULLIF", ("comparable", "comparable"), _first_nullable, "nullif({0}, {1})", "NULL where both are equal.", "NULLIF(a, 0)"),
    Function("IF", ("boolean", "any", "any"), _if_type, "if({0}, {1}, {2})", "The second where the first holds, else the third.", "IF(a > 0, 'x', 'y')"),
    Function("GREATEST", ("comparable*",), _common, _extreme("greatest"), "The greatest; NULL where one is NULL.", "GREATEST(1, 2)"),
    Function("LEAST", ("comparable*",), _common, _extreme("least"), "The least; NULL where one is NULL.", "LEAST(1, 2)"),
    Function("UPPER", ("string",), STR, "upper({0})", "In upper case.", "UPPER('a')"),
    Function("LOWER", ("string",), STR, "lower({0})", "In lower case.", "LOWER('A')"),
    Function("CHAR_LENGTH", ("string",), fixed(t.INT), "char_length({0})", "The number of characters.", "CHAR_LENGTH('abc')"),
    Function("CHARACTER_LENGTH", ("string",), fixed(t.INT), "char_length({0})", "The number of characters.", "CHARACTER_LENGTH('abc')"),
    Function("CONCAT", ("string*",), STR, _all("concat"), "Joined; NULL where one is NULL.", "CONCAT('a', 'b')"),
    Function("CONCAT_WS", ("string", "string*"), lambda ts: t.STRING.with_nullable(ts[0].nullable), _all("concat_ws"), "Joined with a separator, NULLs left out.", "CONCAT_WS('-', 'a', 'b')"),
    Function("SUBSTRING", ("string", "int", "int?"), MAYBE_STR, _substring, "A part, counted from 1.", "SUBSTRING('abc', 2, 1)"),
    Function("SUBSTR", ("string", "int", "int?"), MAYBE_STR, _substring, "A part, counted from 1.", "SUBSTR('abc', 2, 1)"),
    Function("TRIM", ("any", "string?", "string?"), STR, _trim, "Without the characters at its ends.", "TRIM(BOTH ' ' FROM ' a ')"),
    Function("LTRIM", ("string", "string?"), STR, _one_sided("LEADING"), "Without the characters at its beginning.", "LTRIM(' a')"),
    Function("RTRIM", ("string", "string?"), STR, _one_sided("TRAILING"), "Without the characters at its end.", "RTRIM('a ')"),
    Function("LPAD", ("string", "int", "string"), MAYBE_STR, _pad("lpad"), "Padded on the left to a length.", "LPAD('1', 3, '0')"),
    Function("RPAD", ("string", "int", "string"), MAYBE_STR, _pad("rpad"), "Padded on the right to a length.", "RPAD('1', 3, '0')"),
    Function("LEFT", ("string", "int"), STR, "left({0}, {1})", "The first characters.", "LEFT('abc', 2)"),
    Function("RIGHT", ("string", "int"), STR, "right({0}, {1})", "The last characters.", "RIGHT('abc', 2)"),
    Function("REPEAT", ("string", "int"), STR, "repeat({0}, {1})", "Repeated n times.", "REPEAT('ab', 2)"),
    Function("REVERSE", ("string",), STR, "reverse({0})", "Backwards.", "REVERSE('abc')"),
    Function("REPLACE", ("string", "string", "string"), STR, "replace({0}, {1}, {2})", "Each occurrence replaced.", "REPLACE('abc', 'b', 'x')"),
    Function("TRANSLATE", ("string", "string", "string"), STR, "translate({0}, {1}, {2})", "Each character replaced.", "TRANSLATE('abc', 'a', 'x')"),
    Function("POSITION", ("string", "string"), fixed(t.INT), _position, "Where the first stands in the second, from 1; 0 if nowhere.", "POSITION('b' IN 'abc')"),
    Function("LOCATE", ("string", "string", "int?"), fixed(t.INT), _position, "Where the first stands in the second, from 1; 0 if nowhere.", "LOCATE('b', 'abc')"),
    Function("INSTR", ("string", "string"), fixed(t.INT), "instr({0}, {1})", "Where the second stands in the first, from 1; 0 if nowhere.", "INSTR('abc', 'b')"),
    Function("OVERLAY", ("string", "string", "int", "int?"), STR, lambda c: f"overlay({c.args[0]} PLACING {c.args[1]} FROM {c.args[2]}" + (f" FOR {c.args[3]})" if len(c.args) > 3 else ")"), "A part replaced.", "OVERLAY('abc' PLACING 'x' FROM 2)"),
    Function("ASCII", ("string",), fixed(t.INT), "ascii({0})", "The code of the first character.", "ASCII('a')"),
    Function("CHR", ("bigint",), STR, "char({0})", "The character with a code.", "CHR(97)"),
    Function("STARTSWITH", ("string", "string"), fixed(t.BOOLEAN), "startswith({0}, {1})", "Whether it begins so.", "STARTSWITH('abc', 'a')"),
    Function("ENDSWITH", ("string", "string"), fixed(t.BOOLEAN), "endswith({0}, {1})", "Whether it ends so.", "ENDSWITH('abc', 'c')"),
    Function("REGEXP", ("string", "string"), fixed(t.BOOLEAN), "({0} RLIKE {1})", "Whether a part matches the regular expression.", "REGEXP('abc', 'b')"),
    Function("REGEXP_EXTRACT", ("string", "string", "int?"), MAYBE_STR, _regexp_extract, "A group of the first match, the whole by default; NULL without a match.", "REGEXP_EXTRACT('a1', '([a-z])([0-9])', 2)"),
    Function("REGEXP_REPLACE", ("string", "string", "string"), MAYBE_STR, _regexp_replace, "Each match replaced by a text.", "REGEXP_REPLACE('a1b2', '[0-9]', '')"),
    Function("REGEXP_COUNT", ("string", "string"), nullable(t.INT), "regexp_count({0}, {1})", "How often it matches.", "REGEXP_COUNT('aba', 'a')"),
    Function("SPLIT_INDEX", ("string", "any", "int"), MAYBE_STR, _split_index, "One part of a split string, counted from 0.", "SPLIT_INDEX('a/b', '/', 1)"),
    Function("SPLIT", ("string", "string"), nullable(t.array(t.STRING)), lambda c: f"split({c.args[0]}, {_quoted(c.args[1])}, -1)", "The parts between a delimiter.", "SPLIT('a,b', ',')"),
    Function("STR_TO_MAP", ("string", "string?", "string?"), nullable(t.map_of(t.STRING, t.STRING)), lambda c: f"str_to_map({c.args[0]}, {c.args[1] if len(c.args) > 1 else chr(39) + ',' + chr(39)}, {c.args[2] if len(c.args) > 2 else chr(39) + '=' + chr(39)})", "A map of pairs in a text.", "STR_TO_MAP('a=1,b=2')"),
    Function("TO_BASE64", ("string",), STR, "base64(encode({0}, 'UTF-8'))", "In base 64.", "TO_BASE64('a')"),
    Function("FROM_BASE64", ("string",), MAYBE_STR, "decode(unbase64({0}), 'UTF-8')", "From base 64.", "FROM_BASE64('YQ==')"),
    Function("MD5", ("bytes or string",), STR, "md5({0})", "The MD5 hash.", "MD5('a')"),
    Function("SHA1", ("bytes or string",), STR, "sha1({0})", "The SHA-1 hash.", "SHA1('a')"),
    *(Function(f"SHA{b}", ("bytes or string",), STR, _sha(b), f"The SHA-{b} hash.", f"SHA{b}('a')") for b in (224, 256, 384, 512)),
    Function("CARDINALITY", ("collection",), fixed(t.INT), "size({0})", "The number of elements.", "CARDINALITY(ARRAY[1, 2])"),
    Function("ARRAY_CONTAINS", ("array", "any"), lambda ts: t.BOOLEAN.with_nullable(ts[0].nullable), "if({0} IS NULL, NULL, exists({0}, x -> x <=> {1}))", "Whether an array holds a value; NULL too.", "ARRAY_CONTAINS(ARRAY[1], 1)"),
    Function("ARRAY_DISTINCT", ("array",), like(0), "array_distinct({0})", "Without duplicates.", "ARRAY_DISTINCT(ARRAY[1, 1])"),
    Function("ARRAY_REVERSE", ("array",), like(0), "reverse({0})", "Backwards.", "ARRAY_REVERSE(ARRAY[1, 2])"),
    Function("ARRAY_MAX", ("array",), _element_type, "array_max({0})", "The greatest element.", "ARRAY_MAX(ARRAY[1, 2])"),
    Function("ARRAY_MIN", ("array",), _element_type, "array_min({0})", "The least element.", "ARRAY_MIN(ARRAY[1, 2])"),
    Function("MAP_KEYS", ("map",), lambda ts: t.array(ts[0].children[0]).with_nullable(ts[0].nullable), "map_keys({0})", "The keys.", "MAP_KEYS(MAP['a', 1])"),
    Function("MAP_VALUES", ("map",), lambda ts: t.array(ts[0].children[1]).with_nullable(ts[0].nullable), "map_values({0})", "The values.", "MAP_VALUES(MAP['a', 1])"),
)  # fmt: skip
