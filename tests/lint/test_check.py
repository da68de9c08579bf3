"""The command: which files, what it prints, exit codes, and how long it takes."""

import json
from pathlib import Path

import pytest

from sqlstream.cli import check
from sqlstream.cli import main as cli
from sqlstream.session.session import Session
from tests.support import pace

ROOT = Path(__file__).parents[2]
TABLE = "CREATE TABLE clicks (who STRING, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'datagen');\n"
WINDOW = "TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "catalog").mkdir()
    (tmp_path / "queries").mkdir()
    (tmp_path / "catalog" / "clicks.sql").write_text(TABLE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys, *arguments):
    code = cli.main(["check", *arguments])
    return code, capsys.readouterr().out.splitlines()


def test_a_clean_project(project, capsys):
    (project / "queries" / "q.sql").write_text("SELECT n FROM clicks;")
    assert run(capsys) == (0, [])


def test_findings_and_errors_of_the_whole_project(project, capsys):
    (project / "catalog" / "v.sql").write_text("CREATE VIEW v AS SELECT n FROM clicks WHERE who = NULL;")
    (project / "catalog" / "w.sql").write_text("\nCREATE VIEW w AS SELECT n FROM nowhere;")
    (project / "queries" / "q.sql").write_text("SELECT n FROM clicks WHERE who = NULL;\nSELEC;")
    code, lines = run(capsys)
    assert code == 2
    assert [line.split(" ")[0] + " " + line.split(" ")[1] for line in lines] == [
        "catalog/v.sql:1:45: L008", "catalog/w.sql:2:1: S2", "queries/q.sql:1:28: L008", "queries/q.sql:2:1: S1",
    ]  # fmt: skip


def test_folders(project, capsys):
    for name in ("daily/a.sql", "daily/deep/b.sql", "daily/.hidden/c.sql"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("SELECT n FROM clicks WHERE who = NULL;")
    assert [line.split(":")[0] for line in run(capsys, "daily")[1]] == ["daily/a.sql", "daily/deep/b.sql"]
    (project / "empty.sql").mkdir()
    with pytest.raises(SystemExit) as ended:
        run(capsys, "daily", "empty.sql")
    assert ended.value.code == 2 and "no file that ends in .sql: empty.sql" in capsys.readouterr().err


def test_some_files_as_json(project, capsys):
    (project / "a.sql").write_text("SELECT n FROM clicks WHERE who = NULL;")
    code, lines = run(capsys, "--output", "json", "a.sql")
    assert code == 1
    assert [json.loads(line) for line in lines] == [
        {
            "file": "a.sql",
            "line": 1,
            "column": 28,
            "code": "L008",
            "message": "A comparison with NULL is never TRUE",
            "hint": "IS NULL",
            "error": False,
        }
    ]
    with pytest.raises(SystemExit):
        cli.main(["check", "missing.sql"])


def test_what_the_settings_file_holds_that_means_nothing(project, capsys):
    (project / "sqlstream.toml").write_text('warehose = "data"\n[option]\nx = 1\n\n[options]\n"a" = "b"\nspark.x = "y"\n')
    assert run(capsys) == (1, [
        "sqlstream.toml:1:1: L016 No key is called 'warehose': it has no effect (Did you mean 'warehouse'?)",
        "sqlstream.toml:2:2: L016 No section is called 'option': it has no effect (Did you mean 'options'?)",
        "sqlstream.toml:6:2: L016 No option is called 'a' (leave it out; HELP SET lists the options)",
    ])  # fmt: skip
    (project / "a.sql").write_text("SELECT n FROM clicks;")
    assert run(capsys, "a.sql") == (0, [])


def test_the_example_project_is_clean(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("KAFKA_BOOTSTRAP", "localhost:9092")
    assert run(capsys) == (0, [])


def test_200_files_in_a_second(project):
    for i in range(200):
        (project / "queries" / f"q{i}.sql").write_text(
            f"-- Query {i}.\nSELECT window_start, window_end, who, COUNT(*) AS c{i}, SUM(n) FROM {WINDOW}\n"
            f"WHERE n > {i} AND who IS NOT NULL GROUP BY window_start, window_end, who;\n"
        )
    session = Session(project, notify=print)
    files = check.project_files(project)
    assert len(files) == 201
    list(check.findings(session, files[:5]))

    def checked():
        assert list(check.findings(session, files)) == []

    assert CALLS / 2 < pace.calls(checked) < CALLS


# About a second.
CALLS = 5_000_000


def test_a_statement_set_of_hundreds_of_inserts_is_checked_in_seconds(tmp_path: Path) -> None:
    inserts = "INSERT INTO s SELECT i, UUID() FROM t;" * 300
    declared = "CREATE TABLE t (i INT) WITH ('connector' = 'datagen');\nCREATE TABLE s (i INT, u STRING) WITH ('connector' = 'blackhole');\n"
    (tmp_path / "a.sql").write_text(f"{declared}EXECUTE STATEMENT SET BEGIN\n{inserts} END;")

    def checked():
        found = list(check.findings(Session(tmp_path, notify=lambda line: None), [tmp_path / "a.sql"]))
        assert [f.code for f in found] == ["L013"]

    assert pace.seconds(checked) < 15
