"""What OpenLineage hears of jobs: datasets, columns, runs. And who hears it: a file, an address, also where it is away, slow or refuses. No JVM."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import uuid
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from openlineage.client.event_v2 import RunState
from openlineage.client.serde import Serde

from sqlstream.core import settings
from sqlstream.core.errors import JobFailed, SetupError, ValidationError
from sqlstream.core.secrets import MASK, masked_option
from sqlstream.runtime.jobs.job import Job
from sqlstream.runtime.jobs.restarts import Restarts
from sqlstream.runtime.monitor.reporting import lineage as reporting
from sqlstream.runtime.monitor.reporting.lineage import Lineage
from sqlstream.runtime.monitor.reporting.lineage_events import Described
from sqlstream.sql.statements.parsing import parse
from tests.support.sessions import open_session
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlstream.plan.nodes import Sink
    from sqlstream.session.session import Session

DECLARATIONS = """
CREATE TABLE bids (item STRING COMMENT 'What is sold', price INT, place ROW<city STRING, zip ROW<code STRING>>, ts TIMESTAMP(3),
  part INT METADATA FROM 'partition' VIRTUAL, twice AS price * 2, WATERMARK FOR ts AS ts)
WITH ('connector' = 'kafka', 'topic' = 'bids;more', 'properties.bootstrap.servers' = 'h:1', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset',
  'properties.sasl.jaas.config' = 'x.PlainLoginModule required username="u" password="CANARY-jaas";');
CREATE TABLE goods (name STRING, vendor STRING, PRIMARY KEY (name) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://db/shop?password=CANARY-url', 'table-name' = 'goods', 'username' = 'u', 'password' = '${env:DB_PASSWORD}');
CREATE TABLE totals (item STRING, total BIGINT, nothing INT, PRIMARY KEY (item) NOT ENFORCED)
WITH ('connector' = 'delta', 'table-path' = 's3://KEY:CANARY-key@lake/totals');
CREATE TABLE lines (item STRING, vendor STRING) WITH ('connector' = 'blackhole');
"""


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setenv("DB_PASSWORD", "CANARY-environment")
    return open_session(tmp_path, DECLARATIONS)


def sinks(session: Session, *statements: str) -> tuple[Sink, ...]:
    return tuple(session.planner.planned(parse(s), session.planner.environment()).plan for s in statements)  # type: ignore[misc]


def event(session: Session, *statements: str, sql: str = "", error: str | None = None, streaming: bool = True, attempt: int = 0) -> dict[str, Any]:
    of = sinks(session, *statements)
    told = Described("0123456789abcdef0123456789abcdef", "totals", of, streaming, sql, "bank", session.project, "4.2.0")
    return Serde.to_dict(told.event(RunState.FAIL if error else RunState.START, attempt, 1_700_000_000.5, error))


SUM = "INSERT INTO totals SELECT item, SUM(price), CAST(NULL AS INT) FROM bids WHERE place.zip.code <> 'x' GROUP BY item"


def read(namespace: str, name: str, field: str, *effects: str) -> dict[str, Any]:
    kinds = ({"type": "DIRECT" if e in ("IDENTITY", "TRANSFORMATION", "AGGREGATION") else "INDIRECT", "subtype": e} for e in effects)
    return {"namespace": namespace, "name": name, "field": field, "transformations": [*kinds]}


def plain(facet: dict[str, Any]) -> dict[str, Any]:
    """Without what each facet says of its kind."""
    return {key: value for key, value in facet.items() if not key.startswith("_")}


def test_an_event(session: Session) -> None:
    said = event(session, SUM, sql="INSERT ..")
    assert (said["eventType"], said["eventTime"]) == ("START", "2023-11-14T22:13:20.500+00:00")
    assert said["schemaURL"].endswith("#/$defs/RunEvent") and said["producer"].startswith("urn:sqlstream:")
    assert said["run"]["runId"] == "01234567-89ab-cdef-0123-456789abcdef"
    assert plain(said["run"]["facets"]["externalQuery"]) == {"externalQueryId": "0123456789abcdef0123456789abcdef", "source": "sqlstream"}
    assert (said["job"]["namespace"], said["job"]["name"]) == ("bank", "totals")
    assert plain(said["job"]["facets"]["sql"]) == {"query": "INSERT ..", "dialect": "flink"}
    assert plain(said["job"]["facets"]["jobType"]) == {"processingType": "STREAMING", "integration": "SQLSTREAM", "jobType": "JOB"}
    engine = plain(said["run"]["facets"]["processing_engine"])
    assert (engine["name"], engine["version"]) == ("spark", "4.2.0")
    assert [(d["namespace"], d["name"]) for d in said["inputs"]] == [("kafka://h:1", "bids"), ("kafka://h:1", "more")]
    (output,) = said["outputs"]
    assert (output["namespace"], output["name"]) == ("s3://lake", "totals")


def test_columns_have_flinks_types(session: Session) -> None:
    said = event(session, SUM)
    columns = said["inputs"][0]["facets"]["schema"]["fields"]
    assert [(c["name"], c["type"], c["ordinal_position"]) for c in columns] == [
        ("item", "STRING", 1), ("price", "INT", 2), ("place", "ROW<`city` STRING, `zip` ROW<`code` STRING>>", 3), ("ts", "TIMESTAMP(3)", 4), ("part", "INT", 5),
    ]  # fmt: skip
    assert columns[0]["description"] == "What is sold"
    (zipped,) = (f for f in columns[2]["fields"] if f["name"] == "zip")
    assert [f["name"] for f in zipped["fields"]] == ["code"]
    assert [c["name"] for c in said["outputs"][0]["facets"]["schema"]["fields"]] == ["item", "total", "nothing"]


def test_columns_say_where_they_come_from(session: Session) -> None:
    facet = event(session, SUM)["outputs"][0]["facets"]["columnLineage"]
    topics = ("bids", "more")
    assert {name: of["inputFields"] for name, of in facet["fields"].items()} == {
        "item": [read("kafka://h:1", topic, "item", "IDENTITY") for topic in topics],
        "total": [read("kafka://h:1", topic, "price", "AGGREGATION") for topic in topics],
    }
    assert facet["dataset"] == [read("kafka://h:1", t, *of) for t in topics for of in (("item", "GROUP_BY"), ("place.zip.code", "FILTER"))]


def test_what_is_looked_up_is_read(session: Session) -> None:
    lookup = "INSERT INTO lines SELECT b.item, g.vendor FROM (SELECT *, PROCTIME() AS p FROM bids) AS b JOIN goods FOR SYSTEM_TIME AS OF b.p AS g ON b.item = g.name"
    said = event(session, lookup)
    goods = ("postgres://db:5432", "shop.public.goods")
    assert goods in [(d["namespace"], d["name"]) for d in said["inputs"]]
    assert said["outputs"][0]["facets"]["columnLineage"]["fields"]["vendor"]["inputFields"] == [read(*goods, "vendor", "IDENTITY")]


def test_inserts_into_one_table_are_one_output(session: Session) -> None:
    inserts = [f"INSERT INTO lines SELECT item, '{n}' FROM bids" for n in range(3)]
    said = event(session, *inserts, "INSERT INTO lines SELECT vendor, name FROM goods", SUM)
    assert [d["name"] for d in said["outputs"]] == ["default_catalog.default_database.lines", "totals"]
    lines = said["outputs"][0]["facets"]["columnLineage"]["fields"]
    assert [(i["name"], i["field"]) for i in lines["item"]["inputFields"]] == [("bids", "item"), ("more", "item"), ("shop.public.goods", "vendor")]
    assert len(said["inputs"]) == 3


def test_constants_have_no_lineage(session: Session) -> None:
    said = event(session, "INSERT INTO lines VALUES ('a', 'b')", streaming=False)
    assert said["inputs"] == [] and "columnLineage" not in said["outputs"][0]["facets"]
    assert said["job"]["facets"]["jobType"]["processingType"] == "BATCH"


def test_no_secret_is_in_an_event(session: Session) -> None:
    everything = (SUM, "INSERT INTO lines SELECT g.name, g.vendor FROM goods AS g")
    said = event(
        session, *everything, sql="SELECT 'CANARY-environment'", error="FATAL: password=CANARY-other; CANARY-jaas at jdbc:x://u:CANARY-far@h, CANARY-environment",
    )  # fmt: skip
    assert "CANARY" not in json.dumps(said)
    assert plain(said["run"]["facets"]["errorMessage"])["message"] == f"FATAL: password={MASK}; {MASK} at jdbc:x://u:{MASK}@h, {MASK}"
    assert masked_option("lineage.api-key", "abc") == MASK


# --- runs -------------------------------------------------------------------------------------------------------------


class Jobs:
    """Jobs that are told of, and what their machines are told."""

    def __init__(self, session: Session, options: dict[str, str]) -> None:
        self._session = session
        self.said: list[str] = []
        self.lineage = Lineage(session.project, self.said.append)
        self.lineage.tell(options)

    def begin(self, name: str = "totals", *, streaming: bool = True) -> Job:
        job = Job(uuid.uuid4().hex, name, sinks(self._session, SUM), self._session.project, streaming=streaming)
        self.lineage.begin(job, "INSERT ..")
        return job


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def states(events: list[dict[str, Any]]) -> list[str]:
    return [e["eventType"] for e in events]


def test_each_attempt_is_a_run(session: Session, tmp_path: Path) -> None:
    jobs = Jobs(session, {"lineage.file": "events.jsonl", "lineage.namespace": "bank"})
    job = jobs.begin()
    job.machine.started()
    job.machine.retry(JobFailed("No."), Restarts(1, 0))
    job.machine.retry(JobFailed("Still not."), Restarts(2, 0))
    job.machine.started()
    job.machine.ask()
    job.machine.end(lambda: None)
    jobs.lineage.close()
    said = lines(tmp_path / "events.jsonl")
    assert states(said) == ["START", "FAIL", "START", "ABORT"]
    runs = [e["run"]["runId"] for e in said]
    assert runs[0] == runs[1] == str(uuid.UUID(job.id)) and runs[2] == runs[3] != runs[0]
    assert {e["run"]["facets"]["externalQuery"]["externalQueryId"] for e in said} == {job.id}
    assert said[1]["run"]["facets"]["errorMessage"]["message"] == "No."
    assert {e["job"]["namespace"] for e in said} == {"bank"} and all(e["inputs"] and e["outputs"] for e in said)


def test_how_runs_end(session: Session, tmp_path: Path) -> None:
    jobs = Jobs(session, {"lineage.file": str(tmp_path / "events.jsonl")})
    jobs.begin("a").machine.end(lambda: None)
    jobs.begin("b").machine.fail(JobFailed("No."))
    jobs.begin("c").machine.refuse(JobFailed("Not so."))
    jobs.lineage.close()
    said = lines(tmp_path / "events.jsonl")
    assert [(e["job"]["name"], e["eventType"]) for e in said] == [
        ("a", "START"),
        ("a", "COMPLETE"),
        ("b", "START"),
        ("b", "FAIL"),
        ("c", "START"),
        ("c", "FAIL"),
    ]
    assert jobs.said == []


def test_a_stream_says_that_it_runs(session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporting, "_RUNNING_SECONDS", 0.05)
    jobs = Jobs(session, {"lineage.file": "events.jsonl"})
    stream, batch = jobs.begin("stream"), jobs.begin("batch", streaming=False)
    until(lambda: states(lines(tmp_path / "events.jsonl")).count("RUNNING") > 2)
    for job in (stream, batch):
        job.machine.end(lambda: None)
    jobs.lineage.close()
    said = lines(tmp_path / "events.jsonl")
    of_stream = states([e for e in said if e["job"]["name"] == "stream"])
    assert (of_stream[0], {*of_stream[1:-1]}, of_stream[-1]) == ("START", {"RUNNING"}, "COMPLETE")
    assert states([e for e in said if e["job"]["name"] == "batch"]) == ["START", "COMPLETE"]


def test_two_write_to_one_file(session: Session, tmp_path: Path) -> None:
    both = [Jobs(session, {"lineage.file": "events.jsonl"}) for _ in range(2)]
    for n in range(20):
        for jobs in both:
            jobs.begin(f"job {n} ü").machine.end(lambda: None)
    for jobs in both:
        jobs.lineage.close()
    assert len(lines(tmp_path / "events.jsonl")) == 80


# --- who is told ------------------------------------------------------------------------------------------------------


class Backend:
    """An address: what it was sent. It answers with the statuses in turn, the last one from then on; each time after ``pause``, unless that is ``over``."""

    def __init__(self, *statuses: int, pause: float = 0) -> None:
        self.events: list[dict[str, Any]] = []
        self.asked: list[tuple[str, str | None]] = []
        self.statuses = [*statuses]
        self.pause, self.over = pause, threading.Event()

    @contextmanager
    def listening(self) -> Iterator[str]:
        backend = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                backend.asked.append((self.path, self.headers["Authorization"]))
                status = backend.statuses[0] if len(backend.statuses) == 1 else backend.statuses.pop(0)
                backend.over.wait(backend.pause)
                if status < 300:
                    backend.events.append(body)
                self.send_response(status)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporting, "_PAUSES", (0.02, 0.05))


def test_an_address_hears_of_jobs(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "CANARY-key")
    # Where it goes is said by options alone. The client writes down in the environment what it finds there.
    monkeypatch.setattr(os, "environ", {**os.environ, "OPENLINEAGE_URL": "http://elsewhere:1"})
    backend = Backend(201)
    with backend.listening() as url:
        jobs = Jobs(session, {"lineage.url": url, "lineage.api-key": "${env:KEY}"})
        jobs.begin().machine.end(lambda: None)
        jobs.lineage.close()
        other = Jobs(session, {"lineage.url": f"{url}/in/here?x=y"})
        other.begin()
        other.lineage.close()
    assert states(backend.events) == ["START", "COMPLETE", "START"]
    assert backend.asked == [("/api/v1/lineage", "Bearer CANARY-key")] * 2 + [("/in/here?x=y", None)]
    assert jobs.said == other.said == []


def test_what_an_address_misses_is_sent_again(session: Session, soon: None) -> None:
    backend = Backend(500, 503, 429, 200)
    with backend.listening() as url:
        jobs = Jobs(session, {"lineage.url": url})
        jobs.begin().machine.end(lambda: None)
        until(lambda: len(backend.events) == 2)
        jobs.lineage.close()
    assert states(backend.events) == ["START", "COMPLETE"]
    (said,) = jobs.said
    assert said.startswith("Events of OpenLineage can't be sent: 'lineage.url': the address answered with status 500.")


def test_what_an_address_refuses_is_not_sent_again(session: Session) -> None:
    backend = Backend(401)
    with backend.listening() as url:
        jobs = Jobs(session, {"lineage.url": url})
        jobs.begin().machine.end(lambda: None)
        jobs.lineage.close()
    assert len(backend.asked) == 2
    assert len(jobs.said) == 1 and "status 401" in jobs.said[0]


def test_nobody_waits_for_who_is_away(
    session: Session, tmp_path: Path, soon: None, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reporting, "_WAITING", 10)
    jobs = Jobs(session, {"lineage.url": "http://user:CANARY@127.0.0.1:1/", "lineage.file": "events.jsonl"})
    jobs.begin()
    # What is met first is said, and not what follows from it.
    until(lambda: jobs.said)
    began = time.monotonic()
    for _ in range(20):
        jobs.begin().machine.end(lambda: None)
    assert time.monotonic() - began < 30
    jobs.lineage.close()
    assert time.monotonic() - began < 60
    assert len(jobs.said) <= 2 and "CANARY" not in " ".join(jobs.said)
    assert any("'lineage.url': the address does not answer" in line for line in jobs.said)
    # The file has what went to it meanwhile.
    assert states(lines(tmp_path / "events.jsonl"))[1:3] == ["START", "COMPLETE"]
    assert capfd.readouterr() == ("", "")


def test_the_end_does_not_wait_for_who_is_slow(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporting, "_SECONDS", 0.3)
    backend = Backend(200, pause=20.0)
    with backend.listening() as url:
        jobs = Jobs(session, {"lineage.url": url})
        began = time.monotonic()
        jobs.begin().machine.end(lambda: None)
        jobs.lineage.close()
        assert time.monotonic() - began < 15
        assert len(jobs.said) == 1
        backend.over.set()


def test_a_folder_that_is_not_there(session: Session, tmp_path: Path, soon: None) -> None:
    jobs = Jobs(session, {"lineage.file": "later/events.jsonl"})
    job = jobs.begin()
    until(lambda: jobs.said)
    assert jobs.said == ["Events of OpenLineage can't be sent: 'lineage.file': No such file or directory. Jobs run on; this is not said again."]
    (tmp_path / "later").mkdir()
    job.machine.end(lambda: None)
    until(lambda: states(lines(tmp_path / "later" / "events.jsonl")) == ["START", "COMPLETE"])
    jobs.lineage.close()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"lineage.url": "marquez:CANARY"}, "'lineage.url' is no address."),
        ({"lineage.url": "http://h:CANARY/"}, "'lineage.url' is no address."),
        ({"lineage.file": "s3://b/CANARY"}, "'lineage.file' must be a file of this machine."),
        ({"lineage.url": "http://h", "lineage.api-key": "${env:NOT_SET}"}, "Option 'lineage.api-key' needs the environment variable NOT_SET"),
    ],
)
def test_what_is_no_address(options: dict[str, str], said: str, session: Session) -> None:
    with pytest.raises(ValidationError) as met:
        Lineage(session.project, print).tell(options)
    assert met.value.message.startswith(said) and "CANARY" not in f"{met.value.message}{met.value.hint}"


def test_the_package_is_asked_for(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    Lineage(session.project, print).tell({})
    monkeypatch.setitem(sys.modules, "openlineage.client", None)
    with pytest.raises(SetupError) as met:
        Lineage(session.project, print).tell({"lineage.file": "x"})
    assert met.value.hint == "pip install 'sqlstream[lineage]'"


def test_the_options_are_known() -> None:
    for key in ("lineage.url", "lineage.file", "lineage.namespace", "lineage.api-key"):
        assert settings.check(key, "x") is None
    with pytest.raises(ValidationError, match="no option 'lineage.ulr'"):
        settings.check("lineage.ulr", "x")
