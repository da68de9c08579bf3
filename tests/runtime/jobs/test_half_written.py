"""What a kill leaves half written keeps no job from going on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.sessions import catch_up, open_session, rows, submit

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]
TABLES = """
CREATE TABLE bids (id INT) WITH ('connector' = 'filesystem', 'path' = 'bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE counted (id INT, n BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'counted');
"""
INSERT = "INSERT INTO counted SELECT id, COUNT(*) FROM bids GROUP BY id;"


@pytest.mark.parametrize("left", ["offsets/.0.5d2c.tmp", "state/0/0/.1.changelog.5d2c.tmp"])
def test_a_job_killed_in_its_first_micro_batch_begins_again(tmp_path: Path, engine, left: str) -> None:
    (tmp_path / "bids").mkdir()
    session = open_session(tmp_path, engine=engine, notify=print)
    try:
        list(session.run(TABLES))
        for line in ("", '{"id": 7}\n'):
            if line:
                (tmp_path / "bids" / "1.json").write_text(line)
            job = submit(session, INSERT)
            catch_up(job)
            session.jobs.stop(job.id)
            (checkpoint,) = job.checkpoint.iterdir()
            if not line:
                assert not list((checkpoint / "offsets").glob("*"))
                (checkpoint / left).parent.mkdir(parents=True, exist_ok=True)
                (checkpoint / left).write_text("v1\n")
        assert rows(session, "SELECT id, n FROM counted;") == [("7", "1")]
    finally:
        session.close()
