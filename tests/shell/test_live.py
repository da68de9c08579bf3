"""What a full-screen result shows."""

from __future__ import annotations

import pytest

from sqlstream.core.changelog import Change, RowKind
from sqlstream.shell import live
from sqlstream.shell.live import LiveTable, LiveView, Log, ordered, pressed, screen

KINDS = {k.value: k for k in RowKind}


def change(text: str) -> Change:
    kind, *cells = text.split()
    return Change(KINDS[kind], tuple(None if c == "NULL" else c for c in cells))


def filled(result, *changes: str):
    for text in changes:
        result.apply(change(text))
    return result


def test_a_table_is_its_rows_as_they_are_now() -> None:
    table = filled(LiveTable(100), "+I a 1", "+I b 1", "-U a 1", "+U a 2", "+I a 2", "-D a 2", "-D c 9", "+I NULL 3")
    assert table.rows == [("b", "1"), ("a", "2"), (None, "3")]
    assert table.changes == 8


def test_a_table_keeps_its_last_rows() -> None:
    table = filled(LiveTable(2), "+I a", "+I b", "+I a", "-D a", "+I c")
    assert table.rows == [("b",), ("c",)]


def test_a_changelog_keeps_the_last_changes() -> None:
    log = Log()
    for i in range(1500):
        log.apply(change(f"+I {i}"))
    assert (log.rows[0], log.rows[-1], len(log.rows), log.changes) == (("+I", "500"), ("+I", "1499"), 1000, 1500)


def test_sorting_knows_numbers() -> None:
    rows = [("b", "10"), ("a", "9.5"), (None, None), ("c", "x")]
    assert ordered(rows, LiveView(sort=1)) == [(None, None), ("a", "9.5"), ("b", "10"), ("c", "x")]
    assert [r[0] for r in ordered(rows, LiveView(sort=0, descending=True))] == ["c", "b", "a", None]
    assert ordered(rows, LiveView()) == rows


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("n n", LiveView(page=2)), ("n p p", LiveView(page=0)), ("n n n n n n", LiveView(page=3)), ("l", LiveView(page=None)), ("l p", LiveView(page=2)),
        ("g 2 enter", LiveView(page=1)), ("g 9 9 enter", LiveView(page=3)), ("g enter n", LiveView(page=1)), ("g 2 escape", LiveView()), ("right right right", LiveView(column=1)),
        ("right s", LiveView(column=1, sort=1)), ("s s", LiveView(sort=0, descending=True)), ("s s s", LiveView()), ("o", LiveView(detail=True)), ("o n o", LiveView()),
        ("down down", LiveView(row=2)), ("up", LiveView()), ("down n", LiveView(page=1)), ("n up", LiveView(page=0, row=9)), ("+ + + + +", LiveView(speed=0)), ("-", LiveView(speed=4)),
        ("x", LiveView()),
    ],
)  # fmt: skip
def test_keys(keys: str, expected: LiveView) -> None:
    view = LiveView()
    for key in keys.split():
        view = pressed(key, view, 2, 35, 13)
    assert view == expected


def test_no_row_can_not_be_opened() -> None:
    assert not pressed("o", LiveView(), 1, 0, 13).detail


def test_a_screen() -> None:
    rows = [(f"item {i}", str(i)) for i in range(25)]
    lines = screen(["item", "n"], rows, LiveView(page=1, row=1, column=1, sort=1), (40, 13), "Running", 30)
    assert len(lines) == 13
    assert all(len(text) == 40 for _, text in lines if text)
    assert lines[0] == ("title", "Running   page 2 of 3".ljust(40))
    assert [t.strip() for _, t in lines[2:5]] == ["item 10   10", "item 11   11", "item 12   12"]
    assert [s for s, _ in lines].index("selected") == 3
    last = screen(["item", "n"], rows, LiveView(page=None), (40, 13), "", 30)
    assert [t.strip() for _, t in last[2:7]] == ["item 20  20", "item 21  21", "item 22  22", "item 23  23", "item 24  24"]


def test_a_screen_is_never_wider_than_the_terminal() -> None:
    rows = [("価格" * 30, "x" * 100, "1")]
    for column in range(3):
        for _, text in screen(["a", "b", "c"], rows, LiveView(column=column), (50, 8), "T", 30):
            assert live.tableau.display_width(text) <= 50
    assert "1" in screen(["a", "b", "c"], rows, LiveView(column=2), (50, 8), "T", 30)[2][1]


@pytest.mark.parametrize(
    ("column", "width", "head", "of"),
    [
        (0, 70, "[number]  second column  the last column", ""),
        (0, 40, "[number]  second column", "   columns 1 to 2 of 3"),
        (2, 40, "second column  [the last column]", "   columns 2 to 3 of 3"),
        (0, 8, "[number]", ""),
        (1, 8, "[second", ""),
    ],
)
def test_columns_are_shown_whole_and_how_many_there_are(column: int, width: int, head: str, of: str) -> None:
    rows = [("12345678", "of sixteen chars", "of seventeen char")]
    title, heads, *_ = screen(["number", "second column", "the last column"], rows, LiveView(column=column), (width, 8), "T", 30)
    assert title[1] == f"T   page 1 of 1{of}"[:width].ljust(width)
    assert " ".join(heads[1].split()) == " ".join(head.split())


def test_a_row_alone() -> None:
    rows = [("a", "x" * 100), ("b", None)]
    shown = [t.rstrip() for _, t in screen(["id", "text"], rows, LiveView(detail=True), (50, 9), "T", 30)]
    assert shown[:5] == ["Row", "  id : a", "text : " + "x" * 43, "     : " + "x" * 43, "     : " + "x" * 14]
    assert [t.rstrip() for _, t in screen(["id", "text"], rows, LiveView(detail=True, row=1), (50, 9), "T", 30)][2] == "text : <NULL>"


def test_no_rows() -> None:
    assert len(screen(["a"], [], LiveView(), (30, 6), "T", 30)) == 6


def test_a_row_has_one_line_whatever_is_in_it() -> None:
    rows = [(f"{i}\nnext\x1b[2J", "x\ty") for i in range(25)]
    lines = screen(["i\nd", "t"], rows, LiveView(page=1), (60, 13), "T", 30)
    assert len(lines) == 13
    assert lines[2][1].split() == [r"10\nnext\u001b[2J", r"x\ty"]
    assert not any(c in text for _, text in lines for c in "\n\t\x1b")
    shown = [t.rstrip() for _, t in screen(["id", "t"], [("1\nnext\x1b[2J", "x\ty")], LiveView(detail=True), (60, 9), "T", 30)]
    assert shown[1:4] == ["id : 1", r"   : next\u001b[2J", r" t : x\ty"]


@pytest.mark.parametrize(
    ("width", "keys"),
    [
        (20, "q Quit   n p Page"),
        (80, "q Quit   n p Page   s Sort   o Open   ? Keys   <- -> Column   + - Refresh"),
        (140, "q Quit   n p Page   s Sort   o Open   ? Keys   <- -> Column   + - Refresh   l Last   g Go to   r Now   up down Row"),
    ],
)
def test_the_most_needed_keys_are_seen(width: int, keys: str) -> None:
    assert screen(["a"], [("1",)], LiveView(), (width, 6), "T", 30)[-1] == ("keys", keys.ljust(width))


def test_all_keys_are_listed() -> None:
    asked = pressed("?", LiveView(), 1, 1, 20)
    lines = screen(["a"], [("1",)], asked, (80, 20), "T", 30)
    assert [text.split()[0] for _, text in lines[1:4]] == ["q", "n", "s"]
    assert (len(lines), lines[-1][1].strip()) == (20, "q Back")
    assert len(screen(["a"], [("1",)], asked, (80, 5), "T", 30)) == 5
    assert [pressed(key, asked, 1, 1, 20) for key in ("q", "?", "escape")] == [LiveView()] * 3


def test_what_is_said_stands_above_the_rows() -> None:
    lines = screen(["n"], [("1",)], LiveView(), (20, 8), "Failed", 30, said=["It is broken, and no row comes."])
    assert [text.rstrip() for _, text in lines[1:5]] == ["It is broken, and no", "row comes.", "[n]", "1"] or lines[3][1].strip() == "n"
    assert len(lines) == 8 and all(len(text) <= 20 for _, text in lines)
