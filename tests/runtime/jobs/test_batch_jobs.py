"""Jobs in batch mode that fail and are submitted again: a sink that is written stays so for as long as its input does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import SqlStreamError
from tests.support.sessions import open_session

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark

TABLES = """
SET 'execution.runtime-mode' = 'batch';
SET 'table.dml-sync' = 'true';
CREATE TABLE good (id INT) WITH ('connector' = 'filesystem', 'path' = 'good', 'format' = 'json');
CREATE TABLE bad (s STRING) WITH ('connector' = 'filesystem', 'path' = 'bad', 'format' = 'json');
CREATE TABLE added (id INT) WITH ('connector' = 'delta', 'table-path' = 'added');
CREATE TABLE files (id INT) WITH ('connector' = 'filesystem', 'path' = 'files', 'format' = 'json');
CREATE TABLE whole (id INT) WITH ('connector' = 'filesystem', 'path' = 'whole', 'format' = 'json');
CREATE TABLE kept (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'kept');
CREATE TABLE parsed (id INT) WITH ('connector' = 'delta', 'table-path' = 'parsed');
"""
SET = """EXECUTE STATEMENT SET BEGIN
INSERT INTO added SELECT id FROM good;
INSERT INTO files SELECT id FROM good;
INSERT OVERWRITE whole SELECT id FROM good;
INSERT INTO kept SELECT id FROM good;
INSERT INTO parsed SELECT CAST(s AS INT) FROM bad;
END;"""


def test_a_failed_set_is_run_again(tmp_path: Path, engine, spark) -> None:
    for name, line in (("good", '{"id": 1}'), ("bad", '{"s": "x"}')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.json").write_text(line + "\n")
    client = open_session(tmp_path, TABLES, engine=engine)

    def found() -> dict[str, list[int]]:
        frames = {
            **{name: spark.read.format("delta").load(str(tmp_path / name)) for name in ("added", "kept")},
            **{name: spark.read.schema("id INT").json(str(tmp_path / name)) for name in ("files", "whole")},
        }
        return {name: sorted(r[0] for r in frame.collect()) for name, frame in frames.items()}

    for _ in range(2):
        with pytest.raises(SqlStreamError):
            list(client.run(SET))
        assert found() == {name: [1] for name in ("added", "files", "whole", "kept")}
    # Another input is written as a whole, as by Flink; what updates or replaces rows has each once.
    (tmp_path / "good" / "1.json").write_text('{"id": 1}\n{"id": 2}\n')
    (tmp_path / "bad" / "1.json").write_text('{"s": "5"}\n')
    list(client.run(SET))
    assert found() == {"added": [1, 1, 2], "files": [1, 1, 2], "whole": [1, 2], "kept": [1, 2]}
    client.close()
