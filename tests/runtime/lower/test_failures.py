"""What is told of an exception of Spark: its own words, without the way that it came."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from sqlstream.core.errors import JobFailed, NotSupported
from sqlstream.runtime.engine.failures import job_error, start_error
from sqlstream.runtime.queries.select import _scratch
from sqlstream.session.session import Session
from sqlstream.sql.statements.parsing import parse

TASK = "Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times, most recent failure: Lost task 0.0 in stage 1.0 (TID 1) (h executor driver)"
CALL = "An error occurred while calling o107.collectToPython.\n: org.apache.spark.SparkException: "
STACK = "\n\tat sqlstream.patterns.PartialMatches.skipped(PartialMatches.java:275)"


def test_a_worker_that_ends_is_told_with_the_functions_of_the_query() -> None:
    text = (
        f"{CALL}{TASK}: org.apache.spark.SparkException: Python worker exited unexpectedly (crashed). Consider setting "
        f"'spark.sql.execution.pyspark.udf.faulthandler.enabled' or 'spark.python.worker.faulthandler.enabled' ...{STACK}"
    )
    assert job_error(RuntimeError(text), ["G", "F", "G"]).message == "The Python worker ended unexpectedly while a function of the query ran (F, G)."
    plain = job_error(RuntimeError(text))
    assert plain.message == "The Python worker ended unexpectedly while a function of the query ran."
    assert plain.hint is not None
    assert plain.hint.startswith("It called os._exit, ")


def test_what_a_worker_raises_by_itself_is_told() -> None:
    text = (
        f"{CALL}{TASK}: org.apache.spark.api.python.PythonException: An exception was thrown from the Python worker:\nTraceback (most recent call last):\n"
        f"  File \"/x/worker.py\", line 1, in main\n    import pyarrow\nModuleNotFoundError: No module named 'pyarrow'\n{STACK}"
    )
    assert job_error(RuntimeError(text)).message == "A Python worker failed: ModuleNotFoundError: No module named 'pyarrow'"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            f"{CALL}{TASK}: java.lang.IllegalStateException: Could not skip to first element of a match.{STACK}",
            "Could not skip to first element of a match.",
        ),
        (f"{CALL}No space left.{STACK}", "No space left."),
        (f"{TASK}: org.apache.spark.SparkRuntimeException: [USER_RAISED_EXCEPTION] no: x SQLSTATE: P0001{STACK}", "no: x"),
        ("Something else: x", "Something else: x"),
    ],
)
def test_the_cause_is_told(text: str, told: str) -> None:
    assert job_error(RuntimeError(text)).message == told


@pytest.mark.parametrize(
    "text",
    [
        f"{TASK}: java.nio.charset.UnsupportedCharsetException: windows-1256{STACK}",
        f"{CALL}org.apache.kafka.common.errors.SaslAuthenticationException: Failed to create SaslClient with mechanism GSSAPI{STACK}",
        f"{CALL}org.apache.hadoop.security.AccessControlException: Client cannot authenticate via:[TOKEN, KERBEROS]{STACK}",
    ],
)
def test_what_the_java_that_comes_along_lacks_is_told(text: str) -> None:
    assert "a whole JDK" in (job_error(RuntimeError(text)).hint or "")


@pytest.mark.parametrize(
    "text",
    [
        f"{CALL}java.lang.StackOverflowError{STACK}",
        f"{TASK}: java.lang.StackOverflowError\n\tat java.base/java.io.ObjectInputStream.readObject0(ObjectInputStream.java:1)",
        "[FAILED_TO_PARSE_TOO_COMPLEX] The statement, including potential SQL functions and referenced views, was too complex to parse.",
        "[CANNOT_PARSE_DATATYPE] Unable to parse datatype. Document nesting depth (1001) exceeds the maximum allowed (1000)",
    ],
)
def test_what_is_too_deep_for_spark_is_refused(text: str) -> None:
    refused = job_error(RuntimeError(text))
    assert isinstance(refused, NotSupported)
    assert refused.message == "The statement is nested too deeply."
    assert refused.hint


RAISED = f"{TASK}: org.apache.spark.SparkRuntimeException: [USER_RAISED_EXCEPTION] {{}} SQLSTATE: P0001{STACK}"


def test_a_record_is_told_in_one_line_with_its_place_and_without_its_secrets() -> None:
    def told(record: str, place: str = "topic t, partition 0, offset 7") -> str:
        return job_error(RuntimeError(RAISED.format(f"Failed to deserialize JSON <<record {record} record>> ({place})."))).message

    assert told('{"i":\n"x"}\x1b[31m') == 'Failed to deserialize JSON \'{"i":\\n"x"}\\x1b[31m\' (topic t, partition 0, offset 7).'
    assert told("y" * 201) == f"Failed to deserialize JSON '{'y' * 200} ...' (topic t, partition 0, offset 7)."
    secret = told('{"i": "x", "password": "geheim' + "y" * 300 + '"}')
    assert "geheim" not in secret
    assert secret.endswith("(topic t, partition 0, offset 7).")
    assert told("", "file file:/no/such/place.csv") == "Failed to deserialize JSON '' (file /no/such/place.csv)."


@pytest.mark.parametrize("name", ["a b.json", "a.json.gz"])
def test_a_line_of_a_file_is_told_with_its_number(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    text = b'{"i":"x"} \r\n{"i":2}\n{"i":"x"}\r\n'
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    message = f'Failed to deserialize JSON <<record {{"i":"x"}} record>> (file {path.as_uri()}).'
    assert job_error(RuntimeError(RAISED.format(message))).message == f'Failed to deserialize JSON \'{{"i":"x"}}\' (file {path}, line 3).'


def test_a_file_that_cannot_be_read_is_told_with_the_cause() -> None:
    text = (
        f"{CALL}{TASK}: org.apache.spark.SparkException: [FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:///x/a%20b.parquet. "
        f" SQLSTATE: KD001{STACK}\nCaused by: java.lang.RuntimeException: file:/x/a%20b.parquet is not a Parquet file.{STACK}"
    )
    problem = job_error(RuntimeError(text))
    assert problem.message == "The file /x/a b.parquet can't be read: file:/x/a%20b.parquet is not a Parquet file."
    assert problem.hint is not None


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("java.io.IOException: No space left on device", "The disk is full: /jobs/1."),
        (
            f"[TASK_WRITE_FAILED] Task failed while writing rows to file:/data/a%20t/batch-0. SQLSTATE: 58030{STACK}\n"
            "Caused by: java.io.IOException: No space left on device",
            "The disk is full: /data/a t/batch-0.",
        ),
        (
            "java.io.FileNotFoundException: /data/t/_x.csv (Read-only file system)",
            "Nothing can be written on a read-only file system: /data/t/_x.csv.",
        ),
        ("[Errno 13] Permission denied: '/data/jobs'", "There is no permission to read or write: /data/jobs."),
        (
            "java.io.IOException: Mkdirs failed to create file:/data/t/batch-0 (exists=false, cwd=file:/p)",
            "The folder can't be created: /data/t/batch-0.",
        ),
        ("[DELTA_CANNOT_CREATE_LOG_PATH] Cannot create file:/data/t/_delta_log", "The folder can't be created: /data/t/_delta_log."),
    ],
)
def test_what_a_disk_refuses_is_told_with_the_path(said: str, told: str) -> None:
    problem = job_error(RuntimeError(f"{TASK}: {said}{STACK}"), folder=Path("/jobs/1"))
    assert problem.message == told
    assert problem.hint is not None


@pytest.mark.parametrize(
    "said",
    [
        "Timeout of 60000ms expired before the position for partition t-1 could be determined",
        "Cannot fetch record for offset 7 in 120000 milliseconds",
    ],
)
def test_brokers_without_an_answer_are_told_of_before_what_was_written(said: str) -> None:
    problem = RuntimeError(f"[STREAM_FAILED] Query failed: [TASK_WRITE_FAILED] Task failed while writing rows to file:/t. SQLSTATE: 58030\n{said}")
    assert job_error(problem).message.startswith("The Kafka broker does not answer.")


def test_a_project_that_spark_can_not_write_to() -> None:
    problem = start_error(OSError(30, "Read-only file system", "/data/.sqlstream"), Path("/data/.sqlstream/log"))
    assert problem.message == "Spark did not start. Nothing can be written on a read-only file system: /data/.sqlstream."
    assert problem.hint == "Name a folder that can be written to."


def test_what_stands_behind_a_task_is_told_without_its_class_and_with_the_row_that_a_database_names() -> None:
    query = "[STREAM_FAILED] Query [id = a, runId = b] terminated with exception: "
    large = "org.apache.kafka.common.errors.RecordTooLargeException: The message is 1300 bytes."
    assert job_error(RuntimeError(f"{query}{TASK}: {large}{STACK}")).message == "The message is 1300 bytes."
    violated = 'ERROR: new row for relation "t" violates check constraint "c"'
    raised = f"{query}{TASK}: org.postgresql.util.PSQLException: {violated}\n  Detail: Failing row contains (1, 150).{STACK}"
    assert job_error(RuntimeError(raised)).message == f"{violated} Detail: Failing row contains (1, 150)."


def test_a_table_that_may_not_be_read_is_no_matter_of_disks() -> None:
    assert job_error(RuntimeError("ERROR: permission denied for table t")).message == "ERROR: permission denied for table t"


@pytest.mark.parametrize(
    ("message", "query", "told", "clause"),
    [
        ("/ by zero", "SELECT a / b, a FROM t", "/ by zero (in (a / b))", "a / b"),
        ("/ by zero", "SELECT a / b FROM t WHERE MOD(b, a) > 0", "/ by zero (in one of (a / b), MOD(b, a))", None),
        (
            "For input string: x",
            "SELECT CAST(s AS INT), CAST(s AS DATE), TRY_CAST(s AS BIGINT) FROM t",
            "For input string: x (in CAST(s AS INT))",
            "CAST(s AS INT)",
        ),
        ("For input string: x", "SELECT a, SUM(CAST(s AS INT)) FROM t GROUP BY a", "For input string: x (in CAST(s AS INT))", "CAST(s AS INT)"),
        (
            'Cannot parse "x" as DATE.',
            "SELECT CAST(s AS INT), CAST(s AS DATE) FROM t",
            'Cannot parse "x" as DATE. (in CAST(s AS DATE))',
            "CAST(s AS DATE)",
        ),
        ("Column 'a' is NOT NULL.", "SELECT a / b FROM t", "Column 'a' is NOT NULL.", None),
        # It stands at two places, in a view, in the table's declaration: which of them, or none in the statement.
        ("For input string: x", "SELECT CAST(s AS INT), CAST(s AS INT) + 1 FROM t", "For input string: x (in CAST(s AS INT))", None),
        ("For input string: x", "SELECT i FROM v", "For input string: x (in CAST(s AS INT))", None),
        ("For input string: x", "SELECT i, CAST(s AS INT) FROM v CROSS JOIN t", "For input string: x (in CAST(s AS INT))", None),
        ("For input string: x", "SELECT c FROM t2", "For input string: x (in CAST(s AS INT))", None),
    ],
)
def test_the_expression_that_failed_is_told_with_its_place(tmp_path: Path, message: str, query: str, told: str, clause: str | None) -> None:
    session = Session(tmp_path, notify=lambda line: None)
    datagen = "WITH ('connector' = 'datagen')"
    list(session.run(f"CREATE TABLE t (a INT, b INT, s STRING) {datagen}; CREATE TABLE t2 (s STRING, c AS CAST(s AS INT)) {datagen}"))
    list(session.run("CREATE VIEW v AS SELECT CAST(s AS INT) AS i FROM t"))
    node = session.planner.planned(parse(query), session.planner.environment()).plan
    error = job_error(RuntimeError(RAISED.format(message)), nodes=(node,))
    assert error.message == told
    *_, line, carets = "\n".join(error.located(query, None, 0).place()).split("\n")
    if clause is None:
        assert error.offset is None
    else:
        assert line[carets.index("^") : carets.rindex("^") + 1] == clause


def test_a_record_that_can_not_be_read_hints_at_what_leaves_it_out(tmp_path: Path) -> None:
    session = Session(tmp_path, notify=lambda line: None)
    kafka = "'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'b:9092', 'properties.group.id' = 'g'"
    with_key = f"{kafka}, 'key.format' = 'csv', 'key.fields' = 'a', 'value.format' = 'json', 'value.json.ignore-parse-errors' = 'true'"
    for name, options in {"plain": f"{kafka}, 'format' = 'json'", "keyed": with_key, "bare": f"{kafka}, 'format' = 'raw'"}.items():
        list(session.run(f"CREATE TABLE {name} (a STRING{'' if name == 'bare' else ', b INT'}) WITH ({options})"))
    query = "SELECT a FROM plain UNION ALL SELECT a FROM plain UNION ALL SELECT a FROM keyed UNION ALL SELECT a FROM bare"
    node = session.planner.planned(parse(query), session.planner.environment()).plan
    told = job_error(RuntimeError(RAISED.format("Failed to deserialize JSON <<record x record>> (topic t).")), nodes=(node,))
    wanted = "'json.ignore-parse-errors' = 'true' of plain or 'key.csv.ignore-parse-errors' = 'true' of keyed leaves such records out"
    assert told.hint == f"{wanted}, and gives NULL for a field that does not fit."
    whole = f"{kafka}, 'format' = 'proto-registry', 'proto-registry.url' = 'http://r:1'"
    list(session.run(f"CREATE TABLE messages (a STRING) WITH ({whole})"))
    node = session.planner.planned(parse("SELECT a FROM messages"), session.planner.environment()).plan
    told = job_error(RuntimeError(RAISED.format("Failed to deserialize <<record x record>> (topic t).")), nodes=(node,))
    assert told.hint == "'proto-registry.ignore-parse-errors' = 'true' of messages leaves such records out."
    hints = {"/ by zero": "NULLIF", "For input string: x": "TRY_CAST", "Failed to parse json string 'x'": "TRY_PARSE_JSON"}
    for message, named in hints.items():
        assert named in job_error(RuntimeError(RAISED.format(message)), nodes=(node,)).hint
    assert job_error(RuntimeError(RAISED.format("ELEMENT: more than one")), nodes=(node,)).hint is None


def test_an_empty_file_of_a_checkpoint_is_named(tmp_path: Path) -> None:
    metadata = tmp_path / "checkpoint" / "0_answers" / "metadata"
    metadata.parent.mkdir(parents=True)
    metadata.write_text('{"id":"1"}')
    said = RuntimeError("No content to map due to end-of-input")
    assert job_error(said, folder=tmp_path).message == "No content to map due to end-of-input"
    metadata.write_text("")
    problem = job_error(said, folder=tmp_path)
    assert problem.message.startswith(f"The file {metadata} of the job's checkpoint is empty")
    assert problem.hint is not None and "DROP JOB forgets the job" in problem.hint


def test_a_select_tells_where_it_may_not_write(tmp_path: Path) -> None:
    (tmp_path / ".sqlstream").write_text("no folder")
    with pytest.raises(JobFailed, match=re.escape(str(tmp_path / ".sqlstream"))):
        _scratch(tmp_path)


def test_a_state_that_cannot_be_loaded_says_why() -> None:
    said = (
        "Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times, most recent failure: Lost task 0.0 in stage 3.0 (TID 5) (host executor "
        "driver): org.apache.spark.SparkException: [CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] An error occurred during loading state. SQLSTATE: 58030\n"
        "\tat org.apache.spark.sql.errors.QueryExecutionErrors$.cannotLoadStore(QueryExecutionErrors.scala:2000)\n"
        "Caused by: java.lang.RuntimeException: outer\n\tat x.Y.z(Y.java:1)\n"
        "Caused by: org.apache.spark.SparkException: Could not find StateStoreCoordinator.\n\t... 5 more\n"
    )
    error = job_error(RuntimeError(said))
    assert error.message == "The state of an operator can't be loaded. (Could not find StateStoreCoordinator.)"
    assert error.heals
