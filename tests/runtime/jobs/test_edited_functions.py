"""The code of a function in Python changes under a job whose statement does not: refused where its rows are taken back, else told once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import ValidationError
from tests.support.sessions import rows

if TYPE_CHECKING:
    from tests.support.edited import Project

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]
CODE = "from sqlstream.udf import udf\n\n@udf\ndef f(n: int) -> int:\n    return n * {}\n"
BY_COUNT = "INSERT INTO counted SELECT CAST(f(n) AS STRING), COUNT(*) FROM (SELECT item, COUNT(*) AS n FROM bids GROUP BY item) GROUP BY f(n);"
BY_PRICE = "INSERT INTO counted SELECT CAST(f(price) AS STRING), COUNT(*) FROM bids GROUP BY f(price);"


def edit(project: Project, by: int) -> None:
    (project.path / "udfs").mkdir(exist_ok=True)
    (project.path / "udfs" / "f_of.py").write_text(CODE.format(by))


def test_rows_are_not_taken_back_by_other_code(project: Project) -> None:
    edit(project, 10)
    project.feed("bids", (1, "a", 1), (2, "b", 1))
    project.run(BY_COUNT)
    assert project.table("counted") == [("10", "2")]
    edit(project, 100)
    project.feed("bids", (3, "a", 1))
    told = "it retracts rows by all of their values, and the code of F has changed"
    assert rows(project.session, f"EXPLAIN UPGRADE {BY_COUNT}")[0][0].count(told) == 1
    with pytest.raises(ValidationError, match="another statement, or other declarations, settings or code of functions") as refused:
        project.run(BY_COUNT)
    assert told in refused.value.message
    project.set("last-state")
    with pytest.raises(ValidationError, match="It can't resume with all of that state"):
        project.run(BY_COUNT)
    # As it was, it goes on.
    edit(project, 10)
    project.run(BY_COUNT)
    assert project.table("counted") == [("10", "1"), ("20", "1")]


def test_rows_that_only_come_are_told_of_once(project: Project) -> None:
    edit(project, 10)
    project.feed("bids", (1, "a", 1), (2, "b", 1))
    project.run(BY_PRICE)
    edit(project, 100)
    told = "The code of F has changed since job 'job' stopped: its state of earlier rows comes from the earlier code."
    assert (
        "it is unchanged, version 1. Its state of earlier rows comes from the earlier code of F."
        in rows(project.session, f"EXPLAIN UPGRADE {BY_PRICE}")[0][0]
    )
    for seen in (1, 1):
        project.feed("bids", (3, "a", 1))
        project.run(BY_PRICE)
        assert project.said.count(told) == seen
    assert project.table("counted") == [("10", "2"), ("100", "2")]
