"""Which failures may be over after a while: by what Java says of exceptions, and by what a text names."""

from __future__ import annotations

import json
import re
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from sqlstream.core import settings
from sqlstream.core.java import classes
from sqlstream.runtime.engine.conditions import CONDITIONS, STATES, Cause, known
from sqlstream.runtime.engine.failures import job_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

TASK = "Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times, most recent failure: Lost task 0.0 in stage 1.0 (TID 1) (h executor driver)"
KAFKA = "org.apache.kafka.common.errors"


def test_the_innermost_that_says_something_counts() -> None:
    failed = Cause(condition="STREAM_FAILED", state="XXKST")
    assert known([failed, Cause(condition="DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", state="23001")]).heals is False
    assert known([failed, Cause(("x.Unknown",), "UNKNOWN", "40001"), Cause(("java.lang.Exception",))]).heals is True
    # A part of a condition may differ from the whole, a state from its class.
    assert known([Cause(condition="FAILED_READ_FILE.NO_HINT", state="KD001")]).heals is False
    assert (known([Cause(state="55006")]).heals, known([Cause(state="55000")]).heals) == (True, False)
    assert known([failed]).heals is None
    assert known([]).heals is None


@pytest.fixture
def documented(spark: SparkSession) -> dict[str, dict[str, Any]]:
    """All that Spark and Delta can raise by name."""
    helper = spark._jvm.org.apache.spark.sql.delta.DeltaThrowableHelper
    found: dict[str, dict[str, Any]] = {}
    for url in (helper.sparkErrorClassSource(), helper.deltaErrorClassSource()):
        jar, _, entry = str(url.getPath()).removeprefix("file:").partition("!/")
        with zipfile.ZipFile(jar) as opened:
            found |= json.loads(opened.read(entry))
    return found


@pytest.mark.spark
def test_every_condition_of_spark_and_delta_is_classed(documented: dict[str, dict[str, Any]]) -> None:
    assert len(documented) > 1500
    unknown = {name: v.get("sqlState") for name, v in documented.items() if name not in CONDITIONS and (v.get("sqlState") or "02")[:2] not in STATES}
    assert unknown == {}
    parts = {f"{name}.{part}" for name, one in documented.items() for part in one.get("subClass", {})}
    assert CONDITIONS.keys() <= documented.keys() | parts

    def texts(name: str) -> Iterator[str]:
        one = documented[name]
        for part in (one, *one.get("subClass", {}).values()):
            yield "\n".join(part["message"])

    # What messages say to set can be set.
    named = {key for name in documented for text in texts(name) for key in re.findall(r"\bspark\.[a-z][\w.]*\w", text)}
    assert len(named) > 40
    for key in named:
        settings.check(key, "true")
    # What is left out of a message is in it.
    assert [name for name, one in CONDITIONS.items() if one.advice and not any(one.advice in text for text in texts(name))] == []


def _thrown(spark: SparkSession, name: str, *arguments: object) -> Any:
    made: Any = spark._jvm
    for part in name.split("."):
        made = getattr(made, part)
    return made(*arguments)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("name", "arguments", "heals"),
    [
        (f"{KAFKA}.RecordTooLargeException", ["large"], False),
        (f"{KAFKA}.TimeoutException", ["late"], True),
        (f"{KAFKA}.NotEnoughReplicasException", ["few"], True),
        (f"{KAFKA}.TopicAuthorizationException", ["no"], True),
        (f"{KAFKA}.SerializationException", ["bad"], False),
        (f"{KAFKA}.OutOfOrderSequenceException", ["again"], True),
        ("java.sql.SQLException", ["said", "23505"], False),
        ("java.sql.SQLException", ["said", "57P01"], True),
        ("java.sql.SQLException", ["said", "25006"], True),
        ("java.sql.SQLException", ["said"], True),
        ("java.sql.SQLDataException", ["said"], False),
        ("java.sql.SQLTransientConnectionException", ["said"], True),
        ("java.sql.SQLNonTransientConnectionException", ["said"], True),
        ("org.apache.hadoop.hdfs.protocol.DSQuotaExceededException", ["full"], True),
        ("org.apache.hadoop.net.ConnectTimeoutException", ["away"], True),
        ("java.net.ConnectException", ["refused"], True),
        ("java.lang.ArrayIndexOutOfBoundsException", ["5"], False),
        ("java.io.IOException", ["said"], True),
    ],
)
def test_exceptions_of_java(spark: SparkSession, name: str, arguments: list[object], heals: bool) -> None:
    from py4j.protocol import Py4JJavaError

    inner = _thrown(spark, name, *arguments)
    outer = _thrown(spark, "java.lang.RuntimeException", "outer", inner)
    raised = Py4JJavaError("said", outer)
    assert job_error(raised).heals is heals
    # The same where only a text tells of it, as that of a task whose exception the driver could not read.
    told = Py4JJavaError(f"{TASK}: {name}: said\n\tat x.Y.z(Y.java:1)\n", _thrown(spark, "java.lang.RuntimeException", "outer"))
    if name != "java.sql.SQLException":
        assert job_error(told).heals is heals


@pytest.mark.spark
def test_what_a_batch_of_statements_has_met(spark: SparkSession) -> None:
    failed = _thrown(spark, "java.sql.SQLException", "Batch entry 0 was aborted")
    failed.setNextException(_thrown(spark, "java.sql.SQLException", "duplicate key", "23505"))
    (first, second) = json.loads(classes(spark).monitor.Causes.of(failed))
    assert (first["state"], second["state"]) == (None, "23505")
    # One that is its own cause ends.
    failed.setNextException(failed)
    assert len(json.loads(classes(spark).monitor.Causes.of(failed))) == 2


@pytest.mark.spark
def test_conditions_that_only_a_text_names(spark: SparkSession) -> None:
    from py4j.protocol import Py4JJavaError

    def heals(text: str) -> bool:
        return job_error(Py4JJavaError(text, _thrown(spark, "java.lang.RuntimeException", "outer"))).heals

    assert not heals(f"{TASK}: org.apache.spark.sql.delta.schema.DeltaInvariantViolationException: [DELTA_NOT_NULL_CONSTRAINT_VIOLATED] NOT NULL ..")
    assert not heals("x\nCaused by: org.apache.spark.SparkRuntimeException: [CAST_INVALID_INPUT] The value 'a' ..")
    assert heals("x\nCaused by: io.delta.exceptions.ConcurrentAppendException: [DELTA_CONCURRENT_APPEND] Transaction conflict ..")
    # A name in the text of a row is none of an exception.
    assert heals("Failed: the row 'java.lang.ArithmeticException' [DIVIDE_BY_ZERO] is late")
