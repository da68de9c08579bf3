"""Prometheus' rules and Grafana's dashboard of the documentation: what they ask for exists, and a real Prometheus takes them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import urllib.parse
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sqlstream.cli.kafka.process import free_port
from sqlstream.runtime.monitor.reporting.families import FAMILIES, OF_JOB, RUNNING_JOBS, Reported
from sqlstream.runtime.monitor.reporting.reporter import PORT
from tests.runtime.monitor.recordings import job, recorded
from tests.runtime.monitor.test_reporting import Told
from tests.support import needs
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parents[2] / "docs" / "monitoring"
ALERTS, DASHBOARD = FOLDER / "alerts.yml", FOLDER / "dashboard.json"
_METRIC = re.compile(r"\b((?:sqlstream|flink)_\w+)(?:\{([^}]*)\})?")


def panels() -> dict[str, str]:
    """The queries of the dashboard, by the panels' titles."""
    found = json.loads(DASHBOARD.read_text())["panels"]
    return {f"{panel['title']} {target['refId']}": target["expr"] for panel in found for target in panel["targets"]}


def expressions() -> Iterator[str]:
    """All that is asked for: the rules as text, and the dashboard's queries."""
    yield "\n".join(line for line in ALERTS.read_text().splitlines() if not line.lstrip().startswith(("#", "- name", "summary", "description")))
    yield from panels().values()


@pytest.mark.parametrize("text", list(expressions()), ids=["alerts", *panels()])
def test_what_is_asked_for_is_told(text: str) -> None:
    names = {f.name + ("_total" if f.counts else ""): {*OF_JOB, *f.labels} for f in FAMILIES} | {RUNNING_JOBS[0]: set()}
    asked = _METRIC.findall(text)
    assert asked
    for name, labels in asked:
        assert name in names
        assert set(re.findall(r"(\w+)=", labels)) <= names[name]


def test_panels_lie_beside_each_other() -> None:
    places = [p["gridPos"] for p in json.loads(DASHBOARD.read_text())["panels"]]
    cells = [(x, y) for p in places for x in range(p["x"], p["x"] + p["w"]) for y in range(p["y"], p["y"] + p["h"])]
    assert len(set(cells)) == len(cells) and max(x for x, _ in cells) == 23


@pytest.mark.slow
def test_the_rules_do_what_they_say(tmp_path: Path) -> None:
    promtool = needs.program("promtool")
    shutil.copy(ALERTS, tmp_path)
    shutil.copy(Path(__file__).with_name("alerts.test.yml"), tmp_path)
    for command in (["check", "rules", "alerts.yml"], ["test", "rules", "alerts.test.yml"]):
        ran = subprocess.run([promtool, *command], cwd=tmp_path, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.slow
def test_prometheus(tmp_path: Path) -> None:
    """It reads the metrics of a job that has failed, takes the rules, and answers the dashboard's queries."""
    prometheus, promtool = needs.program("prometheus"), needs.program("promtool")
    said: list[str] = []
    failed = replace(job(recorded("cheap")[-1], status="FAILED"), id="4567")
    told = Told(tmp_path, Reported(job(recorded("skewed")[-1]), ("answers",)), Reported(failed, ("x",)))
    told.listen({PORT: "0"}, said.append)
    target = said[0].removeprefix("Metrics of jobs are at http://").removesuffix("/metrics")
    (tmp_path / "prometheus.yml").write_text(
        json.dumps(
            {
                "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                "rule_files": [str(ALERTS)],
                "scrape_configs": [{"job_name": "sqlstream", "static_configs": [{"targets": [target]}]}],
            }
        )
    )
    page, _ = told.text("text/plain")
    checked = subprocess.run([promtool, "check", "metrics"], input=page, capture_output=True)
    # It also says how Prometheus' own metrics would be named; Flink's are not.
    assert checked.returncode in (0, 3) and not [line for line in checked.stderr.decode().splitlines() if not line.startswith("flink_")]
    address = f"127.0.0.1:{free_port()}"
    command = [prometheus, "--config.file=prometheus.yml", "--storage.tsdb.path=data", f"--web.listen-address={address}", "--log.level=error"]

    def ask(path: str, **query: str) -> Any:
        with urllib.request.urlopen(f"http://{address}/api/v1/{path}?{urllib.parse.urlencode(query)}", timeout=30) as answer:
            return json.loads(answer.read())["data"]

    def up() -> bool:
        try:
            return bool(ask("query", query="up == 1")["result"])
        except OSError:
            return False

    with subprocess.Popen(command, cwd=tmp_path) as process:
        try:
            until(up, meanwhile=lambda: None if process.poll() is None else pytest.fail("Prometheus has ended"))
            until(lambda: {a["labels"]["alertname"] for a in ask("alerts")["alerts"]} == {"JobFailed", "JobReadsNothing"})
            assert {r["health"] for g in ask("rules")["groups"] for r in g["rules"]} == {"ok"}
            until(lambda: ask("query", query="count_over_time(sqlstream_rows_read_total[1m]) > 5")["result"])
            for title, expression in panels().items():
                found = ask("query", query=expression.replace("$job", ".*").replace("$__rate_interval", "1m"))["result"]
                assert found, title
        finally:
            process.terminate()
            told.close()
