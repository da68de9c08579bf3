"""Which expressions of a query may have failed at a row, judging by the message of the failure.

In: the message of a row that could not be computed, and the query's nodes. Out: expressions as SQL, none where the message says it all.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlstream.plan.properties import walk
from sqlstream.sql.expressions import Call, Cast, Expr
from sqlstream.sql.text import to_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sqlstream.plan.nodes import Node


def _calls(*names: str) -> Callable[[Expr], bool]:
    return lambda expr: isinstance(expr, Call) and expr.function.name in names


def _reads_text(*, number: bool) -> Callable[[Expr], bool]:
    def reads(expr: Expr) -> bool:
        return isinstance(expr, Cast) and not expr.safe and expr.operand.type.is_string and expr.type.is_numeric == number

    return reads


# What a failure says, and the expressions that say it.
_SAYING: tuple[tuple[re.Pattern[str], Callable[[Expr], bool]], ...] = (
    (re.compile(r"/ by zero"), _calls("/", "%", "MOD")),
    (re.compile(r"For input string: "), _reads_text(number=True)),
    (re.compile(r'Cannot parse ".*" as ', re.S), _reads_text(number=False)),
    (re.compile(r"Cannot parse .* as TIMESTAMP_LTZ", re.S), _calls("TO_TIMESTAMP_LTZ")),
    (re.compile(r".*is not in base 64", re.S), _calls("FROM_BASE64")),
    (re.compile(r"Failed to parse json string"), _calls("PARSE_JSON")),
    (re.compile(r"Unsupported algorithm"), _calls("SHA2")),
    (re.compile(r"Unsupported encoding"), _calls("ENCODE", "DECODE")),
    (re.compile(r"ELEMENT: "), _calls("ELEMENT")),
)
# A query with more of them names none.
_MOST = 3


def suspects(message: str, nodes: Iterable[Node]) -> list[str]:
    """The expressions of ``nodes`` and below that may have failed with ``message``; none where there are too many to name."""
    said = next((matches for pattern, matches in _SAYING if pattern.match(message)), None)
    if said is None:
        return []
    texts = list(dict.fromkeys(to_text(e) for n in nodes for below in walk(n) for expr in below.expressions() for e in expr.walk() if said(e)))
    return texts if len(texts) <= _MOST else []
