"""kill -9 of jobs whose tables are on HDFS and S3, at random moments: no row is lost, none comes twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import uuid
from typing import TYPE_CHECKING

import pytest

from tests.support.processes import ensure_runs, kill_group
from tests.support.remote import Remote
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

KILLS = int(os.environ.get("SQLSTREAM_TEST_KILLS", "4"))
SCRIPT = """
CREATE TABLE events (id INT) WITH ('connector' = 'filesystem', 'path' = 'events', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE files (id INT, part INT) PARTITIONED BY (part) WITH ('connector' = 'filesystem', 'path' = 'files', 'format' = 'json');
CREATE TABLE copies (id INT) WITH ('connector' = 'delta', 'table-path' = 'copies');
CREATE TABLE counts (part INT, n BIGINT, PRIMARY KEY (part) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'counts');
EXECUTE STATEMENT SET BEGIN
INSERT INTO files SELECT id, MOD(id, 3) FROM events;
INSERT INTO copies SELECT id FROM events;
INSERT INTO counts SELECT MOD(id, 3), COUNT(*) FROM events GROUP BY MOD(id, 3);
END;
"""


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_nothing_is_lost_or_doubled(tmp_path: Path, spark, request: pytest.FixtureRequest, remote_folder: str) -> None:
    options = request.getfixturevalue("s3").settings if remote_folder.startswith("s3a:") else {}
    options |= {"spark.master": "local[2]", "spark.sql.shuffle.partitions": "2"}
    toml = "".join(f'"{k}" = "{v}"\n' for k, v in options.items())
    (tmp_path / "sqlstream.toml").write_text(f'warehouse = "{remote_folder}"\n[options]\n{toml}')
    (tmp_path / "job.sql").write_text(SCRIPT)
    remote, sent, chance = Remote(spark, remote_folder), 0, random.Random(16)

    def feed(count: int) -> None:
        nonlocal sent
        rows = "".join(f'{{"id": {n}}}\n' for n in range(sent, sent + count))
        remote.put(f"{remote_folder}/events/{uuid.uuid4().hex}.json", rows)
        sent += count

    def start() -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "sqlstream", "--project", str(tmp_path), "-f", str(tmp_path / "job.sql")]
        with (tmp_path / "run.log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)

    def rows() -> tuple[list[int], list[int], list[tuple[int, int]]]:
        try:
            files = spark.read.schema("id INT, part INT").json(f"{remote_folder}/files")
            copies, counts = (spark.read.format("delta").load(f"{remote_folder}/{name}") for name in ("copies", "counts"))
            return sorted(r.id for r in files.collect()), sorted(r.id for r in copies.collect()), sorted((r.part, r.n) for r in counts.collect())
        except Exception as error:
            # A file is gone, or a table is not there yet.
            return [], [], [(0, len(str(error)))]

    def expected() -> tuple[list[int], list[int], list[tuple[int, int]]]:
        return list(range(sent)), list(range(sent)), [(part, len(range(part, sent, 3))) for part in range(3)]

    def ensure() -> None:
        ensure_runs(process, tmp_path / "run.log")

    def go_on() -> None:
        feed(7)
        ensure()

    feed(30)
    for _ in range(KILLS):
        process = start()
        moment = time.monotonic() + chance.uniform(10, 30)
        until(lambda moment=moment: time.monotonic() > moment, every=0.5, meanwhile=go_on)
        kill_group(process)
    feed(30)
    process = start()
    try:
        until(lambda: rows() == expected(), 180, every=2, meanwhile=ensure, said=rows)
        # What is written twice would be there when the next rows are.
        feed(7)
        until(lambda: rows() == expected(), 180, every=2, meanwhile=ensure, said=rows)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)
