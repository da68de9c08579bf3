"""Rows accumulated for a stream's aggregate, in a process beside Spark's JVM: PythonFold.java starts it, and has the protocol.

In: the function's task, and questions, an accumulator and rows each. Out: the accumulator with these rows.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import struct
import sys
import threading
import time
import traceback
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

import pyarrow as pa

from sqlstream.core.zones import zone_of
from sqlstream.udf.api import RAISED
from sqlstream.udf.worker import accumulators, groups, sources
from sqlstream.udf.worker.failures import failure, secret_texts
from sqlstream.udf.worker.opening import close, opened_function
from sqlstream.udf.worker.task import FunctionFailed

if TYPE_CHECKING:
    from sqlstream.udf.worker.task import Task

_DONE, _FAILED = 0, 1
# For how long the function may go on when nobody waits for it any more.
GRACE_S = 10


def folded_accumulator(task: Task, kept: bytes | None, rows: pa.RecordBatch) -> bytes:
    """The accumulator that ``kept``, None for that of no rows, is with ``rows``, whose first column is their sign. Raises FunctionFailed."""
    function: Any = opened_function(task)
    task, zone = replace(task, arguments=groups.row_of(task.arguments[0]).children), zone_of(task.zone)
    group_rows, places = groups.signed(rows.columns), range(len(rows))
    try:
        accumulator = function.create_accumulator() if kept is None else accumulators.loaded(task, function, kept)
    except FunctionFailed:
        raise
    except RAISED as error:
        where = f"for the first of {len(rows)} rows"
        raise failure(task, error, function.create_accumulator, group_rows.columns, places, where) from None
    groups.take_in(task, function, accumulator, group_rows, group_rows.places(task, len(rows), zone), places, zone)
    return accumulators.dumped(task, function, accumulator, secret_texts(task, group_rows.columns, places))


def serve(questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer, one after the other, until there are no more questions."""
    started = _read(questions)
    while (question := _question(questions)) is not None:
        kept, stream = question
        try:
            assert started is not None
            task: Task = pickle.loads(started)
            rows = pa.ipc.open_stream(stream).read_next_batch()
            code, answer = _DONE, folded_accumulator(task, kept, rows)
        except FunctionFailed as failed:
            code, answer = _FAILED, str(failed).encode()
        except Exception:  # a mistake of ours: Spark says it of its own workers with these words
            code, answer = _FAILED, f"An exception was thrown from the Python worker.\n{traceback.format_exc()}".encode()
        answers.write(struct.pack(">ii", code, len(answer)) + answer)
        answers.flush()


def _question(questions: BinaryIO) -> tuple[bytes | None, bytes] | None:
    length = questions.read(4)
    if not length:
        return None
    kept, rows = _rest(length, questions), _read(questions)
    assert rows is not None
    return kept, rows


def _read(source: BinaryIO) -> bytes | None:
    return _rest(source.read(4), source)


def _rest(length: bytes, source: BinaryIO) -> bytes | None:
    (count,) = struct.unpack(">i", length)
    return None if count < 0 else source.read(count)


def main() -> None:
    """Serve stdin and stdout, which are then no longer those of the user's code: what that prints goes to stderr."""
    from pyspark import SparkFiles

    SparkFiles._root_directory, SparkFiles._is_running_on_worker = sys.argv[1], True
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sources.enter()
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    threading.Thread(target=_end_with, args=(questions.fileno(),), daemon=True).start()
    try:
        serve(questions, answers)
    finally:
        close()


def _end_with(descriptor: int) -> NoReturn:
    """End the process some time after the other end of ``descriptor`` was closed, whatever the user's code does."""
    poll = select.poll()
    poll.register(descriptor, 0)
    poll.poll()
    time.sleep(GRACE_S)
    os._exit(1)
