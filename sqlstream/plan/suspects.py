"""Which expressions of a query may have failed at a row, judging by the message of the failure.

In: the message of a row that could not be computed, and the query's nodes. Out: expressions as SQL with their places in the statement, none where
the message says it all, and what to write instead.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sqlstream.core.errors import offset_of
from sqlstream.plan.properties import walk
from sqlstream.sql.expressions import Call, Cast, Expr
from sqlstream.sql.text import to_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from sqlstream.plan.nodes import Node


def _calls(*names: str) -> Callable[[Expr], bool]:
    return lambda expr: isinstance(expr, Call) and expr.function.name in names


def _reads_text(*, number: bool) -> Callable[[Expr], bool]:
    def reads(expr: Expr) -> bool:
        return isinstance(expr, Cast) and not expr.safe and expr.operand.type.is_string and expr.type.is_numeric == number

    return reads


_DIVISOR = "NULLIF(.., 0) as the divisor gives NULL for such a row, WHERE leaves it out."
_TRY_CAST = "TRY_CAST gives NULL for a text that can't be read."
_TRY_PARSE_JSON = "TRY_PARSE_JSON gives NULL for a text that is no JSON."
# What a failure says, the expressions that say it, and what to write instead.
_SAYING: tuple[tuple[re.Pattern[str], Callable[[Expr], bool], str | None], ...] = (
    (re.compile(r"/ by zero"), _calls("/", "%", "MOD"), _DIVISOR),
    (re.compile(r"For input string: "), _reads_text(number=True), _TRY_CAST),
    (re.compile(r'Cannot parse ".*" as ', re.S), _reads_text(number=False), _TRY_CAST),
    (re.compile(r"Cannot parse .* as TIMESTAMP_LTZ", re.S), _calls("TO_TIMESTAMP_LTZ"), None),
    (re.compile(r".*is not in base 64", re.S), _calls("FROM_BASE64"), None),
    (re.compile(r"Failed to parse json string"), _calls("PARSE_JSON"), _TRY_PARSE_JSON),
    (re.compile(r"Unsupported algorithm"), _calls("SHA2"), None),
    (re.compile(r"Unsupported encoding"), _calls("ENCODE", "DECODE"), None),
    (re.compile(r"ELEMENT: "), _calls("ELEMENT"), None),
)
# A query with more of them names none.
_MOST = 3


def suspects(message: str, nodes: Iterable[Node]) -> Mapping[str, Any]:
    """The expressions of ``nodes`` and below that may have failed with ``message``, each with where it is written, None if nowhere in the statement
    or more than once; none where there are too many to name."""
    said = next((matches for pattern, matches, _ in _SAYING if pattern.match(message)), None)
    if said is None:
        return {}
    places: dict[str, dict[int | None, Any]] = {}
    for expr in (e for n in nodes for below in walk(n) for whole in below.expressions() for e in whole.walk() if said(e)):
        at = expr.at if isinstance(expr, Call | Cast) else None
        places.setdefault(to_text(expr), {})[offset_of(at)] = at
    return {text: next(iter(of.values())) if len(of) == 1 else None for text, of in places.items()} if len(places) <= _MOST else {}


def instead(message: str) -> str | None:
    """What to write instead of an expression that has failed with ``message``."""
    return next((hint for pattern, _, hint in _SAYING if pattern.match(message)), None)
