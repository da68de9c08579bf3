"""Hints of a SELECT about the items of its FROM: for how long state of their rows is kept, and how they are joined.

SELECT /*+ STATE_TTL('o' = '1 d'), BROADCAST(c) */ .. FROM orders AS o JOIN customers AS c ON ..
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.core.errors import ValidationError, did_you_mean
from sqlstream.core.options import parse_duration
from sqlstream.plan.builder.lookup import retries
from sqlstream.plan.builder.scope import Hint
from sqlstream.sql.syntax import ast
from sqlstream.sql.syntax.clauses import alias_of, hint_of, items_of, joins_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlstream.plan.builder.scope import Environment

# Flink's words for how two inputs are joined, and Spark's.
_STRATEGIES = {"BROADCAST": "broadcast", "SHUFFLE_HASH": "shuffle_hash", "SHUFFLE_MERGE": "merge", "NEST_LOOP": "shuffle_replicate_nl"}
# Looked at elsewhere: at the join that it is for.
_ELSEWHERE = "LOOKUP"
_KNOWN = (*_STRATEGIES, "STATE_TTL", "MULTI_JOIN", _ELSEWHERE)


def check(hint: exp.Expr, known: Sequence[str] = _KNOWN) -> None:
    """Raises ValidationError for a hint with none of these names: wherever it stands, Flink refuses it."""
    if hint.name not in known:
        problem = f"Hint: {hint.name} should be registered in the HintStrategyTable"
        raise ValidationError(problem, at=hint, hint=did_you_mean(hint.name, known) or f"Known are: {', '.join(known)}.")


def check_of_table(hint: exp.Expr) -> None:
    """The same, of a hint behind a table."""
    check(hint, ("OPTIONS", *_KNOWN))


def select_hints(select: exp.Expr, env: Environment) -> dict[str, Hint]:
    """The hints of ``select`` by the name of the item that they are about. Raises ValidationError."""
    clause = hint_of(select)
    if clause is None:
        return {}
    known = {name for item in items_of(select) for name in _names(item)}
    ttls: dict[str, int] = {}
    strategies: dict[str, str] = {}
    unknown = []
    for hint in clause.expressions:
        check(hint)
        if hint.name == _ELSEWHERE:
            continue
        if hint.name == "STATE_TTL":
            of_hint = _ttls(hint)
            ttls |= of_hint
            names = list(of_hint)
        else:
            names = _tables(hint)
            if env.settings.batch and hint.name in _STRATEGIES:
                strategies |= {name: _STRATEGIES[hint.name] for name in names if name not in strategies}
            else:
                where = "" if hint.name == "MULTI_JOIN" else " in streaming mode"
                env.notices.append(f"The hint {hint.name} has no effect{where}.")
        if missing := [name for name in names if name not in known]:
            unknown.append((hint, f"`{', '.join(missing)}` in `{hint.name}`"))
    if unknown:
        text = "\n".join(problem for _, problem in unknown)
        raise ValidationError(
            f"The options of following hints cannot match the name of input tables or views: \n{text}", at=unknown[0][0],
            hint=f"FROM has: {', '.join(sorted(known))}." if known else None,
        )  # fmt: skip
    looked_up = retries(select, known, env)
    return {name: Hint(ttls.get(name), strategies.get(name), looked_up.get(name)) for name in {*ttls, *strategies, *looked_up}}


def _names(item: exp.Expr) -> Iterator[str]:
    """The names by which hints can refer to an item of FROM: its alias or its table's name; for parentheses those of the joined items."""
    if alias_of(item) is not None:
        yield item.alias
    elif isinstance(item, exp.Table):
        yield item.name
    elif isinstance(item, ast.TableFunction):
        for table in item.find_all(exp.Table):
            yield table.name
    inner = item.this if isinstance(item, exp.Subquery) else None
    if inner is not None and joins_of(inner) and not isinstance(inner, exp.Select):
        for part in (inner, *(j.this for j in joins_of(inner))):
            yield from _names(part)


def _ttls(hint: exp.Expr) -> dict[str, int]:
    if not hint.expressions:
        raise ValidationError("Invalid STATE_TTL hint, expecting at least one key-value options specified.", at=hint)
    if not all(isinstance(option, ast.OptionDef) for option in hint.expressions):
        raise ValidationError("Invalid list options in STATE_TTL hint, only support key-value options.", at=hint, hint="STATE_TTL('a' = '1 d')")
    ttls = {}
    for option in hint.expressions:
        try:
            ttls[option.this.name] = parse_duration(option.expression.name)
        except ValueError as error:
            raise ValidationError(f"Invalid STATE_TTL hint value: {error}", at=option) from None
    return ttls


def _tables(hint: exp.Expr) -> list[str]:
    if not hint.expressions or any(isinstance(option, ast.OptionDef) for option in hint.expressions):
        options = ", ".join(f"{o.this.name}={o.expression.name}" for o in hint.expressions)
        shown = f"{hint.name}({options})" if options else hint.name
        problem = f"Invalid hint: {shown}, expecting at least one table or view specified in hint {hint.name}."
        raise ValidationError(problem, at=hint)
    return [option.name for option in hint.expressions]
