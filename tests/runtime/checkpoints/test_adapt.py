"""What of a state can be gone on with is asked of records alone."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sqlstream.runtime.checkpoints import OperatorRecord, QueryRecord, adapted, exchanged, mapped, why_not

COUNT = "KeyedAggregate 1, KeptRows 1 by (k) of struct<k:string,n:int> with buffers struct<c0:bigint>, counts [], giving struct<k:string,c:bigint>"
OWN = OperatorRecord(0, "a", 0, "transformWithStateExec", COUNT, ("default",))
SPARK = OperatorRecord(0, "a", 0, "stateStoreSave", "by (timestamp, string) keeps [count of int] in (timestamp, string, bigint)", ("default",))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (OWN, replace(OWN, operator=3, node="b"), None),
        (OWN, replace(OWN, state=COUNT.replace("KeyedAggregate 1", "KeyedAggregate 2")), None),
        (OWN, replace(OWN, state=COUNT.replace("k:", "Straße 1:").replace("(k)", "(Straße 1)")), None),
        (OWN, replace(OWN, state=COUNT.replace("c:bigint>", "c:bigint,kind:tinyint>")), None),
        (OWN, replace(OWN, state=COUNT.replace("n:int", "n:bigint")), "others"),
        (OWN, replace(OWN, state=COUNT.replace("c0:bigint", "c0:bigint,c1:int")), "others"),
        (OWN, replace(OWN, state=COUNT.replace(", giving", ", which expires, giving")), "is to expire now"),
        (replace(OWN, state=COUNT.replace(", giving", ", which expires, giving")), OWN, "is to be kept now"),
        (OWN, replace(OWN, state=COUNT.replace("KeyedAggregate", "KeyedRank")), "something else"),
        (OWN, SPARK, "something else"),
        (SPARK, SPARK, None),
        (SPARK, replace(SPARK, state=SPARK.state.replace("count of int", "count of int; sum of int")), "others"),
    ],
)
def test_why_a_state_is_not_gone_on_with(old: OperatorRecord, new: OperatorRecord, why: str | None) -> None:
    said = why_not(old, new)
    assert said is None if why is None else said is not None and why in said


def _kept(*types: object) -> dict[str, object]:
    """A table with keys of these types."""
    return {"reader": {"keys": json.dumps({"type": "struct", "fields": [{"name": "k", "type": t} for t in types]})}}


AVERAGE, SUM = ("avg(v)", ("decimal(20,2)", "bigint")), ("sum(v)", ("decimal(20,2)",))
OF_SPARK = replace(SPARK, aggregates=(AVERAGE, SUM), table=_kept("string"))
OF_OURS = replace(OWN, aggregates=(SUM, AVERAGE, SUM), table=_kept("long", "string"))


def test_an_aggregate_goes_on_as_that_of_another_operator() -> None:
    assert exchanged(OF_SPARK, OF_OURS) == [2, 0, 1, 2]
    assert exchanged(OF_OURS, OF_SPARK) == [1, 2, 0]


@pytest.mark.parametrize(
    "others",
    [
        {"aggregates": ()},
        {"aggregates": (SUM,)},
        {"aggregates": (*OF_OURS.aggregates, ("max(v)", ("int",)))},
        {"aggregates": (("avg(v)", ("double", "bigint")), SUM)},
        {"table": _kept("long", "int")},
        {"table": _kept("string")},
        {"table": None},
        {"state": COUNT.replace(", giving", ", which expires, giving")},
        {"state": COUNT.replace("KeyedAggregate", "KeyedRank")},
    ],
)
def test_other_aggregates_do_not(others: dict[str, object]) -> None:
    assert exchanged(OF_SPARK, replace(OF_OURS, **others)) is None  # type: ignore[arg-type]
    assert exchanged(replace(OF_OURS, **others), OF_SPARK) is None  # type: ignore[arg-type]


def test_aggregates_that_are_not_told_apart_do_not() -> None:
    unclear = (("", ("bigint",)), SUM)
    assert exchanged(replace(OF_SPARK, aggregates=unclear), replace(OF_OURS, aggregates=unclear)) is None
    assert exchanged(OF_SPARK, OF_SPARK) is None and exchanged(OF_OURS, OF_OURS) is None


MOST = ("max(v)", ("int",))


def test_an_aggregate_is_added_to_others() -> None:
    more = replace(OF_OURS, aggregates=(MOST, *OF_OURS.aggregates), state=COUNT.replace("c0:bigint", "c0:int,c1:bigint"))
    assert adapted(OF_OURS, more, whole=True) == [None, 0, 1, 2, 0]
    assert adapted(more, OF_OURS, whole=False) == [1, 2, 3, 1]
    assert adapted(more, OF_OURS, whole=True) is None
    assert adapted(OF_SPARK, more, whole=True) == [None, 2, 0, 1, 2]
    assert adapted(more, replace(OF_SPARK, aggregates=(SUM,)), whole=False) == [1]
    expiring = replace(more, state=more.state.replace(", giving", ", which expires, giving"))
    assert adapted(replace(OF_OURS, state=COUNT.replace(", giving", ", which expires, giving")), expiring, whole=True) == [None, 0, 1, 2, 0]


@pytest.mark.parametrize(
    "others",
    [
        {"aggregates": ()},
        {"aggregates": (MOST,)},
        {"aggregates": (("", ("bigint",)), MOST)},
        {"table": _kept("long", "int")},
        {"stores": ("other",)},
        {"state": COUNT.replace(", giving", ", which expires, giving")},
        {"state": COUNT.replace("KeyedAggregate", "KeyedRank")},
        {"kind": "other"},
    ],
)
def test_to_others_it_is_not(others: dict[str, object]) -> None:
    assert adapted(OF_OURS, replace(OF_OURS, **others), whole=True) is None  # type: ignore[arg-type]


def test_operators_are_found_by_node_and_part() -> None:
    def query(*nodes: tuple[str | None, int]) -> QueryRecord:
        return QueryRecord((), tuple(replace(OWN, operator=i, node=node, part=part) for i, (node, part) in enumerate(nodes)))

    old = query(("join", 0), ("rank", 0), ("join", 1))
    new = query(("new", 0), ("rank", 0), ("wide join", 0), ("wide join", 1), (None, 0))
    assert mapped(old, new, {"rank": "rank", "wide join": "join"}) == {0: None, 1: 1, 2: 0, 3: 2, 4: None}
