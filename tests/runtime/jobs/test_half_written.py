"""What a kill leaves half written keeps no job from going on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.session.results import Submitted
from sqlstream.session.session import Session

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark
TABLES = """
CREATE TABLE bids (id INT) WITH ('connector' = 'filesystem', 'path' = 'bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE counted (id INT, n BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'counted');
"""
INSERT = "INSERT INTO counted SELECT id, COUNT(*) FROM bids GROUP BY id;"


@pytest.mark.parametrize("left", ["offsets/.0.5d2c.tmp", "state/0/0/.1.changelog.5d2c.tmp"])
def test_a_job_killed_in_its_first_micro_batch_begins_again(tmp_path: Path, engine, left: str) -> None:
    (tmp_path / "bids").mkdir()
    session = Session(tmp_path, options={"table.local-time-zone": "UTC"}, engine=engine, notify=print)
    try:
        list(session.run(TABLES))
        for rows in ("", '{"id": 7}\n'):
            if rows:
                (tmp_path / "bids" / "1.json").write_text(rows)
            submitted = list(session.run(INSERT))[-1]
            assert isinstance(submitted, Submitted)
            job = session.jobs.find(submitted.job_id)
            for query in job.queries:
                query.processAllAvailable()
            session.jobs.stop(job.id)
            (checkpoint,) = job.checkpoint.iterdir()
            if not rows:
                assert not list((checkpoint / "offsets").glob("*"))
                (checkpoint / left).parent.mkdir(parents=True, exist_ok=True)
                (checkpoint / left).write_text("v1\n")
        counted = list(session.run("SELECT id, n FROM counted;"))[-1]
        assert [change.row for change in counted.changes] == [("7", "1")]
    finally:
        session.close()
