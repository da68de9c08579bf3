"""Values through a function as Spark's workers pass them: Arrow in, Arrow out. No Spark."""

from __future__ import annotations

import asyncio
import datetime
import json
import os
import re
import signal
import subprocess
import sys
import zoneinfo
from collections import namedtuple
from decimal import Decimal

import pyarrow as pa
import pytest
from pyspark import cloudpickle

from sqlstream.core.zones import zone_of
from sqlstream.udf import Row, ScalarFunction, udf
from sqlstream.udf.declarations.signature import type_named
from sqlstream.udf.worker.concurrent import Calls
from sqlstream.udf.worker.evaluation import evaluated
from sqlstream.udf.worker.task import FunctionFailed, Task
from sqlstream.udf.worker.values import arrow_type, python_values

ZONE = "Europe/Prague"
PRAGUE = zoneinfo.ZoneInfo(ZONE)
UTC = datetime.UTC


def task(function, result: str, *arguments: str, **more) -> Task:
    return Task(
        "F",
        cloudpickle.dumps(getattr(function, "function", function)),
        more.pop("func_type", "general"),
        tuple(map(type_named, arguments)),
        type_named(result),
        ZONE,
        **more,
    )


def column(values: list, type_: str) -> pa.Array:
    return pa.array(values, type=arrow_type(type_named(type_)))


def run(made: Task, *columns: list) -> list:
    arrays = tuple(pa.array(c, type=arrow_type(t)) for c, t in zip(columns, made.arguments, strict=True))
    return python_values(evaluated(made, arrays), made.result, zone_of(ZONE))


WALL = datetime.datetime(2024, 7, 1, 12, 30, 0, 123456)
VALUES = [
    ("BOOLEAN", True), ("TINYINT", -128), ("SMALLINT", 32767), ("INT", -(2**31)), ("BIGINT", 2**63 - 1), ("FLOAT", 1.5), ("DOUBLE", 1e300),
    ("DECIMAL(38, 18)", Decimal("12345678901234567890.123456789012345678")), ("STRING", "čau 😀\x00"), ("CHAR(3)", "abc"), ("BYTES", b"\x00\xff"),
    ("DATE", datetime.date(1, 1, 1)), ("TIME(6)", datetime.time(23, 59, 59, 999999)), ("TIMESTAMP(6)", WALL), ("TIMESTAMP(6)", datetime.datetime(1, 1, 1)),
    ("ARRAY<INT>", [1, None]), ("MAP<STRING, ARRAY<DATE>>", {"a": [datetime.date(2024, 1, 1)], "": None}),
    ("ARRAY<TIMESTAMP(6)>", [WALL, None]), ("ROW<a INT, b ROW<c STRING>>", Row(a=1, b=Row(c="x"))), ("INTERVAL DAY TO SECOND(3)", datetime.timedelta(days=-1, seconds=5)),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "value"), VALUES)
def test_a_value_comes_as_it_is_and_goes_as_it_came(type_: str, value) -> None:
    def same(x):
        return x if x is None or (x == value and type(x) is type(value)) else repr(x)

    carried = value.as_dict(recursive=True) if isinstance(value, Row) else value
    if isinstance(value, datetime.datetime):
        carried = value.replace(tzinfo=UTC)
    elif type_ == "ARRAY<TIMESTAMP(6)>":
        carried = [v and v.replace(tzinfo=UTC) for v in value]
    elif isinstance(value, dict):
        carried = list(value.items())
    assert run(task(same, type_, type_), [carried, None]) == [value, None]


def test_an_instant_is_in_the_zone_of_the_session() -> None:
    instant = datetime.datetime(2024, 7, 1, 10, 0, tzinfo=UTC)

    def later(x):
        assert x.tzinfo is not None and x.hour == 12, x
        return x.replace(tzinfo=None) + datetime.timedelta(hours=1)

    assert run(task(later, "TIMESTAMP_LTZ(3)", "TIMESTAMP_LTZ(3)"), [instant]) == [instant + datetime.timedelta(hours=1)]


@pytest.mark.parametrize(
    ("type_", "given", "wanted"),
    [
        ("DOUBLE", 1, 1.0), ("FLOAT", 3, 3.0), ("DECIMAL(10, 2)", Decimal("1.005"), Decimal("1.00")), ("DECIMAL(10, 2)", 7, Decimal("7.00")),
        ("DATE", WALL, WALL.date()), ("TIMESTAMP(3)", WALL, WALL.replace(microsecond=123000)), ("BYTES", bytearray(b"a"), b"a"),
        ("TIMESTAMP(0)", WALL.replace(tzinfo=PRAGUE), WALL.replace(microsecond=0)), ("ARRAY<DOUBLE>", (1, 2), [1.0, 2.0]),
        ("ROW<a INT, b STRING>", (1, "x"), Row(a=1, b="x")), ("ROW<a INT, b STRING>", {"b": "x"}, Row(a=None, b="x")),
        ("ROW<a INT, b STRING>", namedtuple("P", "b a")("x", 1), Row(a=1, b="x")), ("ROW<a INT, b STRING>", Row(1, "x"), Row(a=1, b="x")),
    ],
)  # fmt: skip
def test_what_stands_for_a_value(type_: str, given, wanted) -> None:
    assert run(task(lambda x: given, type_, "INT"), [1]) == [wanted]


@pytest.mark.parametrize(
    ("type_", "given", "problem"),
    [
        ("BIGINT", "1", "'1' (str), which is not of type BIGINT"), ("INT", 1.0, "1.0 (float), which is not of type INT"), ("INT", True, "True (bool), which is not of type INT"),
        ("INT", 2**31, "2147483648 (int), which is not of type INT: it is out of range"), ("BIGINT", 2**63, "out of range"), ("STRING", 5, "5 (int), which is not of type STRING"),
        ("STRING", "\ud800", "it is not Unicode text"), ("BOOLEAN", 1, "1 (int), which is not of type BOOLEAN"), ("DECIMAL(3, 1)", Decimal(1000), "it has too many digits"),
        ("DECIMAL(3, 1)", 1.5, "1.5 (float), which is not of type DECIMAL(3, 1)"), ("DOUBLE", "x", "'x' (str), which is not of type DOUBLE"), ("BYTES", "x", "which is not of type BYTES"),
        ("DATE", "2024-01-01", "which is not of type DATE"), ("TIMESTAMP(3)", datetime.date(2024, 1, 1), "which is not of type TIMESTAMP(3)"), ("TIME(0)", WALL, "which is not of type TIME(0)"),
        ("ARRAY<INT>", [1, "b"], "'b' (str), which is not of type INT"), ("ARRAY<INT>", "ab", "which is not of type ARRAY<INT>"), ("MAP<STRING, INT>", {None: 1}, "NULL, which is not of type STRING NOT NULL"),
        ("ROW<a INT, b INT>", (1,), "it has 1 fields, not 2"), ("ROW<a INT>", {"c": 1}, "it has no field 'c'"), ("INT NOT NULL", None, "NULL, which is not of type INT NOT NULL"),
        ("STRING", ["x" * 1000], "xxx... (list)"),
    ],
)  # fmt: skip
def test_a_value_of_another_type_is_told_with_its_row(type_: str, given, problem: str) -> None:
    with pytest.raises(FunctionFailed) as raised:
        run(task(lambda n, text: given, type_, "INT", "STRING"), [7], ["row"])
    assert problem in raised.value.message
    assert raised.value.message.startswith("The Python function F returned ")
    assert raised.value.message.endswith(", for (7, 'row').")


@pytest.mark.parametrize("type_", ["VARCHAR(3)", "CHAR(3)", "VARBINARY(3)"])
def test_a_text_longer_than_its_type(type_: str) -> None:
    binary = type_ == "VARBINARY(3)"
    fits, longer = (b"abc", b"abcd") if binary else ("ž€😀", "abcd")
    assert run(task(lambda n: fits if n else None, type_, "INT"), [1, 0]) == [fits, None]
    problem = rf"returned b?'abcd' \({type(longer).__name__}\), which is not of type {re.escape(type_)}: it is too long"
    with pytest.raises(FunctionFailed, match=rf"{problem}, for \(2\)\."):
        run(task(lambda n: longer if n == 2 else fits, type_, "INT"), [1, 2, 3])
    with pytest.raises(FunctionFailed, match=problem):
        run(task(lambda n: [longer], f"ARRAY<{type_}>", "INT"), [1])
    if not binary:
        with pytest.raises(FunctionFailed, match=f"{problem} for a batch"):
            run(task(lambda n: n.map({1: "ab", 2: longer}), type_, "INT", func_type="pandas"), [1, 2])


def test_only_the_row_that_is_wrong_is_told() -> None:
    with pytest.raises(FunctionFailed, match=r"returned 'no' \(str\), which is not of type BIGINT, for \(2\)\."):
        run(task(lambda x: "no" if x == 2 else x, "BIGINT", "BIGINT"), [1, 2, 3])


def test_an_exception_is_told_with_its_row_and_its_place() -> None:
    def broken(text, n):
        return text[n]

    with pytest.raises(FunctionFailed) as raised:
        run(task(broken, "STRING", "STRING", "INT"), ["ab", "x" * 500], [1, 900])
    line = broken.__code__.co_firstlineno + 1
    assert (
        raised.value.message
        == f"The Python function F failed for ('{'x' * 116}..., 900): IndexError: string index out of range, at {__file__}:{line}."
    )


@pytest.mark.parametrize("func_type", ["general", "pandas"])
def test_leaving_python_is_an_error_like_others(func_type: str, tmp_path) -> None:
    def leaves(n):
        sys.exit(3)

    with pytest.raises(FunctionFailed, match=r"The Python function F failed for .*: SystemExit: 3, at .*test_udf_values.py:\d+\."):
        run(task(leaves, "INT", "INT", func_type=func_type), [1, 2])

    async def waits(n):
        sys.exit(4)

    with pytest.raises(FunctionFailed, match=r"The Python function F failed for \(1\): SystemExit: 4, at "):
        run(task(waits, "INT", "INT", calls=Calls(attempts=1)), [1, 2])
    kept = task(leaves, "INT", "INT", keeps_failures=True)
    (found,) = evaluated(kept, (column([1], "INT"), pa.array(['{"a": 1}']))).to_pylist()
    assert (found["value"], found["row"]) == (None, '{"a": 1}') and "SystemExit: 3" in found["error"]


def test_our_own_frames_are_no_place() -> None:
    async def never(n):
        await asyncio.sleep(60)

    with pytest.raises(FunctionFailed) as raised:
        run(task(never, "INT", "INT", calls=Calls(timeout=10)), [1])
    assert raised.value.message == "The Python function F failed for (1): TimedOut: no result within 10 ms, all attempts included."


def test_secrets_are_masked_in_the_row_and_in_what_the_exception_says() -> None:
    def broken(password):
        raise ValueError(f"wrong password: {password}")

    with pytest.raises(FunctionFailed) as raised:
        run(task(broken, "STRING", "STRING", secrets=(True,)), ["hunter2"])
    assert "hunter2" not in str(raised.value)
    assert "failed for (******): ValueError: wrong password: ******" in raised.value.message


SECRET_ROW = "ROW<name STRING, api_key STRING, inner_ ARRAY<ROW<password INT>>>"
BOB = {"name": "bob", "api_key": "K3Y", "inner_": [{"password": 4711}]}


def test_secrets_are_masked_at_any_depth() -> None:
    @udf
    def fails(r, m) -> int:
        raise ValueError(f"no {r} nor {r.inner_[0].password} nor {m}")

    @udf
    def wrong(r, m):
        return {"n": r.api_key}

    kept = ""
    types = (SECRET_ROW, "MAP<STRING, STRING>")
    arrays = (column([BOB], types[0]), column([[("token", "T0K"), ("x", "1")]], types[1]))
    shown = "(Row(name='bob', api_key='******', inner_=[Row(password='******')]), {'token': '******', 'x': '1'})"
    for function, result, said in (
        (fails, "INT", f"failed for {shown}: ValueError: no Row(name='bob', api_key='******', inner_=[Row(password=******)]) nor ****** nor "),
        (wrong, "ROW<n INT>", "returned '******' (str), which is not of type INT, for " + shown),
        (wrong, "INT", "returned {'n': '******'} (dict), which is not of type INT, for " + shown),
    ):
        with pytest.raises(FunctionFailed) as raised:
            evaluated(task(function, result, *types), arrays)
        assert said in raised.value.message
        row = pa.array([json.dumps({"r": BOB, "m": {"token": "T0K"}, "x": 1})])
        kept += str(evaluated(task(function, result, *types, keeps_failures=True), (*arrays, row)).to_pylist())
    assert kept.count('"x": 1') == 3
    assert not any(secret in kept for secret in ("K3Y", "4711", "T0K"))


def test_the_parameters_of_a_job_are_masked(tmp_path) -> None:
    class Opened(ScalarFunction):
        def open(self, function_context):
            self.key = function_context.get_job_parameter("api_key")
            if function_context.get_job_parameter("fails"):
                raise ValueError(f"not with {self.key}")

        def eval(self, x):
            raise ValueError(f"not {x} with {self.key}")

    for parameters in ((("api_key", "tok3n99"),), (("api_key", "tok3n99"), ("fails", "yes"))):
        with pytest.raises(FunctionFailed) as raised:
            run(task(Opened(), "INT", "INT", parameters=parameters), [1])
        assert "with ******" in raised.value.message
        assert "tok3n99" not in raised.value.message


def test_a_function_without_arguments() -> None:
    assert evaluated(task(lambda: 5, "INT"), (pa.array([0, 0]),)).to_pylist() == [5, 5]


def test_table_functions() -> None:
    def each(n):
        for i in range(n):
            yield i, str(i)

    made = task(each, "ARRAY<ROW<a INT, b STRING> NOT NULL>", "INT", rows=True)
    assert run(made, [2, 0]) == [[Row(a=0, b="0"), Row(a=1, b="1")], []]
    assert run(task(lambda n: None, "ARRAY<ROW<a INT> NOT NULL>", "INT", rows=True), [1]) == [[]]
    assert run(task(lambda n: [n], "ARRAY<ROW<a INT> NOT NULL>", "INT", rows=True), [1]) == [[Row(a=1)]]
    assert run(task(lambda n: [Row(n)], "ARRAY<ROW<a INT> NOT NULL>", "INT", rows=True), [1]) == [[Row(a=1)]]


# --- whole columns ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("type_", "value"), [v for v in VALUES if not v[0].startswith("ROW") and v[1] != datetime.datetime(1, 1, 1)])
@pytest.mark.parametrize("func_type", ["pandas", "arrow"])
def test_a_column_comes_as_it_is_and_goes_as_it_came(type_: str, value, func_type: str) -> None:
    carried = value.replace(tzinfo=UTC) if isinstance(value, datetime.datetime) else list(value.items()) if isinstance(value, dict) else value
    if type_ == "ARRAY<TIMESTAMP(6)>":
        carried = [v and v.replace(tzinfo=UTC) for v in value]
    nulls = [] if func_type == "pandas" and type_ in ("BIGINT",) else [None]
    assert run(task(lambda x: x, type_, type_, func_type=func_type), [carried, *nulls]) == [value, *nulls]


def test_pandas() -> None:
    def add(a, b):
        return a + b.str.len()

    assert run(task(add, "BIGINT", "BIGINT", "STRING", func_type="pandas"), [1, 2], ["a", "bc"]) == [2, 4]
    assert run(task(lambda r: r["a"] * 2, "INT", "ROW<a INT, b STRING>", func_type="pandas"), [{"a": 4, "b": ""}]) == [8]
    assert run(task(lambda a: a.to_frame("x").assign(y="t"), "ROW<x INT, y STRING>", "INT", func_type="pandas"), [4]) == [Row(x=4, y="t")]
    assert run(task(lambda a: a.dt.floor("h"), "TIMESTAMP(3)", "TIMESTAMP(3)", func_type="pandas"), [WALL.replace(tzinfo=UTC)]) == [
        datetime.datetime(2024, 7, 1, 12)
    ]
    local = task(lambda a: a.dt.hour, "INT", "TIMESTAMP_LTZ(3)", func_type="pandas")
    assert run(local, [datetime.datetime(2024, 7, 1, 10, tzinfo=UTC)]) == [12]
    assert run(task(lambda a: a / 0, "DOUBLE", "DOUBLE", func_type="pandas"), [0.0, 1.0]) == [None, float("inf")]


@pytest.mark.parametrize(
    ("function", "type_", "problem"),
    [
        (lambda a: 5, "INT", r"5 \(int\), which is not of type INT: it must be a pandas.Series"),
        (lambda a: a[:1], "INT", "a Series of int32, which is not a column of INT: it has 1 values, not 2"),
        (lambda a: a.astype(str), "INT", r"'1' \(str\), which is not of type INT"),
        (lambda a: a.astype("int64") + 2**40, "INT", "a Series of int64, which is not a column of INT"),
        (lambda a: a / 2, "INT", "a Series of float64, which is not a column of INT"),
    ],
)
def test_a_column_of_another_type_is_told(function, type_: str, problem: str) -> None:
    with pytest.raises(FunctionFailed, match=problem):
        run(task(function, type_, "INT", func_type="pandas"), [1, 2])


def test_an_exception_over_a_column() -> None:
    with pytest.raises(FunctionFailed, match=r"failed for a batch of 2 rows that begins with \(1\): KeyError: 'x', at .*test_udf_values.py:\d+\."):
        run(task(lambda a: {}["x"], "INT", "INT", func_type="pandas"), [1, 2])


# --- open and close ---------------------------------------------------------------------------------------------------


def test_open_is_called_once_and_knows_the_parameters_of_the_job(tmp_path) -> None:
    from sqlstream.udf import ScalarFunction
    from sqlstream.udf.worker.opening import close

    log = tmp_path / "log"

    def write(line: str) -> None:
        with log.open("a") as file:
            file.write(line)

    class Greets(ScalarFunction):
        def open(self, function_context):
            self.word = function_context.get_job_parameter("word", "hello")
            write(f"open {self.word}\n")

        def close(self):
            write(f"close {self.word}\n")

        def eval(self, name):
            return f"{self.word} {name}"

    made = task(udf(Greets(), result_type="STRING"), "STRING", "STRING", parameters=(("word", "ahoj"),))
    assert run(made, ["a"]) + run(made, ["b"]) == ["ahoj a", "ahoj b"]
    close()
    assert log.read_text() == "open ahoj\nclose ahoj\n"


def test_a_worker_that_spark_ends_closes_its_functions(tmp_path) -> None:
    """Spark resets the signals' handlers before each task, and ends a worker that waits for one by SIGHUP."""
    from sqlstream.udf import ScalarFunction

    log = tmp_path / "log"

    class Model(ScalarFunction):
        def close(self):
            log.write_text("closed")

        def eval(self, x):
            return x

    path = tmp_path / "task"
    path.write_bytes(cloudpickle.dumps(task(Model(), "INT", "INT")))
    code = (
        "import pickle, signal, sys, time, pyarrow\nfrom pathlib import Path\nfrom sqlstream.udf.worker.evaluation import evaluated\n"
        "print(evaluated(pickle.loads(Path(sys.argv[1]).read_bytes()), (pyarrow.array([1], pyarrow.int32()),)).to_pylist(), flush=True)\n"
        # A signal that comes just before a call of the system is heard after it.
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\nfor _ in range(600):\n    time.sleep(0.1)\nsys.exit(1)"
    )
    environment = {**os.environ, "SPARK_REUSE_WORKER": "1", "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True, env=environment) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "[1]\n"
        assert not log.exists()
        worker.send_signal(signal.SIGHUP)
        assert worker.wait(30) == 0
    assert log.read_text() == "closed"


def test_a_function_that_can_not_be_opened() -> None:
    from sqlstream.udf import ScalarFunction

    class Model(ScalarFunction):
        def open(self, function_context):
            open("no_such_file")  # noqa: PTH123, SIM115

        def eval(self, x):
            return x

    with pytest.raises(
        FunctionFailed, match=r"The Python function F could not be opened: FileNotFoundError: .*no_such_file.*, at .*test_udf_values.py:\d+"
    ):
        run(task(udf(Model(), result_type="INT"), "INT", "INT"), [1])


def test_a_module_that_workers_lack() -> None:
    lacking = Task("F", b"cno_such_module\nf\n.", "general", (), type_named("INT"), ZONE)
    with pytest.raises(FunctionFailed, match="needs the module 'no_such_module', which Spark's workers don't have") as raised:
        evaluated(lacking, (pa.array([0]),))
    assert "python.archives" in raised.value.hint


def test_row() -> None:
    row = Row(a=1, b="x")
    assert (row[0], row["b"], row.a, len(row), list(row), repr(row), 1 in row) == (1, "x", 1, 2, [1, "x"], "Row(a=1, b='x')", True)
    assert row.as_dict() == {"a": 1, "b": "x"}
    row["a"] = 2
    assert row == Row(a=2, b="x") != Row(2, "x")
    assert repr(Row(1, None)) == "Row(1, None)"
    assert not hasattr(row, "c")
    with pytest.raises(ValueError, match="both args and kwargs"):
        Row(1, a=2)


# --- rows that are kept -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("func_type", ["general", "pandas"])
def test_rows_for_which_a_function_fails_are_kept(func_type: str) -> None:
    def inverse(a):
        if func_type == "general":
            return 6 / a if a != 4 else "four"
        if (a == 0).any():
            raise ZeroDivisionError("division by zero")
        return (6 / a).where(a != 4, "four") if (a == 4).any() else 6 / a

    made = task(inverse, "DOUBLE", "INT", func_type=func_type, keeps_failures=True)
    rows = pa.array([f'{{"id": {n}, "name": "č"}}' for n in range(5)])
    found = evaluated(made, (pa.array([1, 0, 3, 4, 6], pa.int32()), rows))
    assert [row["value"] for row in found.to_pylist()] == [6.0, None, 2.0, None, 1.0]
    assert [row["row"] for row in found.to_pylist()] == [None, '{"id": 1, "name": "č"}', None, '{"id": 3, "name": "č"}', None]
    none, first, _, second, last = (row["error"] for row in found.to_pylist())
    assert none is None and last is None
    assert "ZeroDivisionError: " in first and "(0)" in first
    assert "'four' (str), which is not of type DOUBLE" in second


def test_a_function_that_can_not_be_opened_keeps_no_rows() -> None:
    lacking = Task("F", b"cno_such_module\nf\n.", "general", (), type_named("INT"), ZONE, keeps_failures=True)
    with pytest.raises(FunctionFailed, match="needs the module 'no_such_module'"):
        evaluated(lacking, (pa.array([0]), pa.array(["{}"])))
