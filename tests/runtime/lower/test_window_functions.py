"""Each window function has all that a row of it needs beside it: a way into Spark and a golden."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from sqlstream.core.errors import ValidationError
from sqlstream.runtime.lower.windows import LOWERINGS
from sqlstream.sql.functions import windows
from sqlstream.sql.functions.windows import WINDOW_FUNCTIONS, WindowFunction, window_function
from tests.support.sessions import open_session, run

GOLDENS = "".join(p.read_text("utf-8") for p in (Path(__file__).parents[2] / "goldens" / "scripts").glob("*.sql"))


def test_each_has_its_lowering() -> None:
    assert list(LOWERINGS) == [function.name for function in WINDOW_FUNCTIONS if not function.merges]


@pytest.mark.parametrize("function", WINDOW_FUNCTIONS, ids=lambda function: function.name)
def test_a_row_is_whole(function: WindowFunction) -> None:
    assert window_function(function.name.lower()) is function
    assert len(function.plan_names) == len(function.lengths)
    assert function.summary.endswith(".")
    assert not function.in_multiples or len(function.lengths) == 2
    assert f"TABLE({function.name}(" in GOLDENS


@pytest.mark.parametrize("in_multiples", [True, False])
def test_whether_a_size_must_be_a_multiple_is_said_by_the_row(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, in_multiples: bool) -> None:
    monkeypatch.setitem(windows._BY_NAME, "HOP", replace(windows._BY_NAME["HOP"], in_multiples=in_multiples))
    session = open_session(tmp_path, "CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');")
    query = "EXPLAIN SELECT * FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '4' MINUTES, INTERVAL '10' MINUTES));"
    with pytest.raises(ValidationError, match="integral multiple of slide") if in_multiples else nullcontext():
        run(session, query)
