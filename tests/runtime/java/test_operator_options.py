"""What Python asks of an operator and what Java reads have the same names."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

import sqlstream
from sqlstream.connectors.base import Lookup
from sqlstream.core.java import classes
from sqlstream.plan.builder.row_pattern import Edge
from sqlstream.plan.nodes import SortKey
from sqlstream.runtime.lower import operators

ROOT = Path(sqlstream.__file__).parent / "runtime" / "java" / "sqlstream"
# Each dataclass with the Java file that has its record, and the record.
RECORDS = {
    operators.AggregateOptions: ("operators/KeyedAggregate", "Options"),
    operators.IntervalJoinOptions: ("operators/IntervalJoin", "Options"),
    operators.KeyedJoinOptions: ("operators/KeyedJoin", "Options"),
    operators.Lag: ("operators/OverRows", "Lag"),
    operators.LookupOptions: ("jdbc/LookupJoin", "Options"),
    operators.Mark: ("operators/Mark", "Mark"),
    operators.MatchOptions: ("patterns/PatternMatch", "Options"),
    operators.NamedValue: ("patterns/MatchValues", "Named"),
    operators.OverOptions: ("operators/OverRows", "Options"),
    operators.RankOptions: ("operators/KeyedRank", "Options"),
    operators.TemporalJoinOptions: ("operators/TemporalJoin", "Options"),
    operators.TopOptions: ("aggregates/Top", "Options"),
    Edge: ("patterns/RowPattern", "Edge"),
    Lookup: ("jdbc/Lookup", "Lookup"),
    SortKey: ("catalyst/SortKey", "SortKey"),
}


def _names(file: str, record: str) -> list[str]:
    """The names of a record's components, as Python writes them."""
    found = re.search(rf"\brecord {record}\(([^)]*)\)", (ROOT / f"{file}.java").read_text())
    assert found is not None
    components = found[1]
    while "<" in components:
        components = re.sub(r"<[^<>]*>", "", components)
    return [re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", component.split()[-1]) for component in components.split(",")]


@pytest.mark.parametrize("options", RECORDS, ids=lambda options: options.__name__)
def test_a_dataclass_and_its_record_have_the_same_names(options: type) -> None:
    assert [f.name for f in fields(options)] == _names(*RECORDS[options])


def test_all_options_have_a_record() -> None:
    assert {o for o in vars(operators).values() if isinstance(o, type) and o.__module__ == operators.__name__} <= RECORDS.keys()


@pytest.mark.spark
@pytest.mark.parametrize(
    ("options", "refused"),
    [
        ('{"left_time": "a", "right_time": "b", "kind": null}', "Missing creator property 'lag'"),
        ('{"left_time": "a", "right_time": "b", "kind": null, "lag": null}', "Cannot map `null` into type `long`"),
        ('{"left_time": "a", "right_time": "b", "kind": null, "lag": 0, "lags": 0}', 'Unrecognized field "lags"'),
    ],
)
def test_a_name_that_one_side_lacks_is_refused(options: str, refused: str, spark) -> None:
    with pytest.raises(Exception, match=re.escape(refused)):
        classes(spark).operators.TemporalJoin.of(spark.range(1)._jdf, options)
