"""dbt, with its adapter for Flink as it is: a source, a seed, a streaming model that goes on, tests that pass and fail."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.support.sessions import feed
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.client import Client

# The adapter is for Python 3.10 at most.
PYTHON, ADAPTER = "python3.10", "dbt-flink-adapter==1.3.11"
FILES = {
    "dbt_project.yml": """
name: bank
version: "1.0"
config-version: 2
profile: bank
models: {{bank: {{materialized: table}}}}
on-run-start: ["{{{{ create_sources() }}}}"]
""",
    "profiles.yml": """
bank:
  target: dev
  outputs:
    dev: {{type: flink, host: localhost, port: {port}, session_name: dbt, database: default_catalog, schema: default_database, threads: 1}}
""",
    "models/bank.yml": """
version: 2
sources:
  - name: bank
    tables:
      - name: payments
        config:
          type: streaming
          connector_properties: {{connector: filesystem, format: json, path: "{folder}/payments", source.monitor-interval: 1 s}}
        columns:
          - {{name: id, data_type: INT}}
          - {{name: amount, data_type: "DECIMAL(10, 2)"}}
models:
  - name: large_payments
    config:
      type: streaming
      connector_properties: {{connector: delta, table-path: "{folder}/large"}}
      execution_config: {{pipeline.name: large_payments}}
    columns:
      - {{name: id, tests: [not_null]}}
""",
    "models/large_payments.sql": "select id, amount from {{{{ source('bank', 'payments') }}}} where amount > 10",
    "seeds/people.csv": "who,country\nann,CZ\nbob,DE\n",
    "seeds/people.yml": """
version: 2
seeds:
  - name: people
    config: {{connector_properties: {{connector: filesystem, format: json, path: "{folder}/people"}}}}
""",
    "tests/none_is_small.sql": "select * from {{{{ ref('large_payments') }}}} where amount <= 10",
    "tests/none_is_large.sql": "select * from {{{{ ref('large_payments') }}}} where amount > 10",
}


def has_python() -> bool:
    """Whether the machine has the Python that the adapter needs."""
    return shutil.which(PYTHON) is not None and subprocess.run([PYTHON, "-c", ""], capture_output=True, check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.skipif(not has_python(), reason=f"there is no {PYTHON}")
def test_a_project(on_spark: Client, tmp_path: Path) -> None:
    subprocess.run([PYTHON, "-m", "venv", tmp_path / "venv"], check=True)
    subprocess.run([tmp_path / "venv" / "bin" / "pip", "install", "-q", ADAPTER], check=True, capture_output=True)
    for folder in ("payments", ".dbt"):
        (tmp_path / folder).mkdir()
    for name, text in FILES.items():
        file = tmp_path / "dbt" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.format(folder=tmp_path, port=urlsplit(on_spark.address).port))
    feed(tmp_path / "payments", {"id": 1, "amount": 5}, {"id": 2, "amount": 50})

    def dbt(*arguments: str) -> str:
        command = [str(tmp_path / "venv" / "bin" / "dbt"), "--no-use-colors", *arguments, "--profiles-dir", "."]
        return subprocess.run(
            command, cwd=tmp_path / "dbt", env=os.environ | {"HOME": str(tmp_path)}, capture_output=True, text=True, check=False
        ).stdout

    session = on_spark.open(execution__runtime_mode="batch")
    session.run(f"CREATE TEMPORARY TABLE l (id INT, amount DECIMAL(10, 2)) WITH ('connector' = 'delta', 'table-path' = '{tmp_path / 'large'}')")

    def large() -> list[int]:
        return sorted(row[0] for row in session.run("SELECT id FROM l").rows)

    def people() -> list[str]:
        return sorted("".join(part.read_text() for part in (tmp_path / "people").glob("[!._]*")).splitlines())

    assert "PASS=1 WARN=0 ERROR=0" in (said := dbt("seed")), said[-3000:]
    until(lambda: people() == ['{"who":"ann","country":"CZ"}', '{"who":"bob","country":"DE"}'])
    assert "PASS=1 WARN=0 ERROR=0" in (said := dbt("run")), said[-3000:]
    until(lambda: large() == [2])
    said = dbt("test")
    assert "PASS=2 WARN=0 ERROR=1" in said, said[-3000:]
    assert "Failure in test none_is_large" in said
    # Once more: the job of before is stopped, and goes on.
    feed(tmp_path / "payments", {"id": 3, "amount": 70})
    assert "PASS=1 WARN=0 ERROR=0" in (said := dbt("run")), said[-3000:]
    until(lambda: large() == [2, 3])
    assert [job["name"] for job in on_spark.ask("GET", "/jobs/overview").body["jobs"] if job["state"] == "RUNNING"] == ["large_payments"]
