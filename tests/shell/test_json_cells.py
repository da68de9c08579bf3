"""Nested values in JSON: arrays and objects, where the client's text does not tell where a part ends."""

from __future__ import annotations

import json

import pytest

from sqlstream.core.changelog import Nested
from sqlstream.plan.nodes import Field
from sqlstream.session import export
from sqlstream.sql import types as t


def test_a_nested_cell_is_its_json_and_everywhere_else_the_clients_text() -> None:
    columns = (Field("a", t.array(t.STRING)), Field("n", t.array(t.INT)))
    row = (Nested("[a, b]", '["a, b"]'), None)
    assert export.json_line(columns, row) == '{"a": ["a, b"], "n": null}'
    assert export.csv_line(row) == '"[a, b]",'


def test_a_variant_is_json_already() -> None:
    assert export.json_line((Field("v", t.VARIANT),), ('{"a":[1]}',)) == '{"v": {"a":[1]}}'


QUERY = """
SELECT ARRAY[1, 2] AS a, MAP['k', 'x, y'] AS m, CAST(ROW(1, 'b') AS ROW<id INT, s STRING>) AS r, PARSE_JSON('{"q": 1.5}') AS v, CAST(NULL AS ARRAY<INT>) AS n;
EXPORT LAST TO 'last.json' FORMAT JSON;
"""


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_a_select(spark, tmp_path, screen, mode) -> None:
    from sqlstream.session.session import Session
    from sqlstream.shell.runner import Runner
    from sqlstream.shell.screen import Script

    screen.output = "json"
    session = Session(tmp_path, options={"execution.runtime-mode": mode}, notify=screen.notify)
    Runner(session, screen).run(Script(QUERY))
    expected = {"a": [1, 2], "m": {"k": "x, y"}, "r": {"id": 1, "s": "b"}, "v": {"q": 1.5}, "n": None}
    assert json.loads(screen.out.getvalue()) == expected | ({"op": "+I"} if mode == "streaming" else {}), screen.err.getvalue()
    assert json.loads((tmp_path / "last.json").read_text()) == expected
