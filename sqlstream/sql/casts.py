"""CAST as Spark SQL, for every pair of types that Flink casts. What must fail raises by itself: Spark runs without ANSI mode."""

from __future__ import annotations

from sqlstream.sql.functions.base import instant, local
from sqlstream.sql.functions.strings import decoded
from sqlstream.sql.generated_names import bound
from sqlstream.sql.quoting import quote, spark_string
from sqlstream.sql.types import INT, MAX_LENGTH, Type

_TRUE = "'t', 'true', 'y', 'yes', '1'"
_FALSE = "'f', 'false', 'n', 'no', '0'"
# Spark reads inf and infinity in any case too.
_FLOATING = r"^\s*[+-]?(\d|\.|NaN\s*$|Infinity\s*$)"
_FRACTION = r"^\s*[+-]?(\d+\.\d*|\.\d+)\s*$"


def castable(source: Type, target: Type) -> bool:
    """Whether Flink has an explicit cast."""
    if "VARIANT" in (source.root, target.root) and source.root not in (target.root, "NULL"):
        return False
    if source.root == "NULL" or (source.root == target.root and not source.children) or target.is_string:
        return True
    if source.is_string:
        return not target.children and not target.is_interval
    if source.is_numeric:
        return target.is_numeric or target.root == "BOOLEAN"
    if source.root == "BOOLEAN":
        return target.is_numeric
    if source.is_timestamp or source.root in ("DATE", "TIME"):
        if source.root == "TIME":
            return target.root == "TIME" or target.is_timestamp
        return target.is_timestamp or (target.root in ("DATE", "TIME") and not (source.root == "DATE" and target.root == "TIME"))
    if source.is_binary:
        return target.is_binary
    if source.root == target.root and len(source.children) == len(target.children):
        return all(map(castable, source.children, target.children))
    return False


def cast_sql(text: str, source: Type, target: Type, zone: str, *, safe: bool = False) -> str:
    """Spark SQL for CAST(text AS target), TRY_CAST where ``safe``; ``text`` is of ``source``."""
    if source.root == "NULL":
        return f"CAST(NULL AS {target.spark})"
    if source.same(target):
        return text
    if target.is_string:
        return _sized(string_sql(text, source, zone), source, target)
    if source.is_string:
        return _parsed(text, target, zone, safe)
    if source.is_binary:
        return _sized_bytes(text, target)
    if source.is_timestamp or source.root in ("DATE", "TIME"):
        return _temporal(text, source, target, zone)
    if target.root == "BOOLEAN":
        return f"({text} <> 0)"
    if source.root == "ARRAY":
        (inner,), (wanted,) = source.children, target.children
        if cast_sql("", inner, wanted, zone, safe=safe) == "":
            return text
        cast = f"transform({text}, {bound(lambda x: cast_sql(x, inner, wanted, zone, safe=safe))})"
        return _unless(_fails(text, inner, wanted, zone), cast) if safe else cast
    if source.root == "ROW":
        return _row(text, source, target, zone, safe)
    if source.root in ("MAP", "MULTISET"):
        return _map(text, source, target, zone, safe)
    return text if source.spark == target.spark else f"CAST({text} AS {target.spark})"


def _map(text: str, source: Type, target: Type, zone: str, safe: bool) -> str:
    key, *value = source.children
    wanted, *held = target.children
    cast, failed = text, []
    if cast_sql("", key, wanted, zone, safe=safe):
        cast = f"transform_keys({cast}, {bound(lambda k, v: cast_sql(k, key, wanted, zone, safe=safe))})"
        failed.append(_fails(f"map_keys({text})", key, wanted, zone))
    # A MULTISET's values are numbers, which stay.
    if value and cast_sql("", value[0], held[0], zone, safe=safe):
        cast = f"transform_values({cast}, {bound(lambda k, v: cast_sql(v, value[0], held[0], zone, safe=safe))})"
        failed.append(_fails(f"map_values({text})", value[0], held[0], zone))
    return _unless(" OR ".join(failed), cast) if safe and failed else cast


def _fails(array: str, source: Type, target: Type, zone: str) -> str:
    """Whether an element of ``array`` can't be cast."""
    return f"exists({array}, {bound(lambda x: f'{x} IS NOT NULL AND {cast_sql(x, source, target, zone, safe=True)} IS NULL')})"


def _row(text: str, source: Type, target: Type, zone: str, safe: bool) -> str:
    fields, failed = [], [f"{text} IS NULL"]
    for name, inner, new_name, wanted in zip(source.names, source.children, target.names, target.children, strict=True):
        value = f"{text}.{quote(name)}"
        cast = cast_sql(value, inner, wanted, zone, safe=safe)
        fields.append(f"{spark_string(new_name)}, {cast}")
        if safe and cast != value:
            failed.append(f"({value} IS NOT NULL AND {cast} IS NULL)")
    return _unless(" OR ".join(failed), f"named_struct({', '.join(fields)})")


def _unless(failed: str, cast: str) -> str:
    """``cast``, NULL where a part of it can't be cast."""
    return f"if({failed}, NULL, {cast})"


def _sized(text: str, source: Type, target: Type) -> str:
    length = target.args[0]
    if source.is_string and source.args[0] <= length and not (target.root == "CHAR" and source.args[0] < length):
        return text
    if target.root == "CHAR":
        return f"rpad({text}, {length}, ' ')"
    return text if length == MAX_LENGTH else f"left({text}, {length})"


def _sized_bytes(text: str, target: Type) -> str:
    length = target.args[0]
    if target.root == "BINARY":
        return f"rpad({text}, {length}, X'00')"
    return text if length == MAX_LENGTH else f"substring({text}, 1, {length})"


def _parsed(text: str, target: Type, zone: str, safe: bool) -> str:
    """A string read as ``target``: NULL where it can't be and ``safe``, else the query fails."""
    match target.root:
        case "BOOLEAN":
            tried = f"CASE WHEN lower({text}) IN ({_TRUE}) THEN true WHEN lower({text}) IN ({_FALSE}) THEN false END"
        case "TINYINT" | "SMALLINT" | "INT" | "BIGINT":
            # Flink cuts a fraction off: '1.7' is 1.
            number = f"if({text} RLIKE {spark_string(_FRACTION)}, try_cast({text} AS DECIMAL(38,18)), NULL)"
            cut = f"try_cast(if({number} < 0, ceil({number}), floor({number})) AS {target.spark})"
            tried = f"coalesce(try_cast(trim({text}) AS {target.spark}), {cut})"
        case "DECIMAL":
            tried = f"try_cast(trim({text}) AS {target.spark})"
        case "FLOAT" | "DOUBLE":
            tried = f"if({text} RLIKE {spark_string(_FLOATING)}, try_cast(trim({text}) AS {target.spark}), NULL)"
        case "DATE":
            tried = f"sqlstream_to_date({text})"
        case "TIME":
            tried = _timed(f"time_from_millis(sqlstream_to_time({text}))", target)
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            tried = _rounded(instant(f"sqlstream_to_timestamp({text})", target, zone), target)
        case "BINARY" | "VARBINARY":
            return _sized_bytes(f"CAST({text} AS BINARY)", target)
        case _:
            return f"CAST({text} AS {target.spark})"
    if safe:
        return tried
    problem = f"concat('For input string: ', {text})" if target.is_numeric else f"concat('Cannot parse \"', {text}, '\" as {target}.')"
    return f"coalesce({tried}, CAST(if({text} IS NULL, NULL, raise_error({problem})) AS {target.spark}))"


def _rounded(text: str, target: Type, source: Type | None = None) -> str:
    """A timestamp cut to the precision of ``target``."""
    precision = target.args[0]
    if precision >= 6 or (source is not None and source.is_timestamp and source.args[0] <= precision):
        return text
    if precision in (0, 3):
        return f"date_trunc('{'SECOND' if precision == 0 else 'MILLISECOND'}', {text})"
    unit = 10 ** (6 - precision)
    return f"timestamp_micros(unix_micros({text}) - pmod(unix_micros({text}), {unit}L))"


def _temporal(text: str, source: Type, target: Type, zone: str) -> str:
    if source.root == "TIME":
        return instant(f"timestamp_micros(time_to_micros({text}))", target, zone) if target.is_timestamp else _timed(text, target)
    wall = f"CAST({text} AS TIMESTAMP)" if source.root == "DATE" else local(text, source, zone)
    if target.root == "DATE":
        return f"CAST({wall} AS DATE)"
    if target.root == "TIME":
        return _timed(f"time_from_micros(pmod(unix_micros({wall}), 86400000000L))", target)
    if source.root == target.root:
        return _rounded(text, target, source)
    return _rounded(instant(wall, target, zone), target, source)


def _timed(text: str, target: Type) -> str:
    """A TIME cut to the precision of ``target``."""
    return text if target.args[0] > 3 else f"time_trunc('{'SECOND' if target.args[0] == 0 else 'MILLISECOND'}', {text})"


def string_sql(text: str, source: Type, zone: str, *, display: bool = False) -> str:
    """Spark SQL for the text of a value, by Flink's CAST to STRING."""
    match source.root:
        case "CHAR" | "VARCHAR":
            return text
        case "BOOLEAN":
            return f"upper(CAST({text} AS STRING))"
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return f"sqlstream_timestamp_text({local(text, source, zone)}, {source.args[0]})"
        case "DATE":
            return f"sqlstream_date_text({text})"
        case "BINARY" | "VARBINARY":
            return f"concat('x\\'', lower(hex({text})), '\\'')" if display else decoded(text)
        case "DECIMAL" if source.args[1] > 6:
            return _plain(text, source.args[1])
        case "TIME" if source.args[0]:
            shown = f"CAST({text} AS STRING)"
            return f"if(length({shown}) = 8, concat({shown}, '.0'), {shown})"
        case "INTERVAL_MONTHS":
            return f"sqlstream_months_text({text})"
        case "INTERVAL_MILLIS":
            return f"sqlstream_interval_text({text})"
        case "ARRAY":
            element = bound(lambda x: string_sql(x, source.children[0], zone, display=display))
            return f"concat('[', array_join(transform({text}, {element}), ', ', 'NULL'), ']')"
        case "MAP" | "MULTISET":
            inner, held = (*source.children, INT)[:2]

            def pair(entry: str) -> str:
                key, value = (string_sql(f"{entry}.{n}", t, zone, display=display) for n, t in (("key", inner), ("value", held)))
                return f"concat(coalesce({key}, 'NULL'), '=', coalesce({value}, 'NULL'))"

            return f"concat('{{', array_join(transform(map_entries({text}), {bound(pair)}), ', '), '}}')"
        case "ROW":
            cells = [
                f"coalesce({string_sql(f'{text}.{quote(n)}', c, zone, display=display)}, 'NULL')"
                for n, c in zip(source.names, source.children, strict=True)
            ]
            joined = f"concat('(', concat_ws(', ', {', '.join(cells)}), ')')"
            return f"if({text} IS NULL, NULL, {joined})"
        case "VARIANT":
            return f"sqlstream_variant_text({text})"
        case "NULL":
            return "CAST(NULL AS STRING)"
    return f"CAST({text} AS STRING)"


def _plain(text: str, scale: int) -> str:
    """A DECIMAL without an exponent, which Spark writes below a millionth."""
    digits = f"substring(CAST(CAST(abs({text}) AS DECIMAL({scale},{scale})) + 1BD AS STRING), 2)"
    small = f"concat(if({text} < 0, '-', ''), '0', {digits})"
    return f"if(abs({text}) < 0.000001BD, {small}, CAST({text} AS STRING))"


def display_sql(text: str, source: Type, zone: str) -> str:
    """Spark SQL for the text that the client shows of a value: bytes in hexadecimal, all else as CAST to STRING; NULL stays NULL."""
    return string_sql(text, source, zone, display=True)


def json_sql(text: str, source: Type, zone: str) -> str:
    """Spark SQL for a nested value as JSON: numbers, booleans, arrays and objects as such, all else as the text that the client shows."""
    return f"to_json({_json_shape(text, source, zone)}, map('ignoreNullFields', 'false'))"


def _json_shape(text: str, source: Type, zone: str) -> str:
    """What ``to_json`` writes so."""
    match source.root:
        case "ARRAY":
            return f"transform({text}, {bound(lambda x: _json_shape(x, source.children[0], zone))})"
        case "MAP" | "MULTISET":
            inner, held = (*source.children, INT)[:2]
            pair = bound(lambda e: f"struct({display_sql(f'{e}.key', inner, zone)}, {_json_shape(f'{e}.value', held, zone)})")
            return f"map_from_entries(transform(map_entries({text}), {pair}))"
        case "ROW":
            fields = [f"{spark_string(n)}, {_json_shape(f'{text}.{quote(n)}', c, zone)}" for n, c in zip(source.names, source.children, strict=True)]
            return f"if({text} IS NULL, NULL, named_struct({', '.join(fields)}))"
        case "TINYINT" | "SMALLINT" | "INT" | "BIGINT" | "FLOAT" | "DOUBLE" | "DECIMAL" | "BOOLEAN" | "VARIANT":
            return text
    return display_sql(text, source, zone)
