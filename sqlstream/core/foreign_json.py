"""JSON that others have written: requests, records, cells of a result.

CPython 3.11 reads it by functions in C that call themselves, up to the limit that ``depth`` raises for all threads while a statement has room: in a
thread without that room a text of brackets alone would end the process.
"""

from __future__ import annotations

import json
import re
from itertools import accumulate
from typing import Any

# As deep as Python itself goes where nobody has raised its limit.
_LEVELS = 900
_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)
_STEP = {"[": 1, "{": 1, "]": -1, "}": -1}


def read(text: str | bytes) -> Any:
    """The value that ``text`` is. Raises ValueError where it is no JSON, or nested more than 900 levels."""
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text))
    if text.count("[") + text.count("{") > _LEVELS and _depth(text) > _LEVELS:
        raise ValueError(f"JSON of more than {_LEVELS} levels")
    return json.loads(text)


def _depth(text: str) -> int:
    return max(accumulate(_STEP.get(part[0], 0) for part in _BRACKET.finditer(text)))
