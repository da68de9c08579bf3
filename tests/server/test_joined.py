"""A shell joined to a server: what it runs, asks and shows is what a shell of its own would, and what it leaves goes on."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from sqlstream.core import settings
from sqlstream.core.errors import Defect, NotSupported, SetupError, SyntaxProblem, ValidationError
from sqlstream.core.tokens import Tokens
from sqlstream.server.kept_jobs import KeptJobs
from sqlstream.session import results
from sqlstream.session.joined.named_files import NamedFiles
from sqlstream.session.joined.place import ServerPlace, forget, served_at
from sqlstream.session.joined.session import JoinedSession
from tests.server.conftest import FILES, serving
from tests.support.sessions import feed
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.server.client import Client

    Opened = Callable[..., JoinedSession]


class Said(list[str]):
    """What a session has said."""

    def __str__(self) -> str:
        return "\n".join(self)


@pytest.fixture
def joined(tmp_path: Path) -> Iterator[Opened]:
    """Opens a session of a server; its files are in a folder of its own, ``here``."""
    opened: list[JoinedSession] = []
    here = tmp_path / "here"
    here.mkdir()

    def join(client: Client, **more: Any) -> JoinedSession:
        said = Said()
        user: dict[str, Any] = {
            "options": {}, "variables": {}, "interactive": True, "notify": said.append, "emit": said.append, "save": False, "ask": None,
            "progress": lambda jobs: said.extend(job.plain for job in jobs), "keep_stopped": False, "width": lambda: 100,
        }  # fmt: skip
        session = JoinedSession(ServerPlace(client.address), here, **user | more)
        session.said = said  # type: ignore[attr-defined]
        opened.append(session)
        return session

    yield join
    for session in opened:
        session.close()


def rows(session: JoinedSession, sql: str) -> list[tuple[str | None, ...]]:
    """The rows of all outcomes."""
    found: list[tuple[str | None, ...]] = []
    for outcome in session.run(sql):
        found += [c.row for c in outcome.changes] if isinstance(outcome, results.Stream) else getattr(outcome, "rows", ())
    return found


# --- without Spark ----------------------------------------------------------------------------------------------------


def test_statements_and_what_they_leave(client: Client, joined: Opened) -> None:
    session = joined(client)
    made, shown, tables = session.run("CREATE TEMPORARY VIEW v AS SELECT 1 AS a; SET 'sql-client.display.max-column-width' = '7'; SHOW VIEWS")
    assert isinstance(made, results.Done) and isinstance(shown, results.Done)
    assert tables.rows == (("v",),) and [c.name for c in tables.columns] == ["view name"] and tables.statement == "SHOW VIEWS"
    assert session.options["sql-client.display.max-column-width"] == "7"
    assert rows(session, "SHOW VIEWS") == [("v",)]
    # Another one has nothing of it.
    assert rows(joined(client), "SHOW VIEWS") == []


def test_errors_are_those_of_the_statement(client: Client, joined: Opened) -> None:
    session = joined(client)
    with pytest.raises(SyntaxProblem) as caught:
        list(session.run("SHOW TABLES;\nSELEC 1", "a.sql"))
    assert str(caught.value.location) == "a.sql:2:1" and caught.value.hint == "Did you mean 'SELECT'?"
    assert "test_joined" not in str(caught.value.__cause__) and "SyntaxProblem" in str(caught.value.__cause__)
    with pytest.raises(NotSupported) as refused:
        list(session.run("CREATE MODEL m"))
    assert refused.value.hint is None or isinstance(refused.value.hint, str)
    # The session goes on.
    assert rows(session, "SHOW CURRENT CATALOG") == [("default_catalog",)]


def test_a_script_is_carried_out_as_its_outcomes_are_read(client: Client, joined: Opened) -> None:
    session = joined(client)
    outcomes = session.run(
        "CREATE TEMPORARY VIEW a AS SELECT 1 AS x; CREATE TEMPORARY VIEW b AS SELECT 1 AS x; CREATE TEMPORARY VIEW c AS SELECT 1 AS x"
    )
    next(outcomes)
    next(outcomes)
    outcomes.close()
    assert rows(session, "SHOW VIEWS") == [("a",), ("b",)]


def test_an_init_file_only_declares(client: Client, joined: Opened) -> None:
    session = joined(client)
    assert [type(o) for o in session.initialize("CREATE TEMPORARY VIEW a AS SELECT 1 AS x; SET 'table.dml-sync' = 'true'")] == [results.Done] * 2
    assert session.options["table.dml-sync"] == "true"
    with pytest.raises(NotSupported, match="An init file may hold only"):
        list(session.initialize("SHOW TABLES", "init.sql"))


def test_files_are_the_shells(client: Client, joined: Opened, tmp_path: Path) -> None:
    session = joined(client)
    (tmp_path / "here" / "a.sql").write_text("CREATE TEMPORARY VIEW IF NOT EXISTS ä AS SELECT 1 AS x;\nSOURCE 'b.sql';")
    (tmp_path / "here" / "b.sql").write_text("SHOW VIEWS;\nSELEC 2")
    outcomes = session.run("SOURCE 'a.sql'")
    next(outcomes)
    assert next(outcomes).rows == (("ä",),)
    with pytest.raises(SyntaxProblem) as caught:
        next(outcomes)
    assert str(caught.value.location) == "b.sql:2:1"
    (tmp_path / "here" / "b.sql").write_text("SOURCE 'a.sql'")
    for wrong, message in (("SOURCE 'a.sql'", "runs itself"), ("SOURCE 'none.sql'", "Cannot read 'none.sql'"), ("SOURCE 'x\x00'", "Cannot read")):
        with pytest.raises(ValidationError, match=message) as caught_too:
            list(session.run(wrong))
        assert caught_too.value.location is not None
    # The server's folder has such a file, too, which is none of the shell's.
    (tmp_path / "server.sql").write_text("SHOW TABLES")
    with pytest.raises(ValidationError, match="Cannot read"):
        list(session.run("SOURCE 'server.sql'"))


def test_the_server_gets_no_file_that_the_user_does_not_name(client: Client, joined: Opened, tmp_path: Path) -> None:
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "sly.sql").write_text("SOURCE 'secret.sql'")
    (tmp_path / "here" / "secret.sql").write_text("SHOW TABLES")
    with pytest.raises(ValidationError, match="asks for your file 'secret.sql', which no SOURCE of yours names"):
        list(joined(client).run("EXECUTE QUERY sly -- SOURCE 'secret.sql'"))
    (tmp_path / "here" / "names.sql").write_text("SOURCE '${which}.sql'")
    assert rows(joined(client, variables={"which": "secret"}), "SOURCE 'names.sql'") == []


@pytest.mark.parametrize(
    ("text", "name", "overwrite", "allowed"),
    [
        ("EXPORT LAST TO 'a.csv'", "a.csv", False, True),
        ("EXPORT LAST TO 'a.csv'", "a.csv", True, False),
        ("EXPORT LAST TO 'a.csv' OVERWRITE", "a.csv", False, True),
        ("SHOW TABLES; export last to 'it''s' FORMAT CSV OVERWRITE; SELEC", "it's", True, True),
        ("EXPORT LAST TO 'a.csv'", "b.csv", False, False),
        ("SELECT 'EXPORT LAST TO a.csv'", "a.csv", False, False),
        ("SOURCE 'a.csv'", "a.csv", False, False),
        ("SHOW TABLES", "a.csv", False, False),
    ],
)
def test_files_that_are_written(text: str, name: str, overwrite: bool, allowed: bool) -> None:
    named = NamedFiles({})
    named.seen(text)
    with nullcontext() if allowed else pytest.raises(ValidationError, match="no EXPORT of yours"):
        named.check_written(name, overwrite=overwrite)


def test_questions_are_put_to_the_user(client: Client, joined: Opened) -> None:
    asked: list[str] = []

    def ask(question: str, interrupted: Callable[[], bool]) -> bool:
        asked.append(question)
        return len(asked) > 1

    session = joined(client, ask=ask)
    list(session.run("CREATE TEMPORARY VIEW v AS SELECT 1 AS x; DROP TEMPORARY VIEW v"))
    assert asked == ["DROP VIEW v?"] and rows(session, "SHOW VIEWS") == [("v",)]
    list(session.run("DROP TEMPORARY VIEW v"))
    assert rows(session, "SHOW VIEWS") == []


def test_a_question_ends_with_an_interrupt(client: Client, joined: Opened) -> None:
    def ask(question: str, interrupted: Callable[[], bool]) -> bool:
        threading.Timer(0.1, session.interrupt).start()
        until(interrupted)
        return False

    session = joined(client, ask=ask)
    with suppress(Exception):
        list(session.run("CREATE TEMPORARY VIEW v AS SELECT 1 AS x; DROP TEMPORARY VIEW v"))
    assert rows(session, "SHOW VIEWS") == [("v",)]


def test_variables_are_the_shells_and_secrets_stay_so(client: Client, joined: Opened) -> None:
    session = joined(client, variables={"WHO": "me", "password": "canary-1"})
    (view,) = session.run("CREATE TEMPORARY VIEW v AS SELECT '${WHO}' AS who")
    assert isinstance(view, results.Done) and "me" in rows(session, "SHOW CREATE VIEW v")[0][0]
    with pytest.raises(SyntaxProblem) as caught:
        list(session.run("CREAT TABLE t WITH ('password' = '${password}')"))
    told = [caught.value.message, *caught.value.details, str(caught.value.__cause__)]
    assert "canary-1" not in "\n".join([*told, *session.said])


def test_completion_and_standing(client: Client, joined: Opened) -> None:
    session = joined(client)
    list(session.run("CREATE TEMPORARY VIEW orders AS SELECT 1 AS amount"))
    offered = session.suggester()("SELECT * FROM ord", 17)
    assert [(one.text, one.length, one.kind) for one in offered] == [("orders", 3, "view")]
    assert session.suggester()("x", 99) is not None
    until(lambda: session.standing().status)
    status = session.standing().status
    assert all(part in status for part in ("default_catalog.default_database", "streaming, table", "0 jobs running"))
    figures = next(session.run("SHOW JOB METRICS"))
    assert isinstance(figures, results.Figures) and figures.again() == figures.rows


def test_options_that_are_shown_can_be_set_besides(client: Client, joined: Opened) -> None:
    session = joined(client)
    session.options["sql-client.edit-mode"] = "vi"
    assert ("sql-client.edit-mode", "vi") in [row[:2] for row in rows(session, "SET")]
    with pytest.raises(ValidationError):
        session.options["sql-client.edit-mode"] = "nano"
    with pytest.raises(ValidationError, match="is set by SET"):
        session.options["pipeline.name"] = "x"


def test_options_of_the_server_are_refused(client: Client, joined: Opened) -> None:
    for key in ("spark.master", "execution.checkpointing.dir", "pipeline.jars"):
        with pytest.raises(NotSupported):
            joined(client, options={key: "x"})
    with pytest.raises(ValidationError):
        joined(client, options={"table.dml-sync": "perhaps"})
    assert joined(client, options={"table.dml-sync": "true"}).options["table.dml-sync"] == "true"


def test_quit_says_that_jobs_go_on(client: Client, joined: Opened) -> None:
    (left,) = joined(client).run("QUIT")
    assert isinstance(left, results.Exit) and left.notices == ()


def test_what_is_defective_is_told_as_such(client: Client, joined: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    session = joined(client)
    monkeypatch.setattr(settings, "read", lambda *_: 1 / 0)
    with pytest.raises(Defect):
        list(session.run("SHOW CREATE VIEW v; SELECT 1"))


def test_there_are_as_many_as_the_server_takes(serve: Callable[..., AbstractContextManager[Client]], joined: Opened) -> None:
    with serve(**{"sql-gateway.session.max-num": "1"}) as client:
        first = joined(client)
        with pytest.raises(SetupError):
            joined(client)
        first.close()

        def another() -> JoinedSession | None:
            with suppress(SetupError):
                return joined(client)
            return None

        assert rows(until(another), "SHOW VIEWS") == []


def test_the_server_goes(tmp_path: Path, no_engine: object, joined: Opened) -> None:
    with serving(tmp_path, {}, no_engine) as client:
        session = joined(client)
        waiting = session.run("SHOW TABLES; SHOW TABLES")
        next(waiting)
    with pytest.raises(SetupError, match="does not answer any more") as caught:
        list(waiting)
    assert "jobs go on" in str(caught.value.hint)
    with pytest.raises(SetupError):
        list(session.run("SHOW TABLES"))
    session.standing()
    until(lambda: session.standing().status == "the server does not answer")
    with pytest.raises(SetupError, match=r"No server answers at http://127.0.0.1:\d+"):
        joined(client)
    for text in ("QUIT;", "exit", "-- enough\nQuit ;"):
        (left,) = session.run(text)
        assert isinstance(left, results.Exit) and "does not answer any more" in left.notices[0]
    for text in ("SHOW TABLES; QUIT;", "QUIT QUIT", "'", ""):
        with pytest.raises(SetupError):
            list(session.run(text))


@pytest.mark.parametrize(
    "url", ["ftp://x", "nonsense", "http://", "http://127.0.0.1:1", "http://127.0.0.1:99999", "http://[::1", "http://exa mple"], ids=lambda url: url
)
def test_addresses_that_are_none(url: str, joined: Opened) -> None:
    class Nowhere:
        address = url

    with pytest.raises(SetupError):
        joined(Nowhere())  # type: ignore[arg-type]


def test_who_is_let_in(tmp_path: Path, no_engine: object) -> None:
    tokens = Tokens((b"all",), (b"looking",))
    with serving(tmp_path, {}, no_engine, tokens.with_one("own")) as client:
        address = client.address.replace("http", "ws") + "/shell"
        for headers, status in (
            ({}, 401),
            ({"Authorization": "Bearer looking"}, 403),
            ({"Authorization": "Bearer all", "Origin": "http://evil"}, 403),
        ):
            with pytest.raises(InvalidStatus, match=str(status)), connect(address, additional_headers=headers):
                pass
        for token in ("all", "own"):
            with connect(address, additional_headers={"Authorization": f"Bearer {token}"}):
                pass
    with serving(tmp_path, {}, no_engine) as client:
        address = client.address.replace("http", "ws") + "/shell"
        with pytest.raises(InvalidStatus, match="403"), connect(address, additional_headers={"Origin": "http://evil.example"}):
            pass


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "1", "{}", '{"do": "dance"}', '{"do": 1}', '{"do": "run"}', '{"do": "run", "id": 1}', '{"do": "run", "id": true, "text": ""}',
        '{"do": "run", "id": 1, "text": "SHOW TABLES"}', '{"do": "next"}', '{"do": "next", "of": "1"}', pytest.param("[" * 100_000, id="deep"),
    ],
)  # fmt: skip
def test_what_is_not_said_as_it_should_be_ends_the_session(client: Client, text: str) -> None:
    with connect(client.address.replace("http", "ws") + "/shell") as socket:
        socket.send(text)
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=20)
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 1007


@pytest.mark.parametrize(
    "said",
    [
        {"do": "suggest", "text": "x", "cursor": 0},
        {"do": "again"},
        {"do": "reasons"},
        {"do": "standing"},
        {"do": "open", "protocol": 0},
        {"do": "set"},
    ],
)
def test_what_can_not_be_answered_is_told(client: Client, said: dict[str, Any]) -> None:
    with connect(client.address.replace("http", "ws") + "/shell") as socket:
        socket.send(json.dumps({"id": 1, **said}))
        assert json.loads(socket.recv(timeout=20))["error"]["message"]


def test_where_the_server_of_a_project_is(tmp_path: Path) -> None:
    assert served_at(tmp_path) is None
    kept = KeptJobs(tmp_path)
    kept.hold()
    place = ServerPlace("http://127.0.0.1:1", "token")
    place.write(tmp_path)
    assert served_at(tmp_path) == place
    assert (tmp_path / ".sqlstream" / "served" / "address").stat().st_mode & 0o077 == 0
    with pytest.raises(SetupError, match="serves this project already"):
        KeptJobs(tmp_path).hold()
    # What a server leaves that was killed is not where one listens, and a new one's is awaited.
    kept._held.close()
    assert served_at(tmp_path) is None
    kept.hold()
    threading.Timer(0.5, lambda: place.write(tmp_path)).start()
    assert served_at(tmp_path) == place
    kept.let_go()
    forget(tmp_path)
    assert served_at(tmp_path) is None


# --- with Spark -------------------------------------------------------------------------------------------------------


@pytest.mark.spark
@pytest.mark.usefixtures("interpreted")
def test_a_query_runs_until_it_is_ended(on_spark: Client, joined: Opened, files: Path, tmp_path: Path) -> None:
    session = joined(on_spark, interactive=False)
    feed(files, {"id": 1, "n": 2}, {"id": 1, "n": 3})
    list(session.run(FILES.format(files)))
    outcomes = session.run("SELECT id, SUM(n) AS s, ARRAY[id] AS l FROM f GROUP BY id; SHOW TABLES")
    stream = next(outcomes)
    assert isinstance(stream, results.Stream) and [str(c.type) for c in stream.columns] == ["INT", "INT", "ARRAY<INT>"]
    first = next(stream.changes)
    assert first.row == ("1", "5", "[1]") and first.row[2].json == "[1]"
    feed(files, {"id": 1, "n": 4})
    assert [next(stream.changes).row[1] for _ in range(2)] == ["5", "9"]
    stream.stop()
    # What follows the query in the script goes on.
    assert [o.rows for o in outcomes] == [(("f",),)]
    until(lambda: not on_spark.queries())
    # The last result is that of this shell, and its files are, too.
    (done,) = session.run("EXPORT LAST TO 'out/last.csv'")
    assert done.notices == (f"3 rows written to {tmp_path / 'here' / 'out' / 'last.csv'}.",)
    assert (tmp_path / "here" / "out" / "last.csv").read_text() == "op,id,s,l\n+I,1,5,[1]\n-U,1,5,[1]\n+U,1,9,[1]\n"
    with pytest.raises(ValidationError, match="already exists") as caught:
        list(session.run("EXPORT LAST TO 'out/last.csv'"))
    assert caught.value.location is not None
    list(session.run("EXPORT LAST TO 'out/last.csv' FORMAT JSON OVERWRITE"))
    assert json.loads((tmp_path / "here" / "out" / "last.csv").read_text().splitlines()[0])["l"] == [1]
    (chart,) = session.run("PLOT s")
    assert isinstance(chart, results.Text) and max(map(len, chart.lines.splitlines())) <= 100


@pytest.mark.spark
@pytest.mark.usefixtures("interpreted")
def test_why_a_query_gives_nothing_yet(on_spark: Client, joined: Opened, files: Path) -> None:
    session = joined(on_spark, interactive=False)
    timed = "id INT, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
    list(session.run(FILES.format(files).replace("id INT, n INT", timed)))
    outcomes = session.run(
        "SELECT window_end, COUNT(*) AS n FROM TUMBLE(TABLE f, DESCRIPTOR(ts), INTERVAL '1' HOUR) GROUP BY window_start, window_end"
    )
    stream = next(outcomes)
    assert isinstance(stream, results.Stream)
    until(lambda: "nothing new has come" in " ".join(stream.reasons()), 60, said=stream.reasons)
    feed(files, {"id": 1, "n": 2, "ts": "2026-01-01 10:00:00"})
    until(lambda: "next window closes when it reaches 2026-01-01 11:00:00" in " ".join(stream.reasons()), 60, said=stream.reasons)
    feed(files, {"id": 1, "n": 2, "ts": "2026-01-01 11:00:01"})
    assert next(stream.changes).row == ("2026-01-01 11:00:00.000", "1")
    stream.stop()
    assert list(outcomes) == [] and stream.reasons() == []
    outcomes = session.run("SELECT n FROM f WHERE id > 1")
    stream = next(outcomes)
    assert isinstance(stream, results.Stream)
    until(lambda: "All rows are filtered out: none of 2 rows passes WHERE" in " ".join(stream.reasons()), 60, said=stream.reasons)
    stream.stop()
    list(outcomes)


@pytest.mark.spark
@pytest.mark.usefixtures("interpreted")
def test_a_shell_that_reads_nothing_and_dies(on_spark: Client, joined: Opened) -> None:
    session = joined(on_spark)
    source = "WITH ('connector' = 'datagen', 'rows-per-second' = '200000', 'fields.s.length' = '500')"
    list(session.run(f"CREATE TEMPORARY TABLE g (s STRING) {source}"))
    outcomes = session.run("SELECT s FROM g")
    stream = next(outcomes)
    next(stream.changes)
    (script,) = [thread for thread in threading.enumerate() if thread.name == "rows"]
    time.sleep(3)
    assert script.is_alive()
    session.hurry()
    with pytest.raises(SetupError):
        deque(stream.changes, maxlen=0)
    until(lambda: not on_spark.queries())
    until(lambda: not script.is_alive())


@pytest.mark.spark
@pytest.mark.usefixtures("interpreted")
def test_jobs_go_on_when_the_shell_leaves(on_spark: Client, joined: Opened, files: Path) -> None:
    feed(files, {"id": 1, "n": 2})
    session = joined(on_spark)
    declared = "CREATE TABLE copied (id INT, n INT) WITH ('connector' = 'delta', 'table-path' = 'copied')"
    list(session.run(f"{FILES.format(files)}; {declared}; SET 'pipeline.name' = 'copy'"))
    (submitted,) = session.run("INSERT INTO copied SELECT * FROM f")
    assert isinstance(submitted, results.Submitted)
    until(lambda: "1 job running" in session.standing().status)
    (left,) = session.run("QUIT")
    assert left.notices == ("1 job goes on at the server: copy.",)
    session.close()
    another = joined(on_spark)
    feed(files, {"id": 2, "n": 3})
    query = "SET 'execution.runtime-mode' = 'batch'; SELECT id FROM copied ORDER BY id"
    until(lambda: rows(another, query) == [("1",), ("2",)])
    assert rows(another, "SHOW JOBS EXTENDED")[0][1] == "copy"
    list(another.run("STOP JOB 'copy'"))
    # One that is waited for.
    (files.parent / "once").mkdir()
    feed(files.parent / "once", {"id": 5, "n": 6})
    once = f"CREATE TEMPORARY TABLE o (id INT, n INT) WITH ('connector' = 'filesystem', 'path' = '{files.parent / 'once'}', 'format' = 'json')"
    list(another.run(f"{once}; SET 'execution.runtime-mode' = 'streaming'; SET 'table.dml-sync' = 'true'; SET 'pipeline.name' = 'once'"))
    (completed,) = another.run("INSERT INTO copied SELECT * FROM o")
    assert isinstance(completed, results.Completed)
    assert any(line.startswith("once: ") for line in another.said)
