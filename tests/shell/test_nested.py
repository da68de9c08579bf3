"""Nested values over several lines."""

from __future__ import annotations

import pytest

from sqlstream.shell.live import LiveView, screen
from sqlstream.shell.nested import unfolded
from tests.functions.harness import type_of


@pytest.mark.parametrize(
    ("text", "type_", "width", "lines"),
    [
        ("(1, a)", "ROW<id INT, name STRING>", 10, ["(1, a)"]),
        ("(1, a)", "ROW<id INT, name STRING>", 5, ["(", "  id: 1", "  name: a", ")"]),
        ("(1, (a, NULL))", "ROW<id INT, r ROW<x STRING, y INT>>", 9, ["(", "  id: 1", "  r: (", "    x: a", "    y: NULL", "  )", ")"]),
        ("[(1, a), (2, b)]", "ARRAY<ROW<i INT, s STRING>>", 10, ["[", "  (1, a)", "  (2, b)", "]"]),
        ("{k=[1, 2], l=[3]}", "MAP<STRING, ARRAY<INT>>", 12, ["{", "  k: [1, 2]", "  l: [3]", "}"]),
        ("{}", "MAP<STRING, INT>", 1, ["{", "}"]),
        # A text with a comma: the fields can't be told apart.
        ("(1, a, b)", "ROW<id INT, name STRING>", 5, ["(1, a, b)"]),
        ("<NULL>", "ROW<id INT>", 3, ["<NULL>"]),
        ("a (long) text", "STRING", 5, ["a (long) text"]),
    ],
)
def test_unfolded(text: str, type_: str, width: int, lines: list[str]) -> None:
    assert unfolded(text, type_of(type_), width) == lines


def test_the_detail_of_a_row_shows_its_parts() -> None:
    types = [type_of("INT"), type_of("ROW<city STRING, zip ROW<code STRING, area STRING>>")]
    rows = [("7", "(Praha, (11000, Nové Město))")]
    shown = [text.rstrip() for _, text in screen(["id", "place"], rows, LiveView(detail=True), (30, 10), "T", 30, types)]
    assert shown[1:9] == [
        "   id : 7", "place : (", "      :   city: Praha", "      :   zip: (", "      :     code: 11000", "      :     area: Nové Město", "      :   )", "      : )",
    ]  # fmt: skip
