"""How numbers are written in text formats: Java's syntax for reading, BigDecimal's own for writing, as Spark SQL text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlstream.sql.types import Type

INTEGER = r"^[+-]?\d+$"
DECIMAL = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
BASE64 = r"^[A-Za-z0-9+/]*={0,2}$"
FLOAT = r"^[+-]?(NaN|Infinity|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[fFdD]?)$"


def scientific_decimal(x: str) -> str:
    """SQL for the text of a DECIMAL without trailing zeros, as BigDecimal's own: 1234.5, 1E+5, 1E-7."""
    text = f"CAST({x} AS STRING)"
    mantissa = f"substring_index({text}, 'E', 1)"
    digits = f"if(contains({mantissa}, '.'), rtrim('.', rtrim('0', {mantissa})), {mantissa})"
    whole = f"regexp_replace({digits}, '^(-?)(\\\\d)(\\\\d*?)0+$', '$1$2.$3E+')"
    exponent = f"(length(ltrim('-', {digits})) - 1)"
    scaled = f"concat(replace({whole}, '.E+', 'E+'), {exponent})"
    return (
        f"CASE WHEN {x} = 0 THEN '0' WHEN contains({text}, 'E') THEN concat({digits}, 'E', substring_index({text}, 'E', -1))"
        f" WHEN {digits} RLIKE '^-?\\\\d+0$' THEN {scaled} ELSE {digits} END"
    )


def plain_decimal(x: str, type_: Type) -> str:
    """SQL for the text of a DECIMAL with all digits of its scale and no exponent."""
    text = f"CAST({x} AS STRING)"
    if type_.args[1] <= 6:
        return text
    # BigDecimal's text has an exponent where the number is below 1E-6.
    digits = f"lpad(translate(substring_index({text}, 'E', 1), '-.', ''), {type_.args[1]}, '0')"
    return f"if(contains({text}, 'E'), concat(if({x} < 0, '-', ''), '0.', {digits}), {text})"
