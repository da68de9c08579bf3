"""Spark's exceptions in the words of SQL.

In: whatever py4j or pyspark raised. Out: a SqlStreamError whose message is the innermost cause's, without a stack.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError, Py4JJavaError

from sqlstream.depth import too_deep
from sqlstream.errors import JobFailed, SetupError, SqlStreamError, ValidationError
from sqlstream.spark.java_process import JavaProcess

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

# What py4j says of every exception of the JVM, and how Spark begins to tell of a task's.
_CALL = re.compile(r"An error occurred while calling .*?\n: ", re.S)
_TASK = re.compile(r"Job aborted due to stage failure: .*?\([^()]* executor [^()]*\)", re.S)
_CLASS = re.compile(r"^[:\s]*(?:[\w$]+\.)+[\w$]*(?:Exception|Error): ")
_PACKAGE = re.compile(r"^(?:[\w$]+\.)+(?=[\w$]+(?::|$))")
# What our generated SQL raises by itself stands behind this condition in Spark's message.
_RAISED = re.compile(r"\[USER_RAISED_EXCEPTION\] (.*?)(?: SQLSTATE: \w+)?(?=\n|$)", re.S)
# What the user's own code in Python has raised.
_PYTHON = re.compile(re.escape("<<python function ") + "(.*)" + re.escape(" python function>>"))
_CRASHED = re.compile(r"Python worker exited unexpectedly")
# What a worker itself has raised.
_WORKER = "An exception was thrown from the Python worker"
_TRACEBACK = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t]+.*\n)+(\S.*)")
# Java's stack was too small for Spark's parser, optimizer or tasks, or Spark's JSON of a schema has more levels than its writer takes.
_TOO_DEEP = re.compile(r"java\.lang\.StackOverflowError|FAILED_TO_PARSE_TOO_COMPLEX|Document nesting depth")
# What is heard of a JVM that is about to end, or of its context.
_ENDING = re.compile(r"java\.lang\.OutOfMemoryError|SparkContext was shut down|stopped SparkContext|Shutdown in progress")
_ENDING_SECONDS = 10
_CAUSES = (
    (re.compile(r"Failed to construct kafka|No resolvable bootstrap|TimeoutException|disconnected before", re.I),
     "The Kafka broker does not answer.", "Check 'properties.bootstrap.servers', and that the broker runs (sqlstream kafka status)."),
    (re.compile(r"UnknownTopicOrPartition|does not host this topic-partition", re.I), "The Kafka topic does not exist.", None),
    (re.compile(r"OffsetOutOfRange|Some data may have been lost|KAFKA_DATA_LOSS", re.I), "Kafka no longer has records that were not read yet.",
     "The topic's retention removed them. Starting the job anew skips them."),
)  # fmt: skip


def job_error(error: BaseException, functions: Iterable[str] = ()) -> SqlStreamError:
    """``error`` as one that a user can read; a SqlStreamError stays what it is. ``functions`` are those in Python that the query calls."""
    if isinstance(error, SqlStreamError):
        return error
    text = _full_text(error)
    if (died := _death(error, text)) is not None:
        died.__cause__ = error
        return died
    raised = _RAISED.search(text)
    if python := _PYTHON.search(text):
        message, hint = json.loads(python[1])
        problem: SqlStreamError = JobFailed(message, hint=hint)
    elif raised:
        problem = JobFailed(raised[1].strip())
    elif _CRASHED.search(text):
        named = ", ".join(sorted(set(functions)))
        message = f"The Python worker ended unexpectedly while a function of the query ran{f' ({named})' if named else ''}."
        problem = JobFailed(message, hint="It called os._exit, crashed in native code, or was killed, as for want of memory.")
    elif _TOO_DEEP.search(text):
        problem = too_deep()
    elif found := next(((m, h) for p, m, h in _CAUSES if p.search(text)), None):
        problem = JobFailed(f"{found[0]} ({_headline(text)})", hint=found[1])
    elif type(error).__name__ in ("AnalysisException", "ParseException"):
        problem = ValidationError(_headline(text))
    else:
        problem = JobFailed(_headline(text))
    problem.__cause__ = error
    return problem


def death(error: BaseException) -> SqlStreamError | None:
    """The death of Spark's JVM, where that is behind ``error``."""
    return None if isinstance(error, SqlStreamError) else _death(error, str(error))


@contextmanager
def while_it_runs() -> Iterator[None]:
    """Do what is to be done as long as there is a JVM: what is left of it where that has ended, of itself or not, has ended too."""
    try:
        yield
    except (Py4JError, OSError) as error:
        if isinstance(error, Py4JJavaError) or JavaProcess.latest is None or not JavaProcess.latest.ended_within(_ENDING_SECONDS):
            raise


def _death(error: BaseException, text: str) -> SqlStreamError | None:
    process = JavaProcess.latest
    if process is None:
        return None
    unanswered = isinstance(error, Py4JError | ConnectionError | EOFError) and not isinstance(error, Py4JJavaError)
    if unanswered or _ENDING.search(text):
        # Its sockets close, and its queries fail, a moment before it is gone.
        process.ended_within(_ENDING_SECONDS)
    return None if process.death is None else process.death.error()


def start_error(error: BaseException, logs: Path) -> SetupError:
    """What kept Spark from starting: the innermost cause, in one line."""
    if (died := death(error)) is not None:
        return SetupError(f"Spark did not start. {died.message}", hint=died.hint)
    causes = re.findall(r"^Caused by: (.*)", str(error), re.M)
    lines = [line.strip() for line in _CALL.sub("", str(error), count=1).splitlines() if line.strip()]
    line = causes[-1] if causes else lines[0] if lines else type(error).__name__
    problem = SetupError(f"Spark did not start: {_PACKAGE.sub('', line)}", hint=f"See spark.log and jvm.log in {logs}.")
    problem.__cause__ = error
    return problem


def _full_text(error: BaseException) -> str:
    parts = [str(error)]
    java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    seen = 0
    while java is not None and seen < 20:
        try:
            parts.append(str(java.getMessage() or java.toString()))
            java = java.getCause()
        except Py4JError:  # the JVM is gone: what we have is all there is
            break
        seen += 1
    if (cause := error.__cause__) is not None:
        parts.append(str(cause))
    return "\n".join(parts)


def _headline(text: str) -> str:
    text = _CLASS.sub("", _CALL.sub("", text, count=1))
    text = _CLASS.sub("", _TASK.sub("", text, count=1))
    if _WORKER in text and (raised := _TRACEBACK.findall(text)):
        return f"A Python worker failed: {raised[-1].strip()}"
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("at ", "== ", "=== "))]
    return lines[0] if lines else "unknown failure"
