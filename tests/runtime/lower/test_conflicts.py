"""ON CONFLICT into a Delta table: which row stands at a key, also after a restart, and a kept job that gets the clause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import SqlStreamError
from tests.support.sessions import catch_up, feed, open_session, rows, submit

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark

DECLARATIONS = """
CREATE TABLE clicks (who STRING, item INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'clicks', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE answers (item BIGINT, who STRING, PRIMARY KEY (item) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'answers');
"""
APPENDS = "INSERT INTO answers SELECT item, who FROM clicks"
COUNTS = "INSERT INTO answers SELECT COUNT(*), who FROM clicks GROUP BY who"
STEPS = (
    [{"who": "a", "item": 1, "ts": "2026-01-01 00:00:05"}, {"who": "b", "item": 1, "ts": "2026-01-01 00:00:01"}],
    [{"who": "c", "item": 2, "ts": "2026-01-01 00:00:06"}, {"who": None, "item": 3, "ts": None}],
    [{"who": "a", "item": 2, "ts": "2026-01-01 00:00:07"}, {"who": "d", "item": 3, "ts": "2026-01-01 00:00:07"}],
)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        # The first that came, whatever its time.
        (f"{APPENDS} ON CONFLICT DO NOTHING", [("1", "a"), ("2", "c"), ("3", None)]),
        (f"{APPENDS} ON CONFLICT DO DEDUPLICATE", [("1", "b"), ("2", "a"), ("3", "d")]),
        # b, c, NULL and d clicked once, d last; a twice, and it has left the key 1.
        (f"{COUNTS} ON CONFLICT DO DEDUPLICATE", [("1", "d"), ("2", "a")]),
        (COUNTS, [("1", "d"), ("2", "a")]),
    ],
)
def test_which_row_stands_at_a_key(tmp_path: Path, engine, statement: str, expected: list[tuple]) -> None:
    (tmp_path / "clicks").mkdir()
    for step in STEPS:
        feed(tmp_path / "clicks", *step)
        session = open_session(tmp_path, DECLARATIONS, engine=engine)
        catch_up(submit(session, f"{statement};"))
        session.close()
    session = open_session(tmp_path, DECLARATIONS, engine=engine)
    found = rows(session, "SET 'execution.runtime-mode' = 'batch'; SELECT item, who FROM answers;")
    assert sorted(found) == expected


@pytest.mark.parametrize("steps", [STEPS[:1], STEPS[1:]])
def test_the_second_row_of_a_key_fails_the_job(tmp_path: Path, engine, steps: list[list[dict]]) -> None:
    """In one micro-batch, or in two, with a restart between them."""
    (tmp_path / "clicks").mkdir()
    statement = f"{APPENDS} ON CONFLICT DO ERROR;"
    for step in steps:
        feed(tmp_path / "clicks", *step)
        session = open_session(tmp_path, f"{DECLARATIONS} SET 'restart-strategy.type' = 'none';", engine=engine)
        job = submit(session, statement)
        if step is steps[-1]:
            with pytest.raises(
                SqlStreamError, match=r"Primary key constraint violation: multiple distinct .* Use ON CONFLICT DO NOTHING to keep the first"
            ):
                session.wait()
        else:
            catch_up(job)
        session.close()
    kept = rows(open_session(tmp_path, DECLARATIONS, engine=engine), "SET 'execution.runtime-mode' = 'batch'; SELECT item, who FROM answers;")
    assert sorted(kept) == ([] if len(steps) == 1 else [("2", "c"), ("3", None)])


def test_a_job_that_runs_goes_on_when_its_statement_says_what_it_did(tmp_path: Path, engine) -> None:
    """DEDUPLICATE is what an INSERT without the clause does: its state is that of before."""
    (tmp_path / "clicks").mkdir()
    feed(tmp_path / "clicks", *STEPS[0], *STEPS[1])
    session = open_session(tmp_path, DECLARATIONS, engine=engine)
    catch_up(submit(session, f"{COUNTS};"))
    session.close()
    feed(tmp_path / "clicks", *STEPS[2])
    said: list[str] = []
    session = open_session(tmp_path, DECLARATIONS, engine=engine, notify=said.append)
    catch_up(submit(session, f"{COUNTS} ON CONFLICT DO DEDUPLICATE;"))
    assert not any("anew" in line for line in said), said
    assert sorted(rows(session, "SET 'execution.runtime-mode' = 'batch'; SELECT item, who FROM answers;")) == [("1", "d"), ("2", "a")]
