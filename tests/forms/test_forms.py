"""Forms of queries: ``forms.sql`` run here in batch mode, and on real Flink (-m oracle)."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import SqlStreamError
from tests.support.sessions import open_session, rows

if TYPE_CHECKING:
    from sqlstream.session.session import Session

TEXT = Path(__file__).with_name("forms.sql").read_text()
DECLARATIONS = "".join(re.findall(r"(?m)^CREATE .*\n", TEXT))
FORMS = re.findall(r"(?m)^(SELECT .*;)\n--([>!]) ?(.*)$", TEXT)
IDS = [sql for sql, _, _ in FORMS]


def feed(folder: Path) -> None:
    for name, row in re.findall(r"(?m)^--< (\w+) (.*)$", TEXT):
        (folder / name).mkdir(exist_ok=True)
        with (folder / name / "rows.json").open("a") as file:
            file.write(row + "\n")


def wanted(rows: str) -> list[str]:
    return sorted(row.strip() for row in rows.split("|") if row)


@pytest.fixture(scope="module")
def client(tmp_path_factory, engine) -> Session:
    folder = tmp_path_factory.mktemp("forms")
    feed(folder)
    options = {"execution.runtime-mode": "batch"}
    return open_session(folder, DECLARATIONS, options=options, variables={"DIR": str(folder)}, engine=engine)


@pytest.mark.spark
@pytest.mark.parametrize(("sql", "mark", "answer"), FORMS, ids=IDS)
def test_rows(client: Session, sql: str, mark: str, answer: str) -> None:
    if mark == "!":
        with pytest.raises(SqlStreamError, match=answer):
            list(client.run(sql))
        return
    (outcome,) = client.run(sql)
    cells = [["null" if c is None else str(c).lower() if c in ("TRUE", "FALSE") else c for c in row] for row in outcome.rows]
    assert sorted(", ".join(row) for row in cells) == wanted(answer)


@pytest.mark.spark
def test_times_of_a_table_that_is_all_there(tmp_path: Path, engine) -> None:
    (tmp_path / "ticks").mkdir()
    ticks = [("a", 1, 3), ("a", 2, 1), ("b", 5, 2), ("a", 4, 2)]
    lines = (f'{{"k": "{k}", "v": {v}, "ts": "2026-01-01 00:00:0{second}"}}\n' for k, v, second in ticks)
    (tmp_path / "ticks" / "rows.json").write_text("".join(lines))
    options = "'connector' = 'filesystem', 'path' = '${DIR}/ticks', 'format' = 'json'"
    declared = f"CREATE TABLE ticks (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ({options})"
    session = open_session(tmp_path, declared, variables={"DIR": str(tmp_path)}, engine=engine)
    found = rows(session, "SELECT k, v, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS 1 PRECEDING) AS s FROM ticks ORDER BY ts, k")
    assert found == [("a", "2", "2"), ("a", "4", "6"), ("b", "5", "5"), ("a", "1", "5")]


@pytest.mark.oracle
@pytest.mark.timeout(900)
def test_rows_on_flink(tmp_path: Path) -> None:
    feed(tmp_path)
    script = tmp_path / "script.sql"
    # What fails would end the script.
    answered = [form for form in FORMS if form[1] == ">"]
    settings = "SET 'execution.runtime-mode' = 'batch';\nSET 'sql-client.execution.result-mode' = 'tableau';\n"
    script.write_text(settings + DECLARATIONS.replace("${DIR}", str(tmp_path)) + "\n".join(sql for sql, _, _ in answered))
    done = subprocess.run([*shlex.split(os.environ["FLINK_SQL_CLIENT"]), str(script)], capture_output=True, text=True, check=True, timeout=880)
    answers = re.split(r"(?m)\d+ rows? in set|Empty set", done.stdout)
    assert len(answers) == len(answered) + 1, done.stdout[-2000:]
    differences = []
    for text, (sql, _, answer) in zip(answers, answered, strict=False):
        table = re.findall(r"(?m)^\|(.*)\|$", text)[1:]
        cells = [[c.strip().replace("<NULL>", "null").replace("TRUE", "true").replace("FALSE", "false") for c in line.split("|")] for line in table]
        found = sorted(", ".join(row) for row in cells)
        if found != wanted(answer):
            differences.append(f"{sql}\n{found}\n{wanted(answer)}")
    assert not differences, "\n".join(differences)
