"""What is told of an exception of Spark: its own words, without the way that it came."""

from __future__ import annotations

import pytest

from sqlstream.spark.failures import job_error

TASK = "Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times, most recent failure: Lost task 0.0 in stage 1.0 (TID 1) (h executor driver)"
CALL = "An error occurred while calling o107.collectToPython.\n: org.apache.spark.SparkException: "
STACK = "\n\tat sqlstream.PartialMatches.skipped(PartialMatches.java:275)"


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
