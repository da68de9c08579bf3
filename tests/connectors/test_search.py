"""The connectors of search servers on a real OpenSearch: documents that are added, written by key and removed, in one index or several."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from py4j.protocol import Py4JJavaError

from sqlstream.connectors import find_connector
from sqlstream.core.changelog import KIND, ChangelogMode, RowKind
from sqlstream.core.errors import ValidationError
from sqlstream.runtime.engine.failures import job_error
from sqlstream.sql.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INT,
    SMALLINT,
    STRING,
    TINYINT,
    array,
    decimal,
    map_of,
    row,
    time,
    timestamp,
    timestamp_ltz,
)  # fmt: skip
from tests.support.databases import keyed

pytestmark = pytest.mark.spark

COLUMNS = [("id", BIGINT), ("name", STRING)]


@pytest.fixture
def index(opensearch, request) -> str:
    """The name of an index that no other test has."""
    return request.node.name.partition("[")[0].lower() + str(abs(hash(request.node.name)) % 10_000)


def options(opensearch, index: str, **more: str) -> dict[str, str]:
    return {"connector": "opensearch-2", "hosts": opensearch.url, "index": index, **more}


def few(run, *values: tuple[int, str | None]):
    return run.spark.createDataFrame(list(values), "id long, name string")


def test_rows_without_a_key_are_added(run, make_table, opensearch, index):
    sink = make_table(COLUMNS, options(opensearch, index))
    for _ in range(2):
        run.insert(sink, few(run, (1, 'é "q" \\ 😀'), (2, None)).repartition(2))
    found = sorted(opensearch.documents(index).values(), key=lambda d: d["id"])
    assert found == [{"id": 1, "name": 'é "q" \\ 😀'}] * 2 + [{"id": 2, "name": None}] * 2


@pytest.mark.parametrize(
    "named", [{"connector": "elasticsearch-7"}, {"connector": "elasticsearch-8"}, {"connector": "opensearch"}], ids=lambda named: named["connector"]
)
def test_the_others_speak_alike(run, make_table, opensearch, index, named):
    run.insert(make_table(COLUMNS, {**options(opensearch, index), **named}), few(run, (1, "a")))
    assert list(opensearch.documents(index).values()) == [{"id": 1, "name": "a"}]


def test_rows_with_a_key_take_the_place_of_what_was(run, make_table, opensearch, index):
    sink = keyed(make_table(COLUMNS, options(opensearch, index)), "id")
    run.insert(sink, few(run, (1, "a"), (2, "b")), keys=("id",), mode=ChangelogMode.UPSERT)
    run.insert(sink, few(run, (2, "c"), (3, "d")), keys=("id",), mode=ChangelogMode.UPSERT)
    assert opensearch.documents(index) == {"1": {"id": 1, "name": "a"}, "2": {"id": 2, "name": "c"}, "3": {"id": 3, "name": "d"}}


def test_changes_are_folded_and_removed(run, make_table, opensearch, index):
    sink = keyed(make_table(COLUMNS, options(opensearch, index)), "id")
    kinds = {kind.value: kind.code for kind in RowKind}

    def write(*changes):
        frame = run.spark.createDataFrame([(i, n, kinds[k]) for k, i, n in changes], f"id long, name string, {KIND} tinyint")
        run.insert(sink, frame.repartition(3), keys=("id",), mode=ChangelogMode.RETRACT_DELETE)

    # A document that is not there is removed, too.
    write(("+I", 1, "a"), ("+I", 2, "b"), ("-U", 2, "b"), ("+U", 2, "c"), ("-D", 9, "x"))
    assert opensearch.documents(index) == {"1": {"id": 1, "name": "a"}, "2": {"id": 2, "name": "c"}}
    write(("-D", 1, "a"), ("-U", 2, "c"), ("+U", 2, None))
    assert opensearch.documents(index) == {"2": {"id": 2, "name": None}}


def test_columns_that_a_row_lacks_stay(run, make_table, opensearch, index):
    """As in Flink a document is updated: two queries may write the columns that they have."""
    for column in ("a", "b"):
        sink = keyed(make_table([("id", BIGINT), (column, STRING)], options(opensearch, index)), "id")
        run.insert(sink, few(run, (1, column)).toDF("id", column), keys=("id",), mode=ChangelogMode.UPSERT)
    assert opensearch.documents(index) == {"1": {"id": 1, "a": "a", "b": "b"}}


ALL = [
    ("b", BOOLEAN), ("t", TINYINT), ("s", SMALLINT), ("i", INT), ("l", BIGINT), ("d", DOUBLE), ("n", decimal(10, 2)), ("c", STRING),
    ("day", DATE), ("clock", time(0)), ("ts", timestamp(3)), ("at", timestamp_ltz(3)),
]  # fmt: skip
VALUES = (
    "SELECT true AS b, 1Y AS t, 2S AS s, 3 AS i, 4L AS l, 1.5D AS d, CAST(12.30 AS DECIMAL(10,2)) AS n, 'x y' AS c, DATE'2024-02-29' AS day, "
    "TIME'12:30:15' AS clock, TIMESTAMP'2024-03-31 12:00:00' AS ts, TIMESTAMP'2024-03-31 01:02:03.004Z' AS at"
)


def test_an_id_has_the_key_as_flink_writes_it(run, make_table, opensearch, index):
    sink = keyed(make_table(ALL, options(opensearch, index, **{"document-id.key-delimiter": "$"})), *[n for n, _ in ALL])
    run.insert(sink, run.spark.sql(VALUES), keys=tuple(n for n, _ in ALL), mode=ChangelogMode.UPSERT)
    ((id_, document),) = opensearch.documents(index).items()
    assert id_ == "true$1$2$3$4$1.5$12.30$x y$2024-02-29$12:30:15$2024-03-31T12:00$2024-03-31T01:02:03.004"
    assert document == {
        "b": True, "t": 1, "s": 2, "i": 3, "l": 4, "d": 1.5, "n": 12.3, "c": "x y", "day": "2024-02-29", "clock": "12:30:15",
        "ts": "2024-03-31 12:00:00", "at": "2024-03-31 01:02:03.004Z",
    }  # fmt: skip


def test_nested_values_and_those_of_the_formats_options(run, make_table, opensearch, index):
    columns = [("a", array(INT)), ("m", map_of(STRING, INT)), ("r", row(("x",), (INT,))), ("n", STRING)]
    sink = make_table(columns, options(opensearch, index, **{"json.encode.ignore-null-fields": "true"}))
    run.insert(sink, run.spark.sql("SELECT array(1, 2) AS a, map('k', 1) AS m, named_struct('x', 5) AS r, CAST(NULL AS STRING) AS n"))
    assert list(opensearch.documents(index).values()) == [{"a": [1, 2], "m": {"k": 1}, "r": {"x": 5}}]


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("{c}", "x"),
        ("{i}-z", "3-z"),
        ("{day}", "19782"),
        ("{clock}", "45015000"),
        ("{day|}", "2024_02_29"),
        ("{day|yyyy.MM}", "2024.02"),
        ("{clock|HH}", "12"),
        ("{ts|yyyy-MM-dd'h'HH}", "2024-03-31h12"),
        # In the zone of the session.
        ("{at|yyyy-MM-dd-HH}", "2024-03-31-01"),
        ("{nothing}", "null"),
        ("{nothing|yyyy}", "null"),
    ],
)
def test_an_index_has_a_value_of_the_row(run, make_table, opensearch, index, pattern, name):
    nothing = ("nothing", timestamp(3))
    sink = make_table([*ALL, nothing], options(opensearch, f"{index}-{pattern}"))
    run.insert(sink, run.spark.sql(VALUES.replace("x y", "x") + ", CAST(NULL AS TIMESTAMP) AS nothing"))
    assert [i for i in opensearch.indexes() if i.startswith(index)] == [f"{index}-{name}"]


def test_an_index_has_the_time_of_writing(run, make_table, opensearch, index):
    sink = make_table(COLUMNS, options(opensearch, index + "-{now()|yyyy}-x"))
    run.insert(sink, few(run, (1, "a")))
    (made,) = (i for i in opensearch.indexes() if i.startswith(index))
    assert 2026 <= int(made.removeprefix(f"{index}-").removesuffix("-x")) < 2100
    assert find_connector("opensearch-2").sink_modes(keyed(sink, "id")) == (ChangelogMode.APPEND,)


def test_a_row_is_removed_where_it_was(run, make_table, opensearch, index):
    sink = keyed(make_table(COLUMNS, options(opensearch, index + "-{name}")), "id")
    kinds = {kind.value: kind.code for kind in RowKind}
    schema = f"id long, name string, {KIND} tinyint"
    for changes in ([(1, "a", kinds["+I"]), (2, "b", kinds["+I"])], [(1, "a", kinds["-D"])]):
        run.insert(sink, run.spark.createDataFrame(changes, schema), keys=("id",), mode=ChangelogMode.RETRACT_DELETE)
    assert opensearch.documents(f"{index}-*") == {"2": {"id": 2, "name": "b"}}


def test_a_data_stream_takes_rows(run, make_table, opensearch, index):
    template = {"index_patterns": [f"{index}*"], "data_stream": {}, "template": {"settings": {"number_of_replicas": 0}}}
    opensearch.ask(f"/_index_template/{index}", template, "PUT")
    columns = [("@timestamp", timestamp(3)), ("v", INT)]
    sink = make_table(columns, options(opensearch, index, **{"json.timestamp-format.standard": "ISO-8601"}))
    run.insert(sink, run.spark.sql("SELECT TIMESTAMP'2024-03-31 12:00:00' AS `@timestamp`, 1 AS v"))
    assert [d["v"] for d in opensearch.documents(index).values()] == [1]


def test_many_documents_go_in_several_requests(run, make_table, opensearch, index):
    sink = make_table(COLUMNS, options(opensearch, index, **{"sink.bulk-flush.max-actions": "700", "sink.parallelism": "2"}))
    run.insert(sink, run.spark.range(5000).selectExpr("id", "repeat('x', 2000) AS name"))
    opensearch.ask(f"/{index}/_refresh", method="POST")
    assert opensearch.ask(f"/{index}/_count")["count"] == 5000


def test_a_document_that_is_refused_fails_the_job_or_is_left_out(run, make_table, opensearch, index):
    opensearch.ask(f"/{index}", {"mappings": {"properties": {"name": {"type": "long"}}}}, "PUT")
    sink = keyed(make_table(COLUMNS, options(opensearch, index)), "id")
    with pytest.raises(Py4JJavaError) as met:
        run.insert(sink, few(run, (1, "7"), (2, "x")), keys=("id",), mode=ChangelogMode.UPSERT)
    problem = job_error(met.value)
    assert problem.message.startswith(f"The index does not take a document. (The index '{index}' refuses a document: mapper_parsing_exception: ")
    assert "failed to parse field [name] of type [long] in document with id '2'" in problem.message and problem.heals is False
    ignoring = keyed(make_table(COLUMNS, options(opensearch, index, **{"failure-handler": "ignore"})), "id")
    run.insert(ignoring, few(run, (1, "7"), (2, "x"), (3, "8")), keys=("id",), mode=ChangelogMode.UPSERT)
    assert set(opensearch.documents(index)) == {"1", "3"}


def test_a_stream_goes_on_where_it_was(run, make_table, opensearch, index, tmp_path):
    sink = keyed(make_table([("k", STRING), ("n", BIGINT)], options(opensearch, index)), "k")
    folder = tmp_path / "in"
    folder.mkdir()

    def add(name: str, lines: str) -> None:
        (folder / name).write_text(lines)
        frame = run.spark.readStream.name("lines").schema("value string").text(str(folder)).groupBy("value").count().toDF("k", "n")
        find = run.write(sink, frame, mode=ChangelogMode.UPSERT, keys=("k",))
        writer = find_connector("opensearch-2").write_stream(find).outputMode("update")
        writer.option("checkpointLocation", str(tmp_path / "sink")).trigger(availableNow=True).start().awaitTermination()

    add("1", "a\nb\na\n")
    add("2", "c\nb\n")
    assert opensearch.documents(index) == {"a": {"k": "a", "n": 2}, "b": {"k": "b", "n": 2}, "c": {"k": "c", "n": 1}}


class Scripted(BaseHTTPRequestHandler):
    """Answers with what is prepared, in order; keeps what was asked."""

    answers: list[tuple[int, str]] = []
    asked: list[tuple[str, dict[str, str], str]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.asked.append((self.path, dict(self.headers), body))
        status, text = self.answers.pop(0)
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_) -> None:
        """Nothing is printed."""


@contextmanager
def scripted(*answers: tuple[int, str]):
    handler = type("Handler", (Scripted,), {"answers": list(answers), "asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", handler
    finally:
        server.shutdown()
        server.server_close()


def items(*statuses: int) -> str:
    error = {"type": "t", "reason": "r", "caused_by": {"type": "u", "reason": "why"}}
    return json.dumps({"items": [{"create": {"_index": "i", "status": s, **({"error": error} if s >= 400 else {})}} for s in statuses]})


def test_what_there_is_no_room_for_is_sent_again(run, make_table):
    with scripted((200, items(201, 429, 201)), (503, "busy"), (200, items(201))) as (url, server):
        again = {"sink.bulk-flush.backoff.strategy": "CONSTANT", "sink.bulk-flush.backoff.delay": "1 ms", "username": "u", "password": "pä:ss"}
        sink = make_table(COLUMNS, {"connector": "elasticsearch-7", "hosts": url, "index": "i", "connection.path-prefix": "/v1/", **again})
        run.insert(sink, few(run, (1, "a"), (2, "b"), (3, "c")).coalesce(1))
        assert [path.partition("?")[0] for path, *_ in server.asked] == ["/v1/_bulk"] * 3
        assert [body for *_, body in server.asked[1:]] == ['{"create":{"_index":"i"}}\n{"id":2,"name":"b"}\n'] * 2
        assert server.asked[0][1]["Authorization"] == "Basic dTpww6Q6c3M="


@pytest.mark.parametrize(
    ("answer", "message", "heals"),
    [
        ((200, items(429)), "The search server is not well. (The search server {host} has no room for a document)", True),
        ((503, "<html>"), "The search server is not well. (The search server {host} answers 503: <html>)", True),
        (
            (401, '{"error": {"type": "t", "reason": "no"}}'),
            "The search server refuses the login. (The search server {host} answers 401: t: no)",
            False,
        ),
        ((413, ""), "The search server refuses a request. (The search server {host} answers 413: )", False),
        ((200, "hello"), "The search server refuses a request. (The search server {host} answers 200: hello)", False),
        ((200, '{"items": []}'), "The search server refuses a request. (The search server {host} answers for 0 of 1 documents)", False),
    ],
)
def test_answers_that_are_none(run, make_table, answer, message, heals):
    with scripted(answer) as (url, server):
        sink = make_table(COLUMNS, {"connector": "elasticsearch-8", "hosts": url, "index": "i"})
        with pytest.raises(Py4JJavaError) as met:
            run.insert(sink, few(run, (1, "a")).coalesce(1))
        problem = job_error(met.value)
        assert (problem.message, problem.heals) == (message.format(host=url.removeprefix("http://")), heals)
        assert len(server.asked) == 1


def test_another_server_is_asked_where_one_is_away(run, make_table, opensearch, index):
    sink = make_table(COLUMNS, options(opensearch, index, hosts=f"http://127.0.0.1:1;{opensearch.url}"))
    for number in range(6):
        run.insert(sink, few(run, (number, "a")).coalesce(1))
    assert len(opensearch.documents(index)) == 6
    away = make_table(COLUMNS, options(opensearch, index, hosts="http://127.0.0.1:1"))
    with pytest.raises(Py4JJavaError) as met:
        run.insert(away, few(run, (1, "a")))
    problem = job_error(met.value)
    assert problem.message.startswith("The search server does not answer. (The search server 127.0.0.1:1 does not answer: ") and problem.heals


WRONG = {
    "hosts": [
        ("host:9200", "Could not parse host 'host:9200' in option 'hosts'. It should follow the format 'http://host_name:port'."),
        ("http://host", "Could not parse host 'http://host' in option 'hosts'. Missing port."),
        ("http://host:x", "It should follow the format"),
        ("http://u:secret@host:1", "Could not parse host 'http://host:1'"),
        (";", "must not be empty"),
    ],
    "index": [
        ("", "must not be empty"),
        ("a-{id}-{name}", "Chaining dynamic index pattern"),
        ("a-{ID}", "Unknown field 'ID' in index pattern 'a-{ID}', please check the field name."),
        ("a-{now()}", "Unknown field 'now()'"),
        ("a-{name|yyyy}", "time-related pattern only support types are"),
        ("a-{x}", "Unsupported type BYTES of index field"),
        ("a-{id", "has no '}'"),
    ],
    "sink.bulk-flush.max-size": [("3kb", "must be in MB granularity")],
    "username": [("u", "must be set at the same time")],
    "format": [("csv", "is not one of json")],
    "json.nonsense": [("1", "Unsupported options")],
}


@pytest.mark.parametrize(("key", "text", "message"), [(key, text, message) for key, cases in WRONG.items() for text, message in cases])
def test_options_that_are_wrong(make_table, key, text, message):
    written = {"connector": "elasticsearch-7", "hosts": "http://h:1", "index": "i", key: text}
    with pytest.raises(ValidationError) as refused:
        find_connector("elasticsearch-7").check(make_table([*COLUMNS, ("x", BYTES)], written))
    assert message in refused.value.message and refused.value.option == key and "secret" not in refused.value.message


def test_keys_that_are_no_text(make_table):
    sink = keyed(make_table([("id", array(INT))], {"connector": "elasticsearch-7", "hosts": "http://h:1", "index": "i"}), "id")
    with pytest.raises(ValidationError, match="illegal types: 'id' ARRAY<INT>"):
        find_connector("elasticsearch-7").check(sink)
