"""What pages show is what a user gets: every block of SQL and Python runs, or is planned, and prints what stands beneath it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp

from tests.support.function_jar import function_jar
from tests.support.pages import BLOCKS, ROOT, blocks
from tests.support.processes import WITH_PROGRAM
from tests.support.sessions import catch_up, feed, open_session, rows, run, submit

EXAMPLE = ROOT / "sqlstream" / "cli" / "example"
# Tables and functions that blocks speak of and don't declare.
CATALOG = {
    "totals": "CREATE TABLE totals (item STRING, bids BIGINT, PRIMARY KEY (item) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'totals');",
    "newest_account": "CREATE TABLE newest_account (customerId STRING, accountId STRING, PRIMARY KEY (customerId) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'newest');",
    "bids": "CREATE TABLE bids (item STRING, price DECIMAL(10, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'datagen');",
    "lines": "CREATE TABLE lines (id INT, line STRING) WITH ('connector' = 'datagen');",
    "per_minute": "CREATE TABLE per_minute (minute_end TIMESTAMP(3), transactions BIGINT) WITH ('connector' = 'blackhole');",
    "t": "CREATE TABLE t (k STRING, x DOUBLE) WITH ('connector' = 'datagen');",
}
MIGRATED, *_ = blocks("docs/migrating.md", "sql")
(IN_JAVA,) = blocks("docs/java-functions.md", "sql")
SAVEPOINT, *_ = blocks("docs/operations/savepoints.md", "sql")
SAVED_QUERY, *_ = blocks("docs/client.md", "sql")
FUNCTIONS = {
    line.partition("# udfs/")[2]: block.text for block in blocks("docs/python-functions.md", "python") for line in block.text.splitlines()[:1]
}


def sqlstream(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """The program as it is installed, as a shell starts it."""
    return subprocess.run(
        ["sh", "-c", command], cwd=folder, env={**os.environ, "PATH": WITH_PROGRAM}, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The example of a bank, with what blocks speak of besides."""
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    for name, text in CATALOG.items():
        (tmp_path / "catalog" / f"{name}.sql").write_text(text)
    for name, text in FUNCTIONS.items():
        (tmp_path / "udfs" / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("page", ["docs/migrating.md", "docs/troubleshooting.md"])
def test_commands_print_what_the_page_shows(page: str, tmp_path: Path) -> None:
    (tmp_path / "job.sql").write_text(MIGRATED.text)
    commands = [found for block in blocks(page, "text") for found in block.commands]
    assert commands
    for command, lines in commands:
        assert sqlstream(tmp_path, command).stdout.splitlines() == lines


def test_every_command_of_a_block_runs_in_a_test() -> None:
    """The tutorial's run in a terminal."""
    assert {block.page for block in BLOCKS if block.commands} == {"docs/migrating.md", "docs/troubleshooting.md", "docs/tutorial.md"}


def test_sql_of_pages_is_planned(project: Path) -> None:
    """Findings that are no errors are part of examples: some have state that grows."""
    shown = [block for block in BLOCKS if block.language == "sql" and block not in (MIGRATED, SAVEPOINT, IN_JAVA)]
    assert len(shown) > 8
    messages, *_ = blocks("docs/protobuf.md", "protobuf")
    (project / "protos").mkdir()
    (project / "protos" / "order.proto").write_text(messages.text)
    shutil.copytree(ROOT / "examples" / "connectors", project / "connectors", ignore=shutil.ignore_patterns("__pycache__"))
    for i, block in enumerate(shown):
        (project / f"shown_{i}.sql").write_text(f"-- {block.page}\n{block.text}")
    (project / "wrong.sql").write_text("SELECT nothing FROM bids;")
    found = sqlstream(project, "sqlstream check --output json shown_*.sql wrong.sql").stdout.splitlines()
    assert [row["file"] for row in map(json.loads, found) if row["error"]] == ["wrong.sql"]


def test_functions_in_java(project: Path) -> None:
    (project / "lib").mkdir()
    function_jar(project / "lib")
    (project / "customers.sql").write_text("CREATE TABLE customers (name STRING) WITH ('connector' = 'datagen');")
    (project / "shown.sql").write_text("SOURCE 'customers.sql';\n" + IN_JAVA.text.replace("com.example.Clean", "acme.Up"))
    assert sqlstream(project, "sqlstream check shown.sql").stdout == "1 file checked, 0 findings\n"


def test_the_saved_query_of_the_client(project: Path) -> None:
    (project / "queries" / "shown.sql").write_text(SAVED_QUERY.text)
    assert "What goes through an account, window by window?" in sqlstream(project, "sqlstream query").stdout
    assert sqlstream(project, "sqlstream check queries/shown.sql").stdout == "1 file checked, 0 findings\n"


def test_the_dialect_as_a_library() -> None:
    (example,) = blocks("docs/architecture.md", "python")
    names: dict[str, Any] = {}
    exec(example.text, names)
    assert [node.name for node in names["total"].walk()] == ["total", "_0.price", "bids.price"]
    assert [type(node) for node in names["tree"].find_all(exp.AggFunc)] == [exp.Sum]
    assert eval(example.text.splitlines()[-1], names) == ["SELECT a || 'x' FROM t ORDER BY a NULLS FIRST"]


@pytest.mark.spark
def test_python_functions(project: Path, engine) -> None:
    views = {
        "transactions": "SELECT * FROM (VALUES ('A00017', 1249.5e0)) AS v (accountId, amount)",
        "lines": "SELECT * FROM (VALUES (1, 'two words'), (2, '')) AS v (id, line)",
        "t": "SELECT * FROM (VALUES ('a', 1e0), ('a', 3e0), ('a', 3e0), ('a', -1e0)) AS v (k, x)",
    }
    shutil.rmtree(project / "catalog")
    declared = "".join(f"CREATE TEMPORARY VIEW {name} AS {query};" for name, query in views.items())
    session = open_session(project, declared, options={"execution.runtime-mode": "batch"}, engine=engine)
    scalar, aggregate = blocks("docs/python-functions.md", "sql")
    found = [sorted(outcome.rows, key=repr) for block in (scalar, aggregate) for outcome in session.run(block.text)]
    session.close()
    assert found == [[("****17", "1200.0")], [("1", "two"), ("1", "words"), ("2", None)], [("a", "4.0", "2.0")]]


@pytest.mark.spark
def test_state_as_a_table(tmp_path: Path, engine) -> None:
    """The page shows the path of a savepoint, and columns; rows are those of the account."""
    (tmp_path / "paid").mkdir()
    feed(tmp_path / "paid", *({"account": account, "amount": amount} for account, amount in ((7, 1.5), (8, 2), (7, 3.25))))
    declared = (
        "CREATE TABLE paid (account BIGINT, amount DECIMAL(10, 2)) WITH ('connector' = 'filesystem', 'path' = 'paid', 'format' = 'json',"
        " 'source.monitor-interval' = '1 s');"
        "CREATE TABLE totals (account BIGINT, payments BIGINT, total DECIMAL(38, 2), PRIMARY KEY (account) NOT ENFORCED)"
        " WITH ('connector' = 'delta', 'table-path' = 'totals');"
    )
    session = open_session(tmp_path, declared, options={"pipeline.name": "totals"}, engine=engine)
    job = submit(session, "INSERT INTO totals SELECT account, COUNT(*) AS payments, SUM(amount) AS total FROM paid GROUP BY account;")
    catch_up(job)
    make, rest = SAVEPOINT.text.split("\n", 1)
    ((path,),) = rows(session, make)
    shown = rest[rest.index("'") + 1 :].partition("'")[0]
    outcomes = run(session, rest.replace(shown, path))
    session.close()
    assert Path(path).name.startswith("totals-")
    uids, _, described, _, kept = outcomes
    assert any("'operator.uid' = '0_totals/0'" in cell for row in uids.rows for cell in row), uids.rows
    claimed = rest.partition("DESCRIBE kept;")[2].splitlines()[0].strip(" -")
    assert claimed == ", ".join(f"{row[0]} {row[1]}" for row in described.rows)
    assert kept.rows == (("7", "2", "4.75"),)
