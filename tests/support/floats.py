"""Texts of FLOAT and DOUBLE, which Java writes in fewer digits from 19 on: as many as tell one from its neighbours. Records are those of an older one."""

from __future__ import annotations

import re
import struct
from decimal import Decimal
from functools import cache
from typing import Any

from sqlstream.core import java

_NUMBER = re.compile(r"-?\d+\.\d+(?:E-?\d+)?")


@cache
def _short() -> bool:
    return (java._version(java.require_java()) or 0) >= 19


def of_any_java(value: Any) -> Any:
    """``value``, texts in lists and dicts, to be compared with another: by the bits of each number that may be a FLOAT where its digits are no measure."""
    if not _short():
        return value
    match value:
        case str():
            return _NUMBER.sub(_bits, value)
        case list() | tuple():
            return type(value)(map(of_any_java, value))
        case dict():
            return {key: of_any_java(cell) for key, cell in value.items()}
    return value


def _bits(number: re.Match[str]) -> str:
    # A DOUBLE has fewer digits, too; Python writes as few as Java does from 19 on. A FLOAT has nine at most.
    shortest = repr(float(number[0]))
    if len(Decimal(shortest).normalize().as_tuple().digits) > 9 or abs(float(shortest)) > 3e38:
        return shortest
    return struct.pack("f", float(shortest)).hex()
