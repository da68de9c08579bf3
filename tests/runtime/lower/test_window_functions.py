"""Each window function has all that a row of it needs beside it: a way into Spark and a golden."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlstream.runtime.lower.windows import LOWERINGS
from sqlstream.sql.functions.windows import WINDOW_FUNCTIONS, WindowFunction, window_function

GOLDENS = "".join(p.read_text("utf-8") for p in (Path(__file__).parents[2] / "goldens" / "scripts").glob("*.sql"))


def test_each_has_its_lowering() -> None:
    assert list(LOWERINGS) == [function.name for function in WINDOW_FUNCTIONS if not function.merges]


@pytest.mark.parametrize("function", WINDOW_FUNCTIONS, ids=lambda function: function.name)
def test_a_row_is_whole(function: WindowFunction) -> None:
    assert window_function(function.name.lower()) is function
    assert len(function.plan_names) == len(function.lengths)
    assert function.summary.endswith(".")
    assert f"TABLE({function.name}(" in GOLDENS
