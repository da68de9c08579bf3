"""test-udf, and HELP: examples of functions. No Spark."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

from sqlstream.cli.main import main
from sqlstream.session.help import python
from tests.support.sessions import open_session

if TYPE_CHECKING:
    from pathlib import Path

MODULE = '''
from sqlstream.udf import AggregateFunction, Row, udaf, udf, udtf


@udf
def twice(a: int) -> int:
    """Two times.

    >>> twice(2)
    4
    >>> twice(None)
    >>> twice('x')
    Traceback (most recent call last):
    TypeError: TWICE is called with 'x', which is not of type BIGINT
    >>> twice(0)
    Traceback (most recent call last):
    ValueError: zero
    """
    if a == 0:
        raise ValueError("zero")
    return None if a is None else 2 * a


@udtf(result_types=["STRING", "INT"])
def words(text):
    """
    >>> words('a bc')
    [('a', 1), ('bc', 2)]
    """
    return [(w, len(w)) for w in text.split()]


@udf(result_type="ROW<a INT, b STRING>", func_type="pandas")
def columns(a):
    """
    >>> columns(1)
    Row(a=1, b='x')
    """
    return a.to_frame("a").assign(b="x")


class Sum(AggregateFunction):
    """
    >>> total([1, None, 3])
    4
    """
    def create_accumulator(self): return [0]
    def accumulate(self, accumulator, value: int): accumulator[0] += value or 0
    def get_value(self, accumulator) -> int: return accumulator[0]


total = udaf(Sum())


@udf(result_type="STRING")
def silent(*values): return repr(values)
'''


@pytest.fixture
def project(tmp_path: Path, monkeypatch) -> Path:
    (tmp_path / "udfs").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_examples_that_are_right(project: Path, capsys) -> None:
    (project / "udfs" / "right.py").write_text(MODULE)
    assert main(["test-udf", "udfs/right.py"]) == 0
    assert capsys.readouterr().out == "udfs/right.py: 7 examples of 5 functions, 0 failed\nwithout examples: silent\n"


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (
            "return str(a)",
            "udfs/wrong.py:6: same(2): TypeError: The Python function SAME returned '2' (str), which is not of type BIGINT, for (2).\n",
        ),
        ("return a + 1", "Got:\n    3"),
        ("raise KeyError(a)", "udfs/wrong.py:6: same(2): KeyError: 2, at line 9\n"),
    ],
)
def test_examples_that_are_wrong(project: Path, capsys, body: str, shown: str) -> None:
    (project / "udfs" / "wrong.py").write_text(
        f'from sqlstream.udf import udf\n\n@udf\ndef same(a: int) -> int:\n    """\n    >>> same(2)\n    2\n    """\n    {body}\n'
    )
    assert main(["test-udf", "udfs/wrong.py"]) == 1
    out = capsys.readouterr().out
    assert shown in out
    assert "Traceback" not in out
    assert out.endswith("udfs/wrong.py: 1 examples of 1 functions, 1 failed\n")


def test_an_example_of_a_wrong_type_is_one_line(project: Path, capsys) -> None:
    (project / "udfs" / "right.py").write_text(MODULE.replace("total([1, None, 3])", "total(['a', 3])"))
    assert main(["test-udf", "udfs/right.py"]) == 1
    line = MODULE.splitlines().index("    >>> total([1, None, 3])") + 1
    assert capsys.readouterr().out.splitlines()[0].startswith(f"udfs/right.py:{line}: total(['a', 3]): TypeError: TOTAL is called with ")


def test_files_that_can_not_be_tested(project: Path, capsys) -> None:
    (project / "broken.py").write_text("import nothing_of_this_name\n")
    (project / "plain.py").write_text("def f(a): return a\n")
    (project / "untyped.py").write_text("from sqlstream.udf import udf\n@udf\ndef f(a): return a\n")
    assert main(["test-udf", "broken.py", "plain.py", "untyped.py"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "broken.py:1:1: The module 'broken' cannot be loaded: ModuleNotFoundError: No module named 'nothing_of_this_name'.",
        "broken.py: no function",
        "plain.py: no function: nothing in it is decorated by udf, udtf or udaf",
        "untyped.py:2:1: The function 'untyped.f': its result has no type.",
        "untyped.py: 0 examples of 0 functions, 0 failed",
    ]
    with pytest.raises(SystemExit):
        main(["test-udf", "missing.py"])


def test_help(project: Path) -> None:
    (project / "udfs" / "helped.py").write_text(python.MODULE)
    notices: list[str] = []
    session = open_session(project, notify=notices.append)
    assert [r[0] for o in session.run("SHOW USER FUNCTIONS") for r in o.rows] == ["mask", "rounded", "score", "weighted", "words"]
    for query in python.QUERY.splitlines():
        list(session.run(f"EXPLAIN {query}"))
    (text,) = [o.lines for o in session.run("HELP PYTHON")]
    assert textwrap.indent(python.MODULE.rstrip(), "    ") in text
    (text,) = [o.lines for o in session.run("HELP FUNCTION mask")]
    assert text.splitlines() == [
        "MASK(account STRING, keep? BIGINT)", "    Hides all but the last digits of an account.", "", "    >>> mask('12345678')", "    '****5678'", "",
        "    A scalar function, which returns STRING. Defined at udfs/helped.py:4.",
    ]  # fmt: skip
    assert main(["test-udf", "udfs/helped.py"]) == 0
    assert notices == []
