"""The rules by code. A code stays what it is: files name it in ``-- noqa``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.lint.rules import (
    column_order,
    cross_join,
    far_future,
    interval_join,
    not_in,
    null_comparison,
    own_values,
    promises,
    secret,
    select_star,
    unbounded_state,
    unknown_option,
    unused,
    upsert_key,
    watermark_delay,
    window_columns,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sqlstream.lint.subject import Subject, Violation


@dataclass(frozen=True)
class Rule:
    """``submit``: it is also reported when a job is submitted."""

    code: str
    summary: str
    check: Callable[[Subject], Iterable[Violation]]
    submit: bool = False


RULES: tuple[Rule, ...] = (
    Rule("L001", "State that is kept forever, and what would bound it.", unbounded_state.check, submit=True),
    Rule("L002", "A sink's PRIMARY KEY that is not the key of the query's rows.", upsert_key.check),
    Rule("L003", "GROUP BY window_start without window_end, or the other way round.", window_columns.check, submit=True),
    Rule("L004", "A join on times that is not an interval join: a watermark or a bound is missing.", interval_join.check, submit=True),
    Rule("L005", "A table, a view or a query of WITH that the script never reads.", unused.check),
    Rule("L006", "SELECT * of a table into a sink.", select_star.check),
    Rule("L007", "INSERT matches by position: a column ends up in another one's place.", column_order.check),
    Rule("L008", "A comparison with NULL by = or <>.", null_comparison.check),
    Rule("L009", "NOT IN a sub-query.", not_in.check),
    Rule("L010", "A secret in plain text.", secret.check),
    Rule("L011", "A watermark without a delay.", watermark_delay.check),
    Rule("L012", "A join of streams without a condition.", cross_join.check, submit=True),
    Rule("L013", "INSERTs of a statement set that share a query with RAND, UUID or the clock in it.", own_values.check, submit=True),
    Rule("L014", "A rowtime that may be a constant of the far future.", far_future.check),
    Rule("L015", "An option of a table that asks for more than it gets.", promises.check),
    Rule("L016", "SET or RESET of a key that no option has.", unknown_option.check),
)


def notices(subject: Subject) -> list[str]:
    """What is reported when a job is submitted."""
    return [f"{f.message}; {f.hint}." for rule in RULES if rule.submit for f in rule.check(subject)]
