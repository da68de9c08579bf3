"""FOR SYSTEM_TIME AS OF a constant: what it is, in the session's zone, and the Delta version that it reads."""

from __future__ import annotations

import time
import zoneinfo
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import ValidationError
from sqlstream.plan.builder import queries as build
from sqlstream.plan.nodes import scans
from sqlstream.sql.statements.parsing import parse
from tests.support.sessions import open_session

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.session.session import Session

DECLARATIONS = """
CREATE TABLE versions (id INT) WITH ('connector' = 'delta', 'table-path' = 'versions');
CREATE TABLE files (id INT) WITH ('connector' = 'filesystem', 'path' = 'files', 'format' = 'json');
CREATE VIEW newest AS SELECT id FROM versions;
"""


def client(project: Path, zone: str = "UTC", engine=None) -> Session:
    options = {"table.local-time-zone": zone, "table.dml-sync": "true"}
    return open_session(project, DECLARATIONS, options=options, engine=engine)


@pytest.mark.parametrize(
    ("expression", "zone", "moment"),
    [
        ("TIMESTAMP '2024-03-31 12:00:00.5'", "UTC", "2024-03-31 12:00:00.500000"),
        ("TIMESTAMP '2024-03-31 12:00:00'", "Europe/Prague", "2024-03-31 10:00:00.000000"),
        ("TIMESTAMP '2024-01-31 12:00:00'", "GMT+02:30", "2024-01-31 09:30:00.000000"),
        ("TIMESTAMP '2024-03-31 12:00:00' - INTERVAL '1' DAY", "Europe/Prague", "2024-03-30 11:00:00.000000"),
        ("TIMESTAMP '2024-03-31 12:00:00' - INTERVAL '1' MONTH + INTERVAL '01:30' HOUR TO MINUTE", "UTC", "2024-02-29 13:30:00.000000"),
        ("CAST('2024-03-31 12:00:00' AS TIMESTAMP(3))", "UTC", "2024-03-31 12:00:00.000000"),
    ],
)
def test_constants(tmp_path: Path, expression: str, zone: str, moment: str) -> None:
    session = client(tmp_path, zone)
    plan = build.query(parse(f"SELECT v.id FROM versions FOR SYSTEM_TIME AS OF {expression} AS v"), session.planner.environment())
    assert scans(plan)[0].table.options["timestampAsOf"] == moment


@pytest.mark.parametrize(
    ("item", "problem", "error"),
    [
        ("files FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00'", "keeps no versions", ValidationError),
        ("newest FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00'", "is a view, but time travel is not supported for view", ValidationError),
        ("versions FOR SYSTEM_TIME AS OF '2024-01-01'", "expects Timestamp type but is 'CHAR'", ValidationError),
        ("versions FOR SYSTEM_TIME AS OF CURRENT_TIMESTAMP", "can not be reduced to a constant", ValidationError),
        ("versions FOR SYSTEM_TIME AS OF TO_TIMESTAMP_LTZ(0, 3)", "can not be reduced to a constant", ValidationError),
        (
            "versions /*+ OPTIONS('versionAsOf' = '1') */ FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00'",
            "are mutually exclusive",
            ValidationError,
        ),
        ("files AS f JOIN versions FOR SYSTEM_TIME AS OF f.id ON TRUE", "expects Timestamp type but is", ValidationError),
    ],
)
def test_refused(tmp_path: Path, item: str, problem: str, error: type[Exception]) -> None:
    with pytest.raises(error, match=problem):
        list(client(tmp_path).run(f"EXPLAIN SELECT * FROM {item}"))


@pytest.mark.spark
def test_rows(tmp_path: Path, engine) -> None:
    session = client(tmp_path, "Asia/Tokyo", engine)
    list(session.run("INSERT INTO versions VALUES (1)"))
    between = datetime.now(UTC)
    time.sleep(0.01)
    list(session.run("INSERT INTO versions VALUES (2)"))
    wall = between.astimezone(zoneinfo.ZoneInfo("Asia/Tokyo"))
    (then,) = session.run(f"SELECT id FROM versions FOR SYSTEM_TIME AS OF TIMESTAMP '{wall:%Y-%m-%d %H:%M:%S.%f}'")
    (now,) = session.run("SELECT id FROM versions")
    time.sleep(0.01)
    # Nothing was committed between the last row and this time.
    (later,) = session.run(f"SELECT id FROM versions FOR SYSTEM_TIME AS OF TIMESTAMP '{datetime.now(zoneinfo.ZoneInfo('Asia/Tokyo')):%F %T.%f}'")
    expected = [[("1",)], [("1",), ("2",)], [("1",), ("2",)]]
    assert [sorted(c.row for c in outcome.changes) for outcome in (then, now, later)] == expected
    session.close()


@pytest.mark.spark
@pytest.mark.parametrize(
    ("version", "problem"),
    [
        ("FOR SYSTEM_TIME AS OF TIMESTAMP '2020-01-01 00:00:00'", r"is before the earliest version available to this table \([-\d :.]+\)\.$"),
        ("FOR SYSTEM_TIME AS OF TIMESTAMP '2999-01-01 00:00:00'", r"is after the table's latest version \([-\d :.]+\)\.$"),
        ("/*+ OPTIONS('versionAsOf' = '77') */", r"to version 77\. Available versions: \[0, 1\]\.$"),
    ],
)
def test_versions_that_are_not_there(tmp_path: Path, engine, version: str, problem: str) -> None:
    session = client(tmp_path, engine=engine)
    list(session.run("INSERT INTO versions VALUES (1)"))
    with pytest.raises(ValidationError, match=problem) as raised:
        for outcome in session.run(f"SELECT 1\nFROM versions {version}"):
            list(outcome.changes)
    assert (raised.value.location.line, raised.value.location.column) == (2, 6)
    assert raised.value.hint is not None
    session.close()
