"""Functions of strings and bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlstream.sql import types as t
from sqlstream.sql.coercion import common_type
from sqlstream.sql.functions.base import VARIES, Function, Rendered, Spark, Types, fixed, like, nullable, packed, varying
from sqlstream.sql.functions.patterns import literal_pattern
from sqlstream.sql.quoting import spark_string

if TYPE_CHECKING:
    from sqlstream.sql.types import Type

_TEXT = fixed(t.STRING)
_MAYBE_TEXT = nullable(t.STRING)
_COUNT = fixed(t.INT)
_DELIMITERS = (spark_string(","), spark_string("="))
_TEXTS = nullable(t.array(t.STRING))


def _value(call: Rendered, index: int) -> object:
    """A constant argument's value; VARIES where it is not constant, or missing."""
    return call.values[index] if index < len(call.values) else VARIES


def _is_number(value: object) -> bool:
    return isinstance(value, int)


def call_of(name: str) -> Spark:
    """The Spark function ``name`` over the same arguments."""
    return lambda c: f"{name}({', '.join(c.args)})"


def _first_varying(types: Types) -> Type:
    """VARCHAR of the first's length."""
    return varying(types, types[0].args[0])


def _text_of_first(types: Types) -> Type:
    """STRING, NULL only where the first is."""
    return t.STRING.with_nullable(types[0].nullable)


def _substring_type(types: Types) -> Type:
    return _first_varying(types).null()


def _substring(call: Rendered) -> str:
    length = _value(call, 2) if len(call.args) > 2 else 0
    if isinstance(start := _value(call, 1), int) and start >= 0 and isinstance(length, int) and length >= 0:
        # Position 0 is position 1, in Spark too.
        return f"substring({', '.join(call.args)})"
    text, begin, *rest = call.args
    return f"sqlstream_substring({text}, {begin}, {rest[0] if rest else 2147483647})"


def _left(call: Rendered) -> str:
    return f"left(make_valid_utf8({call.args[0]}), {call.args[1]})"


def _trim(call: Rendered) -> str:
    if len(call.args) == 1:
        return f"trim({call.args[0]})"
    side, characters, text = call.args
    return f"trim({side} {characters} FROM {text})"


def _trim_type(types: Types) -> Type:
    """As the trimmed text, which comes last."""
    return varying(types[-2:], types[-1].args[0])


def _one_sided(side: str) -> Spark:
    return lambda c: f"trim({side} {c.args[1] if len(c.args) > 1 else spark_string(' ')} FROM {c.args[0]})"


def _replace(call: Rendered) -> str:
    known = isinstance(_value(call, 1), str) and _value(call, 1)
    return f"{'replace' if known else 'sqlstream_replace'}({', '.join(call.args)})"


def _locate(call: Rendered) -> str:
    if len(call.args) < 3:
        return f"locate({', '.join(call.args)})"
    position = f"locate({call.args[0]}, {call.args[1]}, greatest({call.args[2]}, 1))"
    return f"if({call.args[2]} IS NULL, NULL, {position})" if call.types[2].nullable else position


def _instr(call: Rendered) -> str:
    if len(call.args) < 3:
        return f"instr({', '.join(call.args)})"
    return f"sqlstream_instr({', '.join((*call.args, '1')[:4])})"


def _overlay_type(types: Types) -> Type:
    return varying(types, types[0].args[0] + types[1].args[0])


def _overlay(call: Rendered) -> str:
    text, new, start, *length = call.args
    return f"sqlstream_overlay({text}, {new}, {start}, {length[0] if length else f'CAST(char_length({new}) AS BIGINT)'})"


def _with_group(name: str, group: str) -> Spark:
    """A function of a regular expression's group, which is ``group`` where none is given."""
    return lambda c: f"{name}({', '.join((*c.args, group)[:3])})"


def _split_index(call: Rendered) -> str:
    return f"sqlstream_split_index{'_by_code' if call.types[1].is_integer else ''}({', '.join(call.args)})"


def _split(call: Rendered) -> str:
    text, delimiter = call.args
    parts = f"split({text}, {literal_pattern(_value(call, 1), delimiter)}, -1)"
    if not isinstance(_value(call, 1), str):
        parts = f"if({delimiter} = '', split({text}, ''), {parts})"
    # An empty text has no part.
    known = "" if isinstance(_value(call, 1), str) else f" AND {delimiter} IS NOT NULL"
    return f"if({text} = ''{known}, CAST(array() AS ARRAY<STRING>), {parts})"


def _str_to_map(call: Rendered) -> str:
    return f"sqlstream_str_to_map({', '.join((*call.args, *_DELIMITERS)[:3])})"


def _check_delimiters(types: Types, _: tuple[object, ...]) -> str | None:
    return "STR_TO_MAP takes both delimiters or none." if len(types) == 2 else None


def decoded(binary: str) -> str:
    """Spark SQL for the text of UTF-8 bytes: what is none of it becomes U+FFFD, as in Java."""
    return f"make_valid_utf8(CAST({binary} AS STRING))"


def _parse_url(call: Rendered) -> str:
    return f"sqlstream_parse_url{'_parameter' if len(call.args) > 2 else ''}({', '.join(call.args)})"


def _printf(call: Rendered) -> str:
    values = packed(call.args[1:], call.types[1:]) if len(call.args) > 1 else "named_struct('none', 0), 'none INT'"
    return f"sqlstream_printf({call.args[0]}, {values})"


def _check_printf(types: Types, values: tuple[object, ...]) -> str | None:
    if isinstance(values[0], str) and "%h" in values[0].lower():
        return "PRINTF writes no hash codes."
    wrong = next((x for x in types if x.children or x.is_binary or x.root == "VARIANT"), None)
    return f"A value of type '{wrong}' has no text in PRINTF." if wrong is not None else None


def _elt(call: Rendered) -> str:
    index, *texts = call.args
    return f"elt(CAST(greatest(-1L, least({index}, {len(texts) + 1}L)) AS INT), {', '.join(texts)})"


def _check_index(_: Types, values: tuple[object, ...]) -> str | None:
    return "The index of ELT is not negative." if isinstance(values[0], int) and values[0] < 0 else None


def _of_one_kind(types: Types) -> Types | None:
    """Texts or bytes, not both."""
    return None if len({x.is_binary for x in types if x.root != "NULL"}) > 1 else types


def _elt_type(types: Types) -> Type:
    return (common_type(types[1:]) or t.STRING).null()


def _hash(name: str, spark: str, length: int, summary: str) -> Function:
    return Function(name, ("bytes or string",), fixed(t.char(length)), spark, summary, f"{name}('a')")


def _sha2(call: Rendered) -> str:
    text, bits = call.args
    if _is_number(_value(call, 1)):
        return f"sha2({text}, {bits})"
    return f"if({bits} IN (224, 256, 384, 512) OR {bits} IS NULL OR {text} IS NULL, sha2({text}, {bits}), raise_error('Unsupported algorithm.'))"


def _check_bits(_: Types, values: tuple[Any, ...]) -> str | None:
    return "Unsupported algorithm." if _is_number(values[1]) and values[1] not in (224, 256, 384, 512) else None


ROWS: tuple[Function, ...] = (
    Function("UPPER", ("string",), like(0), "upper({0})", "In upper case.", "UPPER('a')"),
    Function("LOWER", ("string",), like(0), "lower({0})", "In lower case.", "LOWER('A')"),
    Function("CHAR_LENGTH", ("string",), _COUNT, "char_length({0})", "The number of characters.", "CHAR_LENGTH('abc')"),
    Function("CHARACTER_LENGTH", ("string",), _COUNT, "char_length({0})", "The number of characters.", "CHARACTER_LENGTH('abc')"),
    Function("CONCAT", ("string", "string*"), _TEXT, call_of("concat"), "Joined; NULL where one is NULL.", "CONCAT('a', 'b')"),
    Function("CONCAT_WS", ("string", "string*"), _TEXT, call_of("concat_ws"), "Joined with a separator, NULLs left out.", "CONCAT_WS('-', 'a', 'b')"),
    Function("SUBSTRING", ("string", "int", "int?"), _substring_type, _substring, "A part, counted from 1; from the end where negative.", "SUBSTRING('abc' FROM 2 FOR 1)"),
    Function("SUBSTR", ("string", "int", "int?"), _substring_type, _substring, "A part, counted from 1; from the end where negative.", "SUBSTR('abc', 2, 1)"),
    Function("LEFT", ("string", "int"), _substring_type, _left, "The first characters.", "LEFT('abc', 2)"),
    Function("RIGHT", ("string", "int"), _substring_type, "right(make_valid_utf8({0}), {1})", "The last characters.", "RIGHT('abc', 2)"),
    Function("TRIM", ("string", "string?", "string?"), _trim_type, _trim, "Without the characters at its ends.", "TRIM(BOTH 'x' FROM 'xax')", words=(0,)),
    Function("LTRIM", ("string", "string?"), _first_varying, _one_sided("LEADING"), "Without the characters at its beginning.", "LTRIM(' a')"),
    Function("RTRIM", ("string", "string?"), _first_varying, _one_sided("TRAILING"), "Without the characters at its end.", "RTRIM('a ')"),
    Function("BTRIM", ("string", "string?"), _TEXT, _one_sided("BOTH"), "Without the characters at its ends.", "BTRIM(' a ')"),
    Function("LPAD", ("string", "int", "string"), _TEXT, "sqlstream_lpad({0}, {1}, {2})", "Padded on the left to a length.", "LPAD('1', 3, '0')"),
    Function("RPAD", ("string", "int", "string"), _TEXT, "sqlstream_rpad({0}, {1}, {2})", "Padded on the right to a length.", "RPAD('1', 3, '0')"),
    Function("REPEAT", ("string", "int"), _TEXT, "repeat(make_valid_utf8({0}), {1})", "Repeated n times.", "REPEAT('ab', 2)"),
    Function("REVERSE", ("string",), _MAYBE_TEXT, "reverse({0})", "Backwards.", "REVERSE('abc')"),
    Function("REPLACE", ("string", "string", "string"), _TEXT, _replace, "Each occurrence of the second replaced by the third.", "REPLACE('abc', 'b', 'x')"),
    Function("TRANSLATE", ("string", "string", "string"), _text_of_first, "sqlstream_translate({0}, coalesce({1}, ''), coalesce({2}, ''))", "Each character of the second replaced by that of the third.", "TRANSLATE('abc', 'a', 'x')"),
    Function("TRANSLATE3", ("string", "string", "string"), _text_of_first, "sqlstream_translate({0}, coalesce({1}, ''), coalesce({2}, ''))", "TRANSLATE.", "TRANSLATE3('abc', 'a', 'x')"),
    Function("INITCAP", ("string",), like(0), "sqlstream_initcap({0})", "Each word with a capital.", "INITCAP('ab cd')"),
    Function("ASCII", ("string",), _COUNT, "sqlstream_ascii({0})", "The code of the first character.", "ASCII('a')"),
    Function("CHR", ("bigint",), _MAYBE_TEXT, "char({0})", "The character with a code.", "CHR(97)"),
    Function("POSITION", ("string", "string"), _COUNT, call_of("locate"), "Where the first stands in the second, from 1; 0 if nowhere.", "POSITION('b' IN 'abc')"),
    Function("LOCATE", ("string", "string", "int?"), _COUNT, _locate, "Where the first stands in the second, from 1; 0 if nowhere.", "LOCATE('b', 'abc')"),
    Function("INSTR", ("string", "string", "int?", "int?"), _COUNT, _instr, "Where the second stands in the first, from 1; 0 if nowhere.", "INSTR('abc', 'b')"),
    Function("OVERLAY", ("string", "string", "bigint", "bigint?"), _overlay_type, _overlay, "A part replaced.", "OVERLAY('abc' PLACING 'x' FROM 2)"),
    Function("STARTSWITH", ("bytes or string", "bytes or string"), fixed(t.BOOLEAN), "startswith({0}, {1})", "Whether it begins so.", "STARTSWITH('abc', 'a')", coerce=_of_one_kind),
    Function("ENDSWITH", ("bytes or string", "bytes or string"), fixed(t.BOOLEAN), "endswith({0}, {1})", "Whether it ends so.", "ENDSWITH('abc', 'c')", coerce=_of_one_kind),
    Function("REGEXP", ("string", "string"), fixed(t.BOOLEAN), "sqlstream_regexp({0}, {1})", "Whether a part matches the regular expression.", "REGEXP('abc', 'b')"),
    Function("REGEXP_EXTRACT", ("string", "string", "int?"), _MAYBE_TEXT, _with_group("sqlstream_regexp_extract", "0"), "A group of the first match, the whole by default; NULL without a match.", "REGEXP_EXTRACT('a1', '([a-z])([0-9])', 2)"),
    Function("REGEXP_REPLACE", ("string", "string", "string"), _TEXT, "sqlstream_regexp_replace({0}, {1}, {2})", "Each match replaced by a text.", "REGEXP_REPLACE('a1b2', '[0-9]', '')"),
    Function("REGEXP_COUNT", ("string", "string"), nullable(t.INT), "sqlstream_regexp_count({0}, {1})", "How often it matches.", "REGEXP_COUNT('aba', 'a')"),
    Function("REGEXP_EXTRACT_ALL", ("string", "string", "bigint?"), _TEXTS, _with_group("sqlstream_regexp_extract_all", "1L"), "A group of all matches, the first by default.", "REGEXP_EXTRACT_ALL('a1b2', '([a-z])', 1)"),
    Function("REGEXP_INSTR", ("string", "string"), nullable(t.INT), "sqlstream_regexp_instr({0}, {1})", "Where the first match begins, from 1; 0 if nowhere.", "REGEXP_INSTR('abc', 'b')"),
    Function("REGEXP_SUBSTR", ("string", "string"), _MAYBE_TEXT, "sqlstream_regexp_substr({0}, {1})", "The first match.", "REGEXP_SUBSTR('abc', 'b.')"),
    Function("SPLIT_INDEX", ("string", "integer or string", "int"), _MAYBE_TEXT, _split_index, "One part of a split string, counted from 0.", "SPLIT_INDEX('a/b', '/', 1)"),
    Function("SPLIT", ("string", "string"), fixed(t.array(t.STRING)), _split, "The parts between a delimiter.", "SPLIT('a,b', ',')"),
    Function("STR_TO_MAP", ("string", "string?", "string?"), nullable(t.map_of(t.STRING, t.STRING)), _str_to_map, "A map of pairs in a text.", "STR_TO_MAP('a=1,b=2')", check=_check_delimiters),
    Function("TO_BASE64", ("bytes or string",), _TEXT, "sqlstream_to_base64(CAST({0} AS BINARY))", "In base 64.", "TO_BASE64('a')"),
    Function("FROM_BASE64", ("string",), _TEXT, "sqlstream_from_base64({0})", "From base 64.", "FROM_BASE64('YQ==')"),
    _hash("MD5", "md5({0})", 32, "The MD5 hash."),
    _hash("SHA1", "sha1({0})", 40, "The SHA-1 hash."),
    *(_hash(f"SHA{bits}", f"sha2({{0}}, {bits})", bits // 4, f"The SHA-{bits} hash.") for bits in (224, 256, 384, 512)),
    Function("SHA2", ("bytes or string", "int"), fixed(t.varchar(128)), _sha2, "The SHA-2 hash of 224, 256, 384 or 512 bits.", "SHA2('a', 256)", check=_check_bits),
    Function("ENCODE", ("string", "string"), fixed(t.BYTES), "sqlstream_encode({0}, {1})", "The bytes of a text in a character set.", "ENCODE('a', 'UTF-8')"),
    Function("DECODE", ("binary", "string"), _TEXT, "sqlstream_decode({0}, {1})", "The text of bytes in a character set.", "DECODE(X'61', 'UTF-8')"),
    Function("URL_ENCODE", ("string",), _MAYBE_TEXT, "url_encode({0})", "Escaped for a URL.", "URL_ENCODE('a b')"),
    Function("URL_DECODE", ("string",), _MAYBE_TEXT, "sqlstream_url_decode({0})", "A URL's escapes undone; NULL where they are wrong.", "URL_DECODE('a+b')"),
    Function("PARSE_URL", ("string", "string", "string?"), _MAYBE_TEXT, _parse_url, "A part of a URL: HOST, PATH, QUERY, ..", "PARSE_URL('http://a.com/b', 'HOST')"),
    Function("PRINTF", ("string", "any*"), _MAYBE_TEXT, _printf, "Formatted as by Java's printf; NULL where the format does not fit.", "PRINTF('%s-%d', 'a', 1)", check=_check_printf),
    Function("ELT", ("bigint", "string", "string*"), _elt_type, _elt, "The n-th of the texts; NULL where there is none.", "ELT(2, 'a', 'b')", check=_check_index),
    Function("INET_ATON", ("string",), nullable(t.BIGINT), "sqlstream_inet_aton({0})", "The number of an IPv4 address; NULL where it is none.", "INET_ATON('127.0.0.1')"),
    Function("INET_NTOA", ("bigint",), _MAYBE_TEXT, "sqlstream_inet_ntoa({0})", "The IPv4 address of a number.", "INET_NTOA(2130706433)"),
    Function("UUID", (), lambda _: t.char(36).not_null(), "uuid()", "A random UUID.", "UUID()", deterministic=False),
)  # fmt: skip
