"""Accumulators as the state of a group: kept, read again, and the process that folds rows into them. No Spark."""

from __future__ import annotations

import io
import pickle
import struct
import subprocess
import sys
import time
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark import cloudpickle

from sqlstream.core.zones import zone_of
from sqlstream.sql import types as t
from sqlstream.udf.declarations.signature import type_named
from sqlstream.udf.worker import accumulators, fold
from sqlstream.udf.worker import evaluation as worker
from sqlstream.udf.worker.task import FunctionFailed, Task
from sqlstream.udf.worker.values import arrow_type, python_values

if TYPE_CHECKING:
    from pathlib import Path

MODULE = """
import threading
from collections import defaultdict

from sqlstream.udf import AggregateFunction


class State:
    class Inner:
        pass

    def __init__(self):
        self.taken, self.gone, self.each, self.inner = [], [], defaultdict(lambda: 0), State.Inner()


class Kept(AggregateFunction):
    def create_accumulator(self):
        return State()

    def accumulate(self, state, x, password="-"):
        assert type(state) is State and type(state.inner).__name__ == "Inner"
        if x == 13:
            raise ValueError(f"no {password}")
        print("taken", x)
        state.taken.append(x)
        state.each[x] += 1

    def retract(self, state, x, password="-"):
        state.gone.append(x)

    def get_value(self, state):
        return f"{state.taken} {state.gone} {sorted(k for k, n in state.each.items() if n > 1 and k is not None)}"


class Counted(AggregateFunction):
    def create_accumulator(self): return [0]
    def accumulate(self, state): state[0] += 1
    def get_value(self, state): return state[0]


class Open(AggregateFunction):
    def create_accumulator(self): return {"lock": threading.Lock()}
    def accumulate(self, state, x, password): state["last"] = password
    def get_value(self, state): return state["last"]


class Changed(Kept):
    def get_value(self, state):
        return f"changed: {len(state.taken)}"
"""
ARGUMENTS = {"x": t.INT, "password": t.STRING}


class Refuses:
    def __reduce__(self):
        raise ValueError("not geheim")


def module(text: str = MODULE) -> ModuleType:
    """The module as it is loaded each time that its file has changed."""
    made = ModuleType("counting")
    exec(compile(text, "counting.py", "exec"), vars(made))
    return made


def task(name: str, *arguments: str, result: str = "STRING", of: ModuleType | None = None) -> Task:
    of = of or module()
    sys.modules["counting"] = of
    cloudpickle.register_pickle_by_value(of)
    try:
        pickled = cloudpickle.dumps(getattr(of, name)())
    finally:
        cloudpickle.unregister_pickle_by_value(of)
        del sys.modules["counting"]
    row = t.row(("sign", *arguments), (t.TINYINT.not_null(), *(ARGUMENTS[a] for a in arguments)))
    kept = t.row(("accumulator", "rows"), (t.BYTES, t.array(row.not_null()).not_null())).not_null()
    secrets = tuple(a == "password" for a in arguments)
    return Task(
        name.upper(),
        pickled,
        "general",
        (kept,),
        type_named(result),
        "UTC",
        secrets=secrets,
        sources=(("counting", "counting.py", MODULE),),
        aggregate=True,
    )


def values(made: Task, *groups: tuple[bytes | None, list[tuple]]) -> list[Any]:
    names = made.arguments[0].children[1].children[0].names
    array = pa.array(
        [{"accumulator": kept, "rows": [dict(zip(names, row, strict=True)) for row in rows]} for kept, rows in groups], arrow_type(made.arguments[0])
    )
    return python_values(worker.evaluated(made, (array,)), made.result, zone_of("UTC"))


def batch(made: Task, rows: list[tuple]) -> pa.RecordBatch:
    row = arrow_type(made.arguments[0].children[1].children[0])
    return pa.RecordBatch.from_struct_array(pa.array([dict(zip([f.name for f in row], r, strict=True)) for r in rows], row))


def stream(rows: pa.RecordBatch) -> bytes:
    out = io.BytesIO()
    with pa.ipc.new_stream(out, rows.schema) as writer:
        writer.write_batch(rows)
    return out.getvalue()


def frame(content: bytes | None) -> bytes:
    return struct.pack(">i", -1) if content is None else struct.pack(">i", len(content)) + content


def answer(source) -> tuple[int, bytes]:
    code, length = struct.unpack(">ii", source.read(8))
    return code, source.read(length)


def test_rows_behind_an_accumulator() -> None:
    """It is the same whether rows are in the accumulator or behind it; NULLs, and rows that go."""
    made = task("Kept", "x")
    rows = [(1, 5), (1, None), (1, 5), (-1, 7), (1, 7)]
    expected = "[5, None, 5, 7] [7] [5]"
    kept = fold.folded_accumulator(made, None, batch(made, rows))
    again = fold.folded_accumulator(made, fold.folded_accumulator(made, None, batch(made, rows[:3])), batch(made, rows[3:]))
    assert values(
        made, (None, rows), (kept, []), (again, []), (fold.folded_accumulator(made, None, batch(made, rows[:2])), rows[2:]), (None, [])
    ) == [expected] * 4 + ["[] [] []"]
    counted = task("Counted", result="BIGINT")
    assert values(counted, (fold.folded_accumulator(counted, None, batch(counted, [(1,)] * 3)), [(1,)] * 2), (None, [])) == [5, 0]


def test_other_code_reads_what_was_kept() -> None:
    """The user's own classes are those of the code that runs: methods of the new one, and no second class of the same name."""
    before = task("Kept", "x")
    kept = fold.folded_accumulator(before, None, batch(before, [(1, 5), (1, 6)]))
    assert values(task("Changed", "x"), (kept, [(1, 7)])) == ["changed: 3"]
    gone = task("Kept", "x", of=module(MODULE.replace("State", "Other")))
    gone = replace(gone, sources=(("counting", "counting.py", ""),))
    with pytest.raises(FunctionFailed) as raised:
        values(gone, (kept, []))
    assert raised.value.message.startswith("The stored accumulator of the Python function KEPT can't be read: AttributeError: ")


def test_what_cannot_be_kept() -> None:
    """It is told with the first rows, and in a fold; secrets are masked."""
    made = task("Open", "x", "password")
    for attempt in (lambda: values(made, (None, [(1, 1, "geheim")])), lambda: fold.folded_accumulator(made, None, batch(made, [(1, 1, "geheim")]))):
        with pytest.raises(FunctionFailed) as raised:
            attempt()
        assert raised.value.message.startswith(
            "The accumulator of the Python function OPEN can't be kept, since it can't be pickled: TypeError: cannot pickle"
        )
        assert "lock" in raised.value.message
        assert raised.value.hint is not None
    with pytest.raises(FunctionFailed) as raised:
        accumulators.dumped(made, None, Refuses(), ["geheim"])
    assert raised.value.message.endswith("ValueError: not ******.")


def test_where_a_fold_fails() -> None:
    made = task("Kept", "x", "password")
    questions = frame(pickle.dumps(made)) + frame(None) + frame(stream(batch(made, [(1, 5, "a"), (1, 13, "geheim")])))
    kept = fold.folded_accumulator(made, None, batch(made, [(1, 1, "a")]))
    answers = io.BytesIO()
    fold.serve(io.BytesIO(questions + frame(kept) + frame(stream(batch(made, [(1, 2, "b")])))), answers)
    answers.seek(0)
    code, text = answer(answers)
    assert code == 1
    assert "The Python function KEPT failed for (13, ******): ValueError: no ******, at counting.py:" in text.decode()
    code, kept = answer(answers)
    assert (code, values(made, (kept, []))) == (0, ["[1, 2] [] []"])
    assert not answers.read()


MAIN = "import sys; sys.path[1:1] = sys.argv[1:]; from sqlstream.udf.worker.fold import main; main()"


@pytest.fixture
def process(tmp_path: Path):
    command = [sys.executable, "-c", MAIN, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as made:
        yield made
        made.kill()


def test_a_process(process: subprocess.Popen) -> None:
    """What the function prints is no answer; it ends with its stdin."""
    made = task("Kept", "x")
    process.stdin.write(frame(pickle.dumps(made)) + frame(None) + frame(stream(batch(made, [(1, 5), (1, 6)]))))
    process.stdin.flush()
    code, kept = answer(process.stdout)
    assert (code, values(made, (kept, []))) == (0, ["[5, 6] [] []"])
    out, err = process.communicate(timeout=20)
    assert (out, process.returncode) == (b"", 0)
    assert err.decode().splitlines() == ["taken 5", "taken 6"]


def test_a_process_whose_function_goes_on(process: subprocess.Popen) -> None:
    """Nobody waits for it any more: the JVM was killed."""
    endless = module(MODULE.replace('print("taken", x)', 'import time; print("taken", x, flush=True); time.sleep(600)'))
    made = task("Kept", "x", of=endless)
    process.stdin.write(frame(pickle.dumps(made)) + frame(None) + frame(stream(batch(made, [(1, 5)]))))
    process.stdin.flush()
    assert process.stderr.readline() == b"taken 5\n"
    process.stdin.close()
    began = time.monotonic()
    assert process.wait(timeout=fold.GRACE_S + 20) == 1
    assert time.monotonic() - began < fold.GRACE_S + 15
