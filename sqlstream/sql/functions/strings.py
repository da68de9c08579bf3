"""Functions of strings and bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.sql import types as t
from sqlstream.sql.coercion import common_type
from sqlstream.sql.functions.base import VARIES, Function, Rendered, Spark, Types, fixed, like, nullable, sql_string, varying
from sqlstream.sql.functions.patterns import literal_pattern, replacement

if TYPE_CHECKING:
    from sqlstream.sql.types import Type

_TEXT = fixed(t.STRING)
_MAYBE_TEXT = nullable(t.STRING)
_COUNT = fixed(t.INT)
_TEXTS = nullable(t.array(t.STRING))


def _value(call: Rendered, index: int) -> object:
    """A constant argument's value; VARIES where it is no constant or missing."""
    return call.values[index] if index < len(call.values) else VARIES


def _is_number(value: object) -> bool:
    return isinstance(value, int)


def call_of(name: str) -> Spark:
    """The Spark function ``name`` over the same arguments."""
    return lambda c: f"{name}({', '.join(c.args)})"


def _first_varying(types: Types) -> Type:
    """VARCHAR of the first's length."""
    return varying(types, types[0].args[0])


def _substring_type(types: Types) -> Type:
    return _first_varying(types).null()


def _substring(call: Rendered) -> str:
    text, start, *length = call.args
    cut = f"substring({', '.join(call.args)})"
    first = _value(call, 1)
    # Position 0 is position 1, in Spark too. A position before the beginning gives '', where Spark clips.
    if not _is_number(first):
        cut = f"if({start} < 0 AND -({start}) > char_length({text}), if({text} IS NULL, NULL, ''), {cut})"
    elif first < 0:  # type: ignore[operator]
        cut = f"if({-first} > char_length({text}), '', {cut})"  # type: ignore[operator]
    if length and not (_is_number(_value(call, 2)) and call.values[2] >= 0):
        cut = f"if({length[0]} < 0, NULL, {cut})"
    return cut


def _left(call: Rendered) -> str:
    return f"left({call.args[0]}, {call.args[1]})"


def _trim(call: Rendered) -> str:
    if len(call.args) == 1:
        return f"trim({call.args[0]})"
    side, characters, text = call.args
    return f"trim({side} {characters} FROM {text})"


def _trim_type(types: Types) -> Type:
    """As the trimmed text, which comes last."""
    return varying(types[-2:], types[-1].args[0])


def _one_sided(side: str) -> Spark:
    return lambda c: f"trim({side} {c.args[1] if len(c.args) > 1 else sql_string(' ')} FROM {c.args[0]})"


def _pad(name: str) -> Spark:
    def render(call: Rendered) -> str:
        text, length, pad = call.args
        padded = f"{name}({text}, {length}, {pad})"
        conditions = []
        if not (_is_number(_value(call, 1)) and call.values[1] >= 0):
            conditions.append(f"{length} < 0")
        if _value(call, 2) is VARIES or not _value(call, 2):
            conditions.append(f"{pad} = ''")
        return f"if({' OR '.join(conditions)}, NULL, {padded})" if conditions else padded

    return render


def _replace(call: Rendered) -> str:
    text, search, new = call.args
    replaced = f"replace({text}, {search}, {new})"
    if _value(call, 1) not in (VARIES, None, ""):
        return replaced
    # An empty text stands between all characters and at both ends.
    between = f"regexp_replace({text}, '', {replacement(call.values[2], new)})"
    return f"if({search} = '', {between}, {replaced})"


def _initcap(call: Rendered) -> str:
    # A word is a run of ASCII letters and digits; only ASCII letters change.
    letters = f"split({call.args[0]}, '')"
    lowered = "translate(c, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')"
    raised = "translate(c, 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')"
    one = f"if(i > 0 AND get(a, i - 1) RLIKE '[A-Za-z0-9]', {lowered}, {raised})"
    return f"transform(array({letters}), a -> array_join(transform(a, (c, i) -> {one}), ''))[0]"


def _ascii(call: Rendered) -> str:
    # The first byte, signed.
    text = call.args[0]
    byte = f"CAST(conv(hex(substring(CAST({text} AS BINARY), 1, 1)), 16, 10) AS INT)"
    return f"if(ascii({text}) < 128, ascii({text}), {byte} - 256)"


def _locate(call: Rendered) -> str:
    if len(call.args) < 3:
        return f"locate({', '.join(call.args)})"
    return f"locate({call.args[0]}, {call.args[1]}, greatest({call.args[2]}, 1))"


def _instr(call: Rendered) -> str:
    text, part, *start = call.args
    return f"locate({part}, {text}, {start[0]})" if start else f"instr({text}, {part})"


def _check_instr(types: Types, values: tuple[object, ...]) -> str | None:
    if len(types) > 3 or (len(types) == 3 and not (isinstance(values[2], int) and values[2] > 0)):
        return "INSTR with a start takes a constant that is greater than 0, and no occurrence."
    return None


def _overlay_type(types: Types) -> Type:
    return varying(types, types[0].args[0] + types[1].args[0])


def _overlay(call: Rendered) -> str:
    text, new, start, *rest = call.args
    length = rest[0] if rest else f"char_length({new})"
    behind = f"if({start} + {length} <= char_length({text}) AND {length} > 0, substring({text}, {start} + {length}), '')"
    return f"if({start} <= 0 OR {start} > char_length({text}), {text}, concat(left({text}, {start} - 1), {new}, {behind}))"


def _regexp_extract(call: Rendered) -> str:
    text, pattern, *group = call.args
    return f"sqlstream_regexp_extract({text}, {pattern}, {group[0] if group else '0'})"


def _regexp_replace(call: Rendered) -> str:
    return f"regexp_replace({call.args[0]}, {call.args[1]}, {replacement(_value(call, 2), call.args[2])})"


def _split_index(call: Rendered) -> str:
    text, delimiter, index = call.args
    value, position = _value(call, 1), _value(call, 2)
    if call.types[1].is_integer:
        pattern = literal_pattern(chr(value), "") if isinstance(value, int) and 0 < value < 256 else literal_pattern(VARIES, f"char({delimiter})")
    elif value == "":
        # Without a delimiter, Flink splits at white space.
        pattern = sql_string("\\s")
    else:
        pattern = literal_pattern(value, delimiter)
        pattern = pattern if isinstance(value, str) else f"if({delimiter} = '', {sql_string(chr(92) + 's')}, {pattern})"
    known = isinstance(position, int) and position >= 0
    # Of an empty text there are no parts; Spark's split gives one.
    there = text if known and position else f"nullif({text}, '')"
    part = f"get(split({there}, {pattern}, -1), {index})"
    return part if known else f"if({index} < 0, NULL, {part})"


def _split(call: Rendered) -> str:
    return f"split({call.args[0]}, {literal_pattern(_value(call, 1), call.args[1])}, -1)"


def _str_to_map(call: Rendered) -> str:
    text, *delimiters = call.args
    pair, key = [*delimiters, sql_string(","), sql_string("=")][:2] if len(delimiters) != 1 else [delimiters[0], sql_string("=")]
    return f"if({text} = '', CAST(map() AS MAP<STRING,STRING>), str_to_map({text}, {pair}, {key}))"


def _decode(call: Rendered) -> str:
    charset = _value(call, 1)
    if isinstance(charset, str) and charset.upper() in ("UTF-8", "UTF8"):
        return decoded(call.args[0])
    return f"decode({call.args[0]}, {call.args[1]})"


def _from_base64(call: Rendered) -> str:
    text = call.args[0]
    wrong = f"raise_error(concat('Illegal base64 text: ', {text}))"
    checked = f"if({text} RLIKE '^[A-Za-z0-9+/]*=*$', {text}, {wrong})"
    return decoded(f"unbase64({checked})")


def decoded(binary: str) -> str:
    """Spark SQL for the text of UTF-8 bytes: what is none of it becomes U+FFFD, as in Java."""
    return f"make_valid_utf8(CAST({binary} AS STRING))"


def _parse_url(call: Rendered) -> str:
    # A text without a protocol that Java knows is no URL.
    return f"if({call.args[0]} RLIKE '^(?i)(https?|ftp|file|jar):', try_parse_url({', '.join(call.args)}), NULL)"


def _elt_type(types: Types) -> Type:
    return (common_type(types[1:]) or t.STRING).null()


def _hash(name: str, spark: str, length: int, summary: str) -> Function:
    return Function(name, ("bytes or string",), fixed(t.char(length)), spark, summary, f"{name}('a')")


ROWS: tuple[Function, ...] = (
    Function("UPPER", ("string",), like(0), "upper({0})", "In upper case.", "UPPER('a')"),
    Function("LOWER", ("string",), like(0), "lower({0})", "In lower case.", "LOWER('A')"),
    Function("CHAR_LENGTH", ("string",), _COUNT, "char_length({0})", "The number of characters.", "CHAR_LENGTH('abc')"),
    Function("CHARACTER_LENGTH", ("string",), _COUNT, "char_length({0})", "The number of characters.", "CHARACTER_LENGTH('abc')"),
    Function("CONCAT", ("string*",), _TEXT, call_of("concat"), "Joined; NULL where one is NULL.", "CONCAT('a', 'b')"),
    Function("CONCAT_WS", ("string", "string*"), _TEXT, call_of("concat_ws"), "Joined with a separator, NULLs left out.", "CONCAT_WS('-', 'a', 'b')"),
    Function("SUBSTRING", ("string", "int", "int?"), _substring_type, _substring, "A part, counted from 1; from the end where negative.", "SUBSTRING('abc' FROM 2 FOR 1)"),
    Function("SUBSTR", ("string", "int", "int?"), _substring_type, _substring, "A part, counted from 1; from the end where negative.", "SUBSTR('abc', 2, 1)"),
    Function("LEFT", ("string", "int"), _TEXT, _left, "The first characters.", "LEFT('abc', 2)"),
    Function("RIGHT", ("string", "int"), _TEXT, "right({0}, {1})", "The last characters.", "RIGHT('abc', 2)"),
    Function("TRIM", ("string", "string?", "string?"), _trim_type, _trim, "Without the characters at its ends.", "TRIM(BOTH 'x' FROM 'xax')", words=(0,)),
    Function("LTRIM", ("string", "string?"), _first_varying, _one_sided("LEADING"), "Without the characters at its beginning.", "LTRIM(' a')"),
    Function("RTRIM", ("string", "string?"), _first_varying, _one_sided("TRAILING"), "Without the characters at its end.", "RTRIM('a ')"),
    Function("BTRIM", ("string", "string?"), _TEXT, _one_sided("BOTH"), "Without the characters at its ends.", "BTRIM(' a ')"),
    Function("LPAD", ("string", "int", "string"), _TEXT, _pad("lpad"), "Padded on the left to a length.", "LPAD('1', 3, '0')"),
    Function("RPAD", ("string", "int", "string"), _TEXT, _pad("rpad"), "Padded on the right to a length.", "RPAD('1', 3, '0')"),
    Function("REPEAT", ("string", "int"), _TEXT, "repeat({0}, {1})", "Repeated n times.", "REPEAT('ab', 2)"),
    Function("REVERSE", ("string",), _MAYBE_TEXT, "reverse({0})", "Backwards.", "REVERSE('abc')"),
    Function("REPLACE", ("string", "string", "string"), _TEXT, _replace, "Each occurrence of the second replaced by the third.", "REPLACE('abc', 'b', 'x')"),
    Function("TRANSLATE", ("string", "string", "string"), _TEXT, "translate({0}, {1}, {2})", "Each character of the second replaced by that of the third.", "TRANSLATE('abc', 'a', 'x')"),
    Function("INITCAP", ("string",), like(0), _initcap, "Each word with a capital.", "INITCAP('ab cd')"),
    Function("ASCII", ("string",), _COUNT, _ascii, "The code of the first character.", "ASCII('a')"),
    Function("CHR", ("bigint",), _MAYBE_TEXT, "char({0})", "The character with a code.", "CHR(97)"),
    Function("POSITION", ("string", "string"), _COUNT, call_of("locate"), "Where the first stands in the second, from 1; 0 if nowhere.", "POSITION('b' IN 'abc')"),
    Function("LOCATE", ("string", "string", "int?"), _COUNT, _locate, "Where the first stands in the second, from 1; 0 if nowhere.", "LOCATE('b', 'abc')"),
    Function("INSTR", ("string", "string", "int?", "int?"), _COUNT, _instr, "Where the second stands in the first, from 1; 0 if nowhere.", "INSTR('abc', 'b')", check=_check_instr),
    Function("OVERLAY", ("string", "string", "int", "int?"), _overlay_type, _overlay, "A part replaced.", "OVERLAY('abc' PLACING 'x' FROM 2)"),
    Function("STARTSWITH", ("bytes or string", "bytes or string"), fixed(t.BOOLEAN), "startswith({0}, {1})", "Whether it begins so.", "STARTSWITH('abc', 'a')"),
    Function("ENDSWITH", ("bytes or string", "bytes or string"), fixed(t.BOOLEAN), "endswith({0}, {1})", "Whether it ends so.", "ENDSWITH('abc', 'c')"),
    Function("REGEXP", ("string", "string"), fixed(t.BOOLEAN), "sqlstream_regexp({0}, {1})", "Whether a part matches the regular expression.", "REGEXP('abc', 'b')"),
    Function("REGEXP_EXTRACT", ("string", "string", "int?"), _MAYBE_TEXT, _regexp_extract, "A group of the first match, the whole by default; NULL without a match.", "REGEXP_EXTRACT('a1', '([a-z])([0-9])', 2)"),
    Function("REGEXP_REPLACE", ("string", "string", "string"), _TEXT, _regexp_replace, "Each match replaced by a text.", "REGEXP_REPLACE('a1b2', '[0-9]', '')"),
    Function("REGEXP_COUNT", ("string", "string"), nullable(t.INT), "regexp_count({0}, {1})", "How often it matches.", "REGEXP_COUNT('aba', 'a')"),
    Function("REGEXP_EXTRACT_ALL", ("string", "string", "int?"), _TEXTS, call_of("regexp_extract_all"), "A group of all matches, the first by default.", "REGEXP_EXTRACT_ALL('a1b2', '([a-z])', 1)"),
    Function("REGEXP_INSTR", ("string", "string"), nullable(t.INT), "regexp_instr({0}, {1})", "Where the first match begins, from 1; 0 if nowhere.", "REGEXP_INSTR('abc', 'b')"),
    Function("REGEXP_SUBSTR", ("string", "string"), _MAYBE_TEXT, "regexp_substr({0}, {1})", "The first match.", "REGEXP_SUBSTR('abc', 'b.')"),
    Function("SPLIT_INDEX", ("string", "any", "int"), _MAYBE_TEXT, _split_index, "One part of a split string, counted from 0.", "SPLIT_INDEX('a/b', '/', 1)"),
    Function("SPLIT", ("string", "string"), _TEXTS, _split, "The parts between a delimiter.", "SPLIT('a,b', ',')"),
    Function("STR_TO_MAP", ("string", "string?", "string?"), nullable(t.map_of(t.STRING, t.STRING)), _str_to_map, "A map of pairs in a text.", "STR_TO_MAP('a=1,b=2')"),
    Function("TO_BASE64", ("string",), _TEXT, "base64(CAST({0} AS BINARY))", "In base 64.", "TO_BASE64('a')"),
    Function("FROM_BASE64", ("string",), _TEXT, _from_base64, "From base 64.", "FROM_BASE64('YQ==')"),
    _hash("MD5", "md5({0})", 32, "The MD5 hash."),
    _hash("SHA1", "sha1({0})", 40, "The SHA-1 hash."),
    *(_hash(f"SHA{bits}", f"sha2({{0}}, {bits})", bits // 4, f"The SHA-{bits} hash.") for bits in (224, 256, 384, 512)),
    Function("SHA2", ("bytes or string", "int"), fixed(t.varchar(128)), "sha2({0}, {1})", "The SHA-2 hash of 224, 256, 384 or 512 bits.", "SHA2('a', 256)"),
    Function("ENCODE", ("string", "string"), nullable(t.BYTES), "encode({0}, {1})", "The bytes of a text in a character set.", "ENCODE('a', 'UTF-8')"),
    Function("DECODE", ("binary", "string"), _MAYBE_TEXT, _decode, "The text of bytes in a character set.", "DECODE(X'61', 'UTF-8')"),
    Function("URL_ENCODE", ("string",), _MAYBE_TEXT, "url_encode({0})", "Escaped for a URL.", "URL_ENCODE('a b')"),
    Function("URL_DECODE", ("string",), _MAYBE_TEXT, "try_url_decode({0})", "A URL's escapes undone; NULL where they are wrong.", "URL_DECODE('a+b')"),
    Function("PARSE_URL", ("string", "string", "string?"), _MAYBE_TEXT, _parse_url, "A part of a URL: HOST, PATH, QUERY, ..", "PARSE_URL('http://a.com/b', 'HOST')"),
    Function("PRINTF", ("string", "any*"), _MAYBE_TEXT, call_of("format_string"), "Formatted as by Java's printf.", "PRINTF('%s-%d', 'a', 1)"),
    Function("ELT", ("int", "string*"), _elt_type, call_of("elt"), "The n-th of the texts; NULL where there is none.", "ELT(2, 'a', 'b')"),
    Function("UUID", (), lambda _: t.char(36).not_null(), "uuid()", "A random UUID.", "UUID()", deterministic=False),
)  # fmt: skip
