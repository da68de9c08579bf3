"""What rows of the table of functions say beside their types."""

from __future__ import annotations

from sqlstream.sql import functions
from sqlstream.sql.functions.aggregates import OVER_ONLY, OVER_SET


def names(fact: str) -> set[str]:
    return {row.name for row in functions.FUNCTIONS if getattr(row, fact)}


def test_facts_of_aggregates() -> None:
    spreads = {"STDDEV_POP", "STDDEV_SAMP", "STDDEV", "VAR_POP", "VAR_SAMP", "VARIANCE"}
    assert names("same_distinct") >= {"MIN", "MAX"}
    assert names("ignores_nulls") >= {"COUNT", "SUM", "AVG", "MIN", "MAX"} | spreads
    assert set(OVER_SET) >= {"COUNT", "SUM", "AVG", "LISTAGG", "COLLECT", "ARRAY_AGG"} | spreads
    assert names("over_only") == OVER_ONLY
    assert names("batch_only") < OVER_ONLY
    assert names("ordered") >= {"FIRST_VALUE", "LAST_VALUE", "LISTAGG", "ARRAY_AGG", "JSON_ARRAYAGG", "JSON_OBJECTAGG"}
    assert not names("ordered") & {"COUNT", "SUM", "AVG", "MIN", "MAX"}
    aggregate = names("aggregate")
    for fact in ("same_distinct", "ignores_nulls", "over_only", "batch_only", "ordered", "null_of_none", "of_set", "signed"):
        assert names(fact) <= aggregate


def test_facts_of_calls() -> None:
    assert names("clock") >= {"CURRENT_TIMESTAMP", "NOW", "LOCALTIMESTAMP", "CURRENT_DATE", "LOCALTIME", "CURRENT_TIME", "PROCTIME"}
    assert {row.name for row in functions.FUNCTIONS if not row.deterministic} - names("clock") >= {
        "RAND",
        "RAND_INTEGER",
        "UUID",
        "CURRENT_ROW_TIMESTAMP",
    }
