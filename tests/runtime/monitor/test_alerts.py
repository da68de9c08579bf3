"""Who is told that a job fails, lags, keeps being started again, or reads nothing. No JVM."""

from __future__ import annotations

import json
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import pytest

from sqlstream.core import settings
from sqlstream.core.errors import ValidationError
from sqlstream.core.secrets import masked_option
from sqlstream.runtime.monitor.metrics import Input, JobMetrics, Partition, QueryMetrics
from sqlstream.runtime.monitor.reporting import alerts
from sqlstream.runtime.monitor.reporting.alerts import Alerts, Limits, problems
from tests.runtime.monitor.recordings import job
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def lagging(lag: int) -> QueryMetrics:
    return QueryMetrics(inputs=(Input("t", 1, (Partition("t-0", 0, lag),)),))


@pytest.mark.parametrize(
    ("known", "limits", "restarts", "since", "expected"),
    [
        (job(status="FAILED", error="No."), Limits(3), 0, None, {"failed": "has failed: No."}),
        (job(lagging(1000)), Limits(3), 3, 0.0, {}),
        (job(lagging(1000)), Limits(3), 4, 0.0, {"restarts": "was started again 4 times within an hour: it runs now."}),
        (job(status="RESTARTING", error="No."), Limits(0), 1, None, {"restarts": "was started again 1 times within an hour: No."}),
        (job(lagging(1000)), Limits(3, lag=999), 0, 0.0, {"lag": "is 1,000 records behind."}),
        (job(lagging(1000)), Limits(3, lag=1000), 0, 0.0, {}),
        (job(QueryMetrics()), Limits(3, lag=0), 0, 0.0, {}),
        (job(QueryMetrics(last_input=100_000)), Limits(3, quiet_ms=60_000), 0, 0.0, {"quiet": "has read no row for 15 min."}),
        (job(QueryMetrics(last_input=100_000), QueryMetrics(last_input=990_000)), Limits(3, quiet_ms=60_000), 0, 0.0, {}),
        # One that has never read a row has been quiet since it began.
        (job(QueryMetrics()), Limits(3, quiet_ms=60_000), 0, 0.0, {"quiet": "has read no row for 16 min 40 s."}),
        # It began to read, or to do so again, later than the job began.
        (job(QueryMetrics()), Limits(3, quiet_ms=60_000), 0, 939.0, {"quiet": "has read no row for 1 min 1 s."}),
        (job(QueryMetrics(last_input=100_000)), Limits(3, quiet_ms=60_000), 0, 941.0, {}),
        (job(QueryMetrics(), status="FINISHED"), Limits(3, lag=0, quiet_ms=1), 0, None, {}),
    ],
)
def test_what_is_the_matter(known: JobMetrics, limits: Limits, restarts: int, since: float | None, expected: dict[str, str]) -> None:
    assert dict(problems(known, limits, restarts, since, now=1000.0)) == expected


class Heard:
    """A command that keeps what it is given."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "heard 'x'"
        code = f"import sys; open({str(self._file)!r}, 'a').write(sys.stdin.read() + chr(10))"
        self.command = f"{sys.executable} -c {json.dumps(code)}"

    def alerts(self) -> list[dict]:
        return [json.loads(line) for line in self._file.read_text().splitlines()] if self._file.exists() else []

    def events(self) -> list[tuple[str, bool]]:
        return [(alert["event"], alert["over"]) for alert in self.alerts()]


def watching(options: dict[str, str], said: list[str] | None = None) -> Alerts:
    made = Alerts("/project", (said if said is not None else []).append)
    made.watch(lambda: (), options)
    return made


def test_a_command_hears_of_what_begins_and_of_what_is_over(tmp_path: Path) -> None:
    heard = Heard(tmp_path)
    watch = watching({"alert.to": heard.command, "alert.lag": "100"})
    for lag in (50, 101, 200, 100, 300):
        watch.look(job(lagging(lag)))
    assert heard.events() == [("lag", False), ("lag", True), ("lag", False)]
    watch.look(job(lagging(300), status="FAILED", error="Ä."))
    assert heard.events()[3:] == [("failed", False), ("lag", True)]
    failed = heard.alerts()[3]
    assert failed.pop("time").endswith("Z")
    assert failed == {
        "text": "Job 'answers' has failed: Ä.", "event": "failed", "over": False, "job_id": "0123abcd",
        "job": "insert-into_default_catalog.default_database.answers", "status": "FAILED", "error": "Ä.", "hint": None, "project": "/project",
    }  # fmt: skip
    watch.close()


def test_restarts_are_those_of_an_hour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard, now = Heard(tmp_path), [0.0]
    monkeypatch.setattr(alerts.time, "time", lambda: now[0])
    watch = watching({"alert.to": heard.command, "alert.restarts": "2"})
    # After 2 it has run for so long that it counts from 0 again.
    for minute, restarts in ((0, 1), (10, 2), (65, 0), (66, 1), (67, 2), (68, 2), (140, 2)):
        now[0] = minute * 60.0
        watch.look(replace(job(lagging(0)), restarts=restarts))
    assert heard.events() == [("restarts", False), ("restarts", True)]
    assert heard.alerts()[0]["text"].startswith("Job 'answers' was started again 3 times within an hour")
    watch.close()


def test_quiet_is_over_when_a_row_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither while its queries start, nor when they are gone for a while."""
    heard, now = Heard(tmp_path), [1000.0]
    monkeypatch.setattr(alerts.time, "time", lambda: now[0])
    watch = watching({"alert.to": heard.command, "alert.quiet": "20 s", "alert.lag": "10"})

    def look(at: float, *queries: QueryMetrics, status: str = "RUNNING") -> list[tuple[str, bool]]:
        now[0], known = at, len(heard.events())
        watch.look(job(*queries, status=status))
        return heard.events()[known:]

    behind = replace(lagging(11), last_input=None)
    # Spark starts.
    assert look(1000) == look(1100) == []
    assert look(1101, QueryMetrics()) == look(1120, QueryMetrics()) == []
    assert look(1122, QueryMetrics()) == [("quiet", False)]
    assert look(1130, QueryMetrics(), status="RESTARTING") == look(1135) == look(1140, QueryMetrics()) == []
    assert look(1141, QueryMetrics(last_input=1_140_500)) == [("quiet", True)]
    assert heard.alerts()[-1]["text"] == "Job 'answers' reads rows again."
    assert look(1150, behind) == [("lag", False)]
    assert look(1155, status="RESTARTING") == [] and look(1156, lagging(0)) == [("lag", True)]
    assert look(1190, QueryMetrics()) == [("quiet", False)]
    assert look(1191, status="CANCELED") == [("quiet", True)]
    assert heard.alerts()[-1]["text"] == "Job 'answers' is CANCELED."
    watch.close()


def test_one_that_was_not_started_again(tmp_path: Path) -> None:
    heard = Heard(tmp_path)
    problem = ValidationError("Object 'big' not found.", hint="It was dropped.")
    watching({"alert.to": heard.command}).left("insert-into_a.b.big", problem)
    watching({}).left("insert-into_a.b.big", problem)
    (alert,) = heard.alerts()
    assert (alert["text"], alert["event"], alert["job"], alert["error"], alert["hint"]) == (
        "Job 'big' was not started again: Object 'big' not found.", "failed", "insert-into_a.b.big", problem.message, problem.hint,
    )  # fmt: skip


@contextmanager
def listening(status: int, port: int = 0) -> Iterator[tuple[str, list[dict]]]:
    """An address that answers with ``status``, and what it was sent."""
    sent: list[dict] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.headers["Content-Type"] == "application/json"
            sent.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", port), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook", sent
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    with listening(204) as (address, sent):
        monkeypatch.setenv("WHO", address)
        watching({"alert.to": "${env:WHO}"}, said).look(job(status="FAILED", error="No."))
    assert [alert["event"] for alert in sent] == ["failed"] and said == []


def test_nobody_can_be_told(tmp_path: Path) -> None:
    """It is said why, without the address, which may be a secret."""
    said: list[str] = []
    start = "Nobody could be told that job 'answers' has failed: No. 'alert.to': "
    with listening(500) as (address, _):
        watching({"alert.to": address + "/s3cret"}, said).look(job(status="FAILED", error="No."))
    watching({"alert.to": address + "/s3cret"}, said).look(job(status="FAILED", error="No."))
    for command in (f"{sys.executable} -c 'raise SystemExit(7)'", str(tmp_path / "nowhere")):
        watching({"alert.to": command}, said).look(job(status="FAILED", error="No."))
    reasons = ["the address answered with status 500", "Connection refused", "the command ended with exit code 7", "No such file or directory"]
    assert said == [f"{start}{reason}. It is tried again." for reason in reasons]


def test_who_could_not_be_told_is_told_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that happened, in its order, once each; it is said once that nobody could be told."""
    monkeypatch.setattr(alerts, "_LOOK_SECONDS", 0.01)
    monkeypatch.setattr(alerts, "_AGAIN_SECONDS", (0.01, 0.05))
    said: list[str] = []
    with listening(204) as (address, _):
        pass
    port = int(address.split(":")[2].split("/")[0])
    watched = watching({"alert.to": address}, said)
    watched.look(job(status="FAILED", error="No."))
    watched.look(job(status="RUNNING"))
    assert len(said) == 2
    with listening(204, port) as (_, sent):
        until(lambda: len(sent) == 2)
        time.sleep(0.1)
    watched.close()
    assert [(alert["event"], alert["over"]) for alert in sent] == [("failed", False), ("failed", True)] and len(said) == 2


def test_options() -> None:
    assert masked_option("alert.to", "https://hooks.example.com/T0/B0/x") == "******"
    assert Limits.of({"alert.quiet": "5 min"}) == Limits(3, None, 300_000)
    with pytest.raises(ValidationError, match="is less than 0"):
        settings.check("alert.lag", "-1")
    with pytest.raises(ValidationError, match="is no command: its quotes do not match"):
        watching({"alert.to": "say 'x"})
    with pytest.raises(ValidationError, match="needs the environment variable NOT_THERE"):
        watching({"alert.to": "${env:NOT_THERE}"})
    quiet = watching({})
    quiet.look(job(status="FAILED"))
