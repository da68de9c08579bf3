"""What is told of an exception of Spark: its own words, without the way that it came."""

from __future__ import annotations

import pytest

from sqlstream.errors import NotSupported
from sqlstream.spark.failures import job_error

TASK = "Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times, most recent failure: Lost task 0.0 in stage 1.0 (TID 1) (h executor driver)"
CALL = "An error occurred while calling o107.collectToPython.\n: org.apache.spark.SparkException: "
STACK = "\n\tat sqlstream.PartialMatches.skipped(PartialMatches.java:275)"


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
        f'  File "/x/worker.py", line 1, in main\n    import pyarrow\nModuleNotFoundError: No module named \'pyarrow\'\n{STACK}'
    )
    assert job_error(RuntimeError(text)).message == "A Python worker failed: ModuleNotFoundError: No module named 'pyarrow'"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{CALL}{TASK}: java.lang.IllegalStateException: Could not skip to first element of a match.{STACK}", "Could not skip to first element of a match."),
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
