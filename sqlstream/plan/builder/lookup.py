"""The hint LOOKUP: how often a key without a row is looked up again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.core.errors import ValidationError
from sqlstream.core.options import parse_duration, parse_whole
from sqlstream.plan.nodes import Retry
from sqlstream.sql.syntax.clauses import hint_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot import exp

    from sqlstream.plan.builder.scope import Environment

_RETRY = ("retry-predicate", "retry-strategy", "fixed-delay", "max-attempts")
_WITHOUT_EFFECT = {
    "async": "the keys of many rows are looked up together",
    "output-mode": "rows come in their order",
    "capacity": "the keys of many rows are looked up together",
    "timeout": "the database's own time limits count",
    "shuffle": "each task looks up the keys of its own rows",
}


def retries(select: exp.Expr, names: set[str], env: Environment) -> Mapping[str, Retry]:
    """The LOOKUP hints of a SELECT by table; ``names`` are the names and aliases of its tables. Raises ValidationError."""
    by_table = {}
    hint = hint_of(select)
    for item in hint.expressions if hint is not None else ():
        if item.name != "LOOKUP":
            continue
        options = {o.this.name: o.expression.name for o in item.expressions}
        table = options.pop("table", "")
        if table not in names:
            raise ValidationError(f"The options of following hints cannot match the name of input tables or views: \n`{table}` in `LOOKUP`", at=item)
        env.notices.extend(f"The option '{k}' of the hint LOOKUP has no effect: {_WITHOUT_EFFECT.get(k, 'it is not known.')}"
                           for k in options if k not in _RETRY)  # fmt: skip
        if any(key in options for key in _RETRY):
            by_table[table] = _retry(options, item)
    return by_table


def _retry(options: Mapping[str, str], at: exp.Expr) -> Retry:
    if not all(key in options for key in _RETRY):
        raise ValidationError("Invalid LOOKUP hint: retry options can be both null or all not null", at=at, hint=f"These are: {', '.join(_RETRY)}.")
    for key, only in (("retry-predicate", "lookup_miss"), ("retry-strategy", "fixed_delay")):
        if options[key].lower() != only:
            raise ValidationError(f"Invalid LOOKUP hint: unsupported {key} '{options[key]}', only '{only}' is supported", at=at)
    try:
        delay, attempts = parse_duration(options["fixed-delay"]), parse_whole(options["max-attempts"])
    except ValueError as error:
        raise ValidationError(f"Invalid LOOKUP hint: {error}", at=at) from None
    if attempts <= 0:
        raise ValidationError(f"Invalid LOOKUP hint: max-attempts value should be positive integer but was {attempts}", at=at)
    return Retry(delay, attempts)
