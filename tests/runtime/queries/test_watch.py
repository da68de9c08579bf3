"""Figures of a query whose samples fail: the end of the JVM, and an error with which it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from py4j.java_gateway import GatewayParameters, JavaGateway
from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark.errors import NumberFormatException

from sqlstream.runtime.engine.failures import answered_error
from sqlstream.runtime.monitor.figures import last_error, plain_progress, progress_line, status_line
from sqlstream.runtime.queries import watch
from tests.runtime.monitor.recordings import job

if TYPE_CHECKING:
    from sqlstream.runtime.monitor.metrics import QueryMetrics

AT = 1_767_225_600_000
SAMPLE = {
    "ended": [],
    "running": None,
    "real_time": False,
    "waits": False,
    "heap": 1,
    "read": 0,
    "at": AT,
    "out": 7,
    "late": 0,
    "filters": [],
    "times": [],
    "topics": [],
}
ANSWERED = "An error occurred while calling o1.of.\n: java.lang.NullPointerException: no plan\n\tat sqlstream.monitor.QuerySamples.of\n"


class JavaError(Py4JJavaError):
    """One that Java has thrown, without a gateway."""

    def __init__(self, text: str) -> None:
        Exception.__init__(self, text)
        self.java_exception = None

    def __str__(self) -> str:
        return str(self.args[0])


class Lowered:
    """What a watch wants to know of how its query is lowered."""

    watch = None
    watermarks: list[str] = []


@pytest.fixture
def sampling(monkeypatch):
    """A watch of a running query, the answers that it gets, and what it reports."""
    answers: list[object] = []
    reports: list[QueryMetrics] = []

    class Answers:
        def __init__(self, spark: object) -> None:
            pass

        def sample(self, query: object, after: str, *, look: bool) -> object:
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

    monkeypatch.setattr(watch, "QueryWatch", Answers)
    watched = watch.Watch(None, Lowered(), report=reports.append)
    watched.follow(object())

    def sample(answer: object) -> QueryMetrics:
        answers.append(answer)
        return watched.sample()

    return sample, reports


@pytest.mark.parametrize(
    "end",
    [
        Py4JNetworkError("Answer from Java side is empty"),
        Py4JError("An error occurred while calling o1.of"),
        ConnectionRefusedError(),
        JavaError("An error occurred while calling o1.of.\n: java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext."),
    ],
)
def test_where_the_jvm_ends_the_figures_stay(sampling, end) -> None:
    sample, reports = sampling
    assert sample(SAMPLE).rows_out == 7
    after = sample(end)
    assert (after.rows_out, after.failure) == (7, None)
    assert reports == []


def test_an_error_of_the_jvm_is_reported_once_with_the_age_of_the_figures(sampling) -> None:
    sample, reports = sampling
    sample(SAMPLE)
    for _ in range(3):
        stale = sample(JavaError(ANSWERED))
    assert (stale.rows_out, stale.at, stale.failure) == (7, AT, "no plan")
    assert reports == [stale]
    figures = job(stale)
    assert last_error(figures) == "The figures are as of 00:00:00, since Spark answered with an error: no plan"
    assert all(
        line.endswith("figures as of 00:00:00")
        for line in (progress_line(figures), plain_progress(figures), status_line("db", "streaming", [figures]))
    )
    sample(JavaError(ANSWERED.replace("no plan", "no query")))
    assert [r.failure for r in reports] == ["no plan", "no query"]
    newer = sample({**SAMPLE, "out": 9})
    assert (newer.rows_out, newer.failure) == (9, None)
    assert last_error(job(newer)) is None
    sample(JavaError(ANSWERED))
    assert [r.failure for r in reports] == ["no plan", "no query", "no plan"]


def test_without_any_figures(sampling) -> None:
    sample, _ = sampling
    figures = job(sample(JavaError(ANSWERED)))
    assert last_error(figures) == "There are no figures yet, since Spark answered with an error: no plan"
    assert progress_line(figures).endswith("no figures yet")
    assert last_error(job(sample(JavaError(ANSWERED)), status="CANCELED")) is None


def test_nothing_listens() -> None:
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=9))
    with pytest.raises(Py4JError) as raised:
        gateway.jvm.java.lang.Integer.parseInt("x")
    assert answered_error(raised.value) is None


@pytest.mark.spark
def test_errors_of_a_jvm_that_answers(engine) -> None:
    integers = engine.spark._jvm.java.lang.Integer
    with pytest.raises(NumberFormatException) as converted:
        integers.parseInt("x")
    assert answered_error(converted.value) == 'For input string: "x"'
    with pytest.raises(Py4JJavaError) as thrown:
        engine.spark._jvm.java.util.ArrayList().get(1)
    assert answered_error(thrown.value) == "Index 1 out of bounds for length 0"
    with pytest.raises(Py4JError) as unknown:
        integers.parseInt("x", "y", "z")
    assert "parseInt" in (answered_error(unknown.value) or "")
