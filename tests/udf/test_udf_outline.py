"""Modules of functions that are not run: what their text tells is what running them tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlstream.cli import main as cli
from sqlstream.core.errors import SqlStreamError
from sqlstream.session.session import Session
from sqlstream.udf.declarations.modules import Modules
from sqlstream.udf.declarations.signature import signature

ROOT = Path(__file__).parents[2]
MODULE = '''
from __future__ import annotations

import datetime as dt
import os
from decimal import Decimal
from typing import TYPE_CHECKING, Iterator, NamedTuple, Optional

import numpy_of_no_machine as np
from pyflink.table import DataTypes as T
from pyflink.table.udf import AggregateFunction, ScalarFunction, udaf, udf as scalar, udtf

if TYPE_CHECKING:
    from collections.abc import Sequence

os.remove("/nowhere")
MONEY = T.DECIMAL(12, 2)


class Point(NamedTuple):
    x: int
    y: "float"


@scalar
def plain(a: str, b: Optional[int] = 2, *more: float) -> "Decimal":
    """The first line."""
    raise SystemExit


@scalar(result_type=MONEY, input_types=[T.STRING(), "INT"], func_type="pandas", name="called_otherwise", deterministic=False)
def named(a, b=os.environ):
    return np.zeros(1)


@scalar
@np.decorated
async def waits(when: dt.datetime, point: Point) -> list[str]: ...


@udtf(result_types=["STRING", "INT"])
def words(line: str):
    for word in line.split():
        yield word, 1


@udtf
def others(lines: list[str]) -> Iterator[tuple[str, "int"]]:
    yield from lines


class Score(ScalarFunction):
    def __init__(self, model):
        self.model = model.load()

    def eval(self, amount: float, kind: str = str(os)) -> float:
        return self.model.score(amount)

    def is_deterministic(self):
        return False


class Spread(AggregateFunction):
    def create_accumulator(self): return [os]
    def accumulate(self, values: list, x: float) -> None: ...
    def get_value(self, values) -> float: return max(values)
    def get_accumulator_type(self): return T.ARRAY(T.DOUBLE())


score = scalar(Score(os.environ["X"]), result_type=T.DOUBLE())
spread = udaf(Spread())
middle = udaf(lambda x: x.median(), result_type="DOUBLE", func_type="pandas")
borrowed = scalar(np.log, result_type=T.ROW([T.FIELD("a", T.INT())]))
evil: "os.remove('/nowhere')" = 1


@scalar
def evil_types(a: "os.remove('/nowhere')", b: os.remove('/nowhere') = os.remove('/nowhere')) -> int: ...
'''
STUBS = "class _Any:\n    def __getattr__(self, name): return self\n    def __call__(self, *a, **k): return a[0] if a else self\nimport sys\nsys.modules[__name__] = _Any()\n"


def signatures(modules: Modules) -> dict[str, str]:
    assert modules.errors == []
    shown = {}
    for name, found in modules.functions.items():
        try:
            said = str(signature(found.declared, name))
        except SqlStreamError as error:
            said = error.message
        declared = found.declared
        text = (
            declared.kind,
            declared.waits,
            declared.deterministic,
            declared.func_type,
            declared.line,
            declared.__doc__,
            found.identifier,
            found.place,
        )
        shown[name] = f"{said} {text}"
    return shown


def test_the_text_of_a_module_tells_what_running_it_tells(tmp_path, monkeypatch):
    (tmp_path / "udfs").mkdir()
    running = MODULE.replace('os.remove("/nowhere")\n', "").replace("evil: \"os.remove('/nowhere')\"", "evil: int").replace('os.environ["X"]', "np")
    running = running.partition("@scalar\ndef evil_types")[0]
    (tmp_path / "udfs" / "mine.py").write_text(running)
    (tmp_path / "numpy_of_no_machine.py").write_text(STUBS)
    run, told = Modules(tmp_path), Modules(tmp_path, runs=False)
    run.refresh()
    told.refresh()
    expected, found = signatures(run), signatures(told)
    assert list(found) == list(expected) == ["plain", "called_otherwise", "waits", "words", "others", "score", "spread", "middle", "borrowed"]
    # Of a class that is only imported the text tells no parameters.
    del expected["borrowed"], found["borrowed"]
    assert found == expected


def test_nothing_of_a_module_runs(tmp_path, monkeypatch):
    (tmp_path / "udfs").mkdir()
    (tmp_path / "udfs" / "mine.py").write_text(MODULE)
    (tmp_path / "typing.py").write_text("raise SystemExit")
    (tmp_path / "numpy_of_no_machine.py").write_text("raise SystemExit")
    monkeypatch.setattr("os.remove", lambda path: pytest.fail("it ran"))
    told = Modules(tmp_path, runs=False)
    told.refresh()
    assert signatures(told).keys() >= {"plain", "score", "evil_types"}
    assert "INT" in signatures(told)["evil_types"]


def test_check_without_python(tmp_path, monkeypatch, capsys):
    (tmp_path / "udfs").mkdir()
    (tmp_path / "queries").mkdir()
    (tmp_path / "udfs" / "mine.py").write_text(MODULE)
    (tmp_path / "udfs" / "broken.py").write_text("def f(:\n")
    query = "SELECT plain('a', {}), w FROM (VALUES ('x')) AS t (l), LATERAL TABLE(words(l)) AS u (w, n);"
    (tmp_path / "queries" / "a.sql").write_text(
        "CREATE TEMPORARY FUNCTION p AS 'mine.plain' LANGUAGE PYTHON;\n" + query.format(1) + "\nSELECT p('a');"
    )
    (tmp_path / "queries" / "b.sql").write_text(query.format("DATE '2026-01-01'"))
    monkeypatch.chdir(tmp_path)
    assert cli.main(["check", "--no-python"]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" ")[0] for line in lines] == ["queries/b.sql:1:8:", "udfs/broken.py:1:1:"]


def test_the_example_project_says_the_same():
    run, told = Session(ROOT, notify=print), Session(ROOT, notify=print, python=False)
    expected, found = signatures(run.planner.modules), signatures(told.planner.modules)
    assert found == expected
