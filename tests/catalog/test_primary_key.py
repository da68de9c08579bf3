"""PRIMARY KEY is what the user promises of the rows: it is declared NOT ENFORCED, or refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import ValidationError
from tests.support.sessions import open_session, run

if TYPE_CHECKING:
    from pathlib import Path

WITH = "WITH ('connector' = 'datagen')"


@pytest.mark.parametrize(
    ("sql", "place"),
    [
        (f"CREATE TABLE t (k INT PRIMARY KEY, v INT) {WITH}", "k INT PRIMARY KEY, v"),
        (f"CREATE TABLE t (k INT, v INT, PRIMARY KEY (k)) {WITH}", "PRIMARY KEY (k)"),
        (f"CREATE TABLE t (k INT, CONSTRAINT c PRIMARY KEY (k) ENFORCED) {WITH}", "CONSTRAINT c PRIMARY KEY (k)"),
        ("CREATE TABLE t (PRIMARY KEY (k)) WITH ('connector' = 'blackhole') AS SELECT 1 AS k", "PRIMARY KEY (k)"),
        ("ALTER TABLE there ADD PRIMARY KEY (k)", "PRIMARY KEY (k)"),
    ],
)
def test_one_that_is_to_be_enforced_is_refused(tmp_path: Path, sql: str, place: str) -> None:
    session = open_session(tmp_path, f"CREATE TABLE there (k INT NOT NULL, v INT) {WITH};")
    with pytest.raises(ValidationError, match="Flink doesn't support ENFORCED mode for PRIMARY KEY constraint") as refused:
        run(session, sql)
    assert refused.value.hint == "Write NOT ENFORCED behind PRIMARY KEY."
    assert refused.value.location is not None
    assert refused.value.location.text[refused.value.location.column - 1 :].startswith(place)
    if "SELECT" in sql:
        return
    run(session, sql.replace(" ENFORCED", "").replace("PRIMARY KEY (k)", "PRIMARY KEY (k) NOT ENFORCED").replace("KEY,", "KEY NOT ENFORCED,"))
