"""Outcomes as text, against what real Flink 2.3's client prints."""

import io
import re
import time
from types import SimpleNamespace

import pytest

from sqlstream.core.changelog import Change, RowKind
from sqlstream.core.errors import ValidationError
from sqlstream.plan.nodes import Field
from sqlstream.session import results
from sqlstream.shell import fitting, tableau
from sqlstream.shell.screen import Screen
from sqlstream.shell.views import show, type_width
from sqlstream.sql import types as t

SILENT = {"sql-client.display.print-time-cost": "false"}
# SELECT CAST(1 AS TINYINT) AS t, CAST(NULL AS TINYINT) AS tn, CAST(-5 AS SMALLINT) s, ...
COLUMNS = (
    ("t", t.TINYINT.not_null(), "1"),
    ("tn", t.TINYINT, None),
    ("s", t.SMALLINT.not_null(), "-5"),
    ("i", t.INT.not_null(), "1"),
    ("b", t.BIGINT.not_null(), "1"),
    ("d", t.decimal(10, 2).not_null(), "1.50"),
    ("dn", t.decimal(3, 1), None),
    ("bo", t.BOOLEAN, "TRUE"),
    ("da", t.DATE.not_null(), "2020-01-01"),
    ("ti", t.time(0).not_null(), "10:00:00"),
    ("ts", t.timestamp(3).not_null(), "2020-01-01 00:00:00.123"),
    ("ts0", t.timestamp(0).not_null(), "2020-01-01 00:00:00"),
    ("c3", t.char(3).not_null(), "x  "),
    ("ltz6", t.timestamp_ltz(6), "1970-01-01 00:00:00.000000"),
)
STREAMED = """\
+----+------+--------+--------+-------------+----------------------+--------------+--------+--------+------------+----------+-------------------------+---------------------+--------------------------------+----------------------------+
| op |    t |     tn |      s |           i |                    b |            d |     dn |     bo |         da |       ti |                      ts |                 ts0 |                             c3 |                       ltz6 |
+----+------+--------+--------+-------------+----------------------+--------------+--------+--------+------------+----------+-------------------------+---------------------+--------------------------------+----------------------------+
| +I |    1 | <NULL> |     -5 |           1 |                    1 |         1.50 | <NULL> |   TRUE | 2020-01-01 | 10:00:00 | 2020-01-01 00:00:00.123 | 2020-01-01 00:00:00 |                            x   | 1970-01-01 00:00:00.000000 |
+----+------+--------+--------+-------------+----------------------+--------------+--------+--------+------------+----------+-------------------------+---------------------+--------------------------------+----------------------------+
Received a total of 1 row
"""
UPDATED = """\
+----+-------------+
| op |           i |
+----+-------------+
| +I |           1 |
| -U |           1 |
| +U |           2 |
| -D |           2 |
+----+-------------+
Received a total of 4 rows
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(screen, outcome, options=SILENT, stopped=False):
    show(outcome, screen, options, time.monotonic(), lambda: stopped)
    return screen.out.getvalue()


ID = (Field("i", t.INT.not_null()),)


def stream(*rows, columns=ID):
    return results.Stream(columns=columns, changes=iter(rows))


INSERTED = Change(RowKind.INSERT, ("1",))


def test_a_stream_is_as_wide_as_its_types(screen):
    columns = tuple(Field(name, type_) for name, type_, _ in COLUMNS)
    row = Change(RowKind.INSERT, tuple(cell for _, _, cell in COLUMNS))
    assert shown(screen, stream(row, columns=columns)) == STREAMED


def test_a_stream_shows_what_each_row_does(screen):
    changes = [Change(kind, (cell,)) for kind, cell in zip(RowKind, ("1", "1", "2", "2"), strict=True)]
    assert shown(screen, stream(*changes)) == UPDATED


def test_a_stream_without_rows_has_no_last_border(screen):
    assert shown(screen, stream()).splitlines()[3:] == ["Received a total of 0 row"]


def test_an_interrupted_stream_says_so(screen):
    lines = shown(screen, stream(INSERTED, INSERTED), stopped=True).splitlines()
    assert lines[3:] == ["| +I |           1 |"] * 2 + ["Query terminated, received a total of 2 rows"]


@pytest.mark.parametrize("stopped", [False, True])
def test_a_stream_tells_its_time(screen, stopped):
    last = shown(screen, stream(INSERTED), {}, stopped).splitlines()[-1]
    assert re.search(r"a total of 1 row \(\d\.\d\d seconds\)$", last)


def test_rows_are_printed_as_they_come(screen):
    seen = []

    def changes():
        seen.append(screen.out.getvalue())
        yield INSERTED
        seen.append(screen.out.getvalue())

    shown(screen, results.Stream(columns=(Field("i", t.INT),), changes=changes()))
    assert [len(text.splitlines()) for text in seen] == [3, 4]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 30),
        ({"sql-client.display.max-column-width": "12"}, 12),
        ({"sql-client.display.max-column-width": "12", "table.display.max-column-width": "15"}, 15),
    ],
)
def test_the_widest_column(screen, options, expected):
    shown(screen, stream(columns=(Field("s", t.STRING),)), options | SILENT)
    assert screen.out.getvalue().splitlines()[0] == "+----+" + "-" * (expected + 2) + "+"


def test_a_query_cuts_wide_cells_and_shows_its_time_and_show_does_neither(screen):
    columns, rows = (Field("s", t.STRING),), (("x" * 40,),)
    text = shown(screen, results.Rows(columns=columns, rows=rows, query=True), {})
    assert f"| {'x' * 27}... |" in text
    assert text.splitlines()[-1].startswith("1 row in set (")
    text = shown(screen, results.Rows(columns=columns, rows=rows), {})
    assert text.endswith(f"| {'x' * 40} |\n+{'-' * 42}+\n1 row in set\n")


@pytest.mark.parametrize(("terminal", "mode", "cell"), [(True, "table", r"a\nb"), (True, "tableau", r"a\nb"), (False, "table", "a\nb")])
def test_a_terminal_is_left_as_it_is(screen, terminal, mode, cell):
    """Flink's client, tableau: SELECT U&'a\\000Ab' breaks the line."""
    screen.out = Terminal() if terminal else screen.out
    outcome = results.Rows(columns=(Field("s", t.STRING),), rows=(("a\nb",),), query=True)
    assert shown(screen, outcome, SILENT | {"sql-client.execution.result-mode": mode}).splitlines()[3:-2] == f"| {cell} |".splitlines()


WIDE_WORDS = (("7", "the sum of the amounts of a day"), ("8", None))


def terminal(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    return Screen(out=Terminal(), err=Terminal())


@pytest.mark.parametrize("columns", [80, 30, 20])
def test_no_line_of_an_answer_is_wider_than_the_terminal(monkeypatch, columns):
    rows = (("7", "the sum of the amounts of a day"), ("8", None), ("9", "日本語" * 20), ("10", "x" * 90), ("11", "two\nlines"), ("", ""))
    for query in (True, False):
        said = shown(terminal(monkeypatch, columns), results.text_rows(("n", "what is meant"), rows, query=query), SILENT).splitlines()
        # A word that is torn can't be copied.
        assert all(tableau.display_width(line) <= columns or "x" * 90 in line for line in said), said


def test_what_has_room_is_a_table_as_flink_has_it(monkeypatch):
    outcome = results.text_rows(("n", "what"), WIDE_WORDS)
    assert shown(terminal(monkeypatch, 41), outcome).splitlines()[3] == "| 7 | the sum of the amounts of a day |"
    piped = Screen(out=io.StringIO(), err=io.StringIO())
    monkeypatch.setenv("COLUMNS", "20")
    assert shown(piped, outcome).splitlines()[3] == "| 7 | the sum of the amounts of a day |"


def test_cells_of_a_narrow_table_go_on_below(monkeypatch):
    assert shown(terminal(monkeypatch, 23), results.text_rows(("n", "what"), WIDE_WORDS)).splitlines()[3:6] == [
        "| 7 | the sum of the  |", "|   | amounts of a    |", "|   | day             |",
    ]  # fmt: skip


@pytest.mark.parametrize("mode", ["table", "tableau"])
def test_rows_without_room_are_shown_one_by_one(monkeypatch, mode):
    names = [f"column_{i}" for i in range(5)]
    outcome = results.Rows(columns=tuple(Field(n, t.STRING) for n in names), rows=(tuple("x" * 40 for _ in names), (None,) * 5), query=True)
    options = SILENT | {"sql-client.execution.result-mode": mode}
    said = shown(terminal(monkeypatch, 60), outcome, options).splitlines()
    assert said[:2] == ["-[ row 1 ]".ljust(60, "-"), f"column_0 : {'x' * 40}"]
    assert said[6:] == ["-[ row 2 ]".ljust(60, "-"), *(f"{n} : <NULL>" for n in names), "2 rows in set"]
    # Of a table, each cell is cut as Flink cuts it.
    assert f"| {'x' * 27}... |" in shown(terminal(monkeypatch, 200), outcome, options)
    assert f"| {'x' * 27}... |" in shown(terminal(monkeypatch, 60), outcome, options | {"sql-client.display.expanded": "off"})


def test_what_is_blank_is_left_out_of_a_row_that_stands_by_itself(monkeypatch):
    rows = (("id", "B" * 40, None, "x" * 40, "y" * 40), ("time", "T" * 40, "P" * 40, None, ""))
    outcome = results.text_rows(("name", "type", "key", "extras", "watermark"), rows, blank=True)
    assert [line.partition(" :")[0].strip().rstrip("-") for line in shown(terminal(monkeypatch, 60), outcome).splitlines()] == [
        "-[ row 1 ]", "name", "type", "extras", "watermark", "-[ row 2 ]", "name", "type", "key", "2 rows in set",
    ]  # fmt: skip


def test_lines_of_prose_end_between_words(monkeypatch):
    verdict = "state  GroupAggregate  kept  its state was computed from rows of the earlier statement\n"
    outcome = results.text_rows(("result",), ((verdict,),), is_prose=True)
    assert shown(terminal(monkeypatch, 40), outcome).splitlines() == [
        "state  GroupAggregate  kept  its state", "       was computed from rows of the", "       earlier statement", "", "1 row in set",
    ]  # fmt: skip
    assert verdict.strip() in shown(terminal(monkeypatch, 100), outcome)


def test_what_few_rows_have_stands_below_them(monkeypatch):
    """As the watermark of one column, in DESCRIBE."""
    rows = (("id", "BIGINT", "", None), ("t", "TIMESTAMP_LTZ(3) *ROWTIME*", "AS `TO_TIMESTAMP_LTZ`(`at`, 3)", "`t` - INTERVAL '5' SECOND" + " x" * 20),
            ("n", "INT", None, None))  # fmt: skip
    said = shown(terminal(monkeypatch, 50), results.text_rows(("name", "type", "extras", "watermark"), rows)).splitlines()
    assert said == [
        "+------+----------------------------+",
        "| name |                       type |",
        "+------+----------------------------+",
        "|   id |                     BIGINT |",
        "|    t | TIMESTAMP_LTZ(3) *ROWTIME* |",
        "  - extras: AS `TO_TIMESTAMP_LTZ`(`at`, 3)",
        "  - watermark: `t` - INTERVAL '5' SECOND x x x x x",
        "    x x x x x x x x x x x x x x x",
        "|    n |                        INT |",
        "+------+----------------------------+",
        "3 rows in set",
    ]
    # Not where a row has most of them.
    assert shown(terminal(monkeypatch, 50), results.text_rows(("name", "type", "extras", "watermark"), rows[1:2])).startswith("-[ row 1 ]")


def test_a_path_that_has_no_room_stands_whole_below_its_row():
    path = f"/home/someone/{'projects/' * 4}.sqlstream/log"
    detached = [*fitting.lines(("job name", "log", "what stops it"), (), [("orders", path, "sqlstream jobs stop orders")], 60)]
    assert detached == [
        "+----------+----------------------------+",
        "| job name |              what stops it |",
        "+----------+----------------------------+",
        "|   orders | sqlstream jobs stop orders |",
        "  - log:",
        path,
        "+----------+----------------------------+",
    ]
    described = [*fitting.lines(("info name", "info value"), (), [("status", "RUNNING"), ("checkpoint", path)], 60)]
    assert described[3:-1] == ["|     status |    RUNNING |", "| checkpoint |            |", path]
    assert [*fitting.lines(("info name", "info value"), (), [("status", "RUNNING"), ("checkpoint", path)], 70)][-2] == f"  - {path}"


def test_sentences_are_wrapped_once(monkeypatch):
    text = results.Text(lines="a: " + "word " * 60 + "\n    " + "more " * 60, is_prose=True)
    for columns, widest in ((60, 60), (200, 110)):
        said = shown(terminal(monkeypatch, columns), text).splitlines()
        assert all(widest - 6 < len(line) <= widest for line in said[:1] + said[-3:-1]), said


def test_json_is_shown_part_by_part(monkeypatch):
    value = '{"id":1.10,"who":{"name":"a, b","tags":["x","y"],"none":[]},"text":"' + "word " * 10 + '"}'
    said = shown(terminal(monkeypatch, 40), results.text_rows(("value",), ((value,), ("{no json" + "x" * 40,)))).splitlines()
    assert said[1:4] == ["value : {", '      :   "id": 1.10,', '      :   "who": {']
    assert "".join(line[8:].strip() for line in said[1 : said.index("-[ row 2 ]".ljust(40, "-"))]).replace(" ", "") == value.replace(" ", "")


def test_one_text_of_several_lines_can_be_copied(monkeypatch):
    text = "CREATE TABLE t (\n  a INT\n)"
    assert shown(terminal(monkeypatch, 80), results.text_rows(("result",), ((text,),))) == f"{text}\n1 row in set\n"


def test_a_stream_is_shown_row_by_row_on_request(monkeypatch):
    columns = (Field("a", t.STRING), Field("b", t.INT))
    changes = [Change(RowKind.INSERT, ("x", "1")), Change(RowKind.DELETE, ("x\x1b[2J", None))]

    def said(width, wanted):
        options = SILENT | {"sql-client.execution.result-mode": "tableau", "sql-client.display.expanded": wanted}
        return shown(terminal(monkeypatch, width), results.Stream(columns=columns, changes=iter(changes)), options).splitlines()

    expanded = ["-[ +I ]", "a : x", "b : 1", "-[ -D ]", "a : x\\u001b[2J", "b : <NULL>", "Received a total of 2 rows"]
    assert [line.rstrip("-") if line.startswith("-[") else line for line in said(100, "on")] == expanded
    assert said(30, "auto") == said(30, "on")
    assert said(100, "auto") == said(30, "off") and said(100, "auto")[0].startswith("+--")


def test_texts_of_a_stream_go_on_below_on_a_narrow_terminal(monkeypatch):
    """Columns of any text are as wide as Flink's where there is room."""
    columns = (Field("a", t.STRING), Field("text", t.STRING), Field("b", t.INT))
    changes = [
        Change(RowKind.INSERT, ("x", " one two ", "1")),
        Change(RowKind.INSERT, ("y" * 40, "a text of several words", None)),
        Change(RowKind.DELETE, (None, "日本語のテキストです", "2")),
    ]

    def said(width):
        options = SILENT | {"sql-client.execution.result-mode": "tableau"}
        return shown(terminal(monkeypatch, width), results.Stream(columns=columns, changes=iter(changes)), options).splitlines()

    assert said(51) == [
        "+----+--------------+---------------+-------------+",
        "| op |            a |          text |           b |",
        "+----+--------------+---------------+-------------+",
        "| +I |            x |      one two  |           1 |",
        "| +I | yyyyyyyyyyyy | a text of     |      <NULL> |",
        "|    | yyyyyyyyyyyy | several words |             |",
        "|    | yyy...       |               |             |",
        "| -D |       <NULL> | 日本語のテキ  |           2 |",
        "|    |              | ストです      |             |",
        "+----+--------------+---------------+-------------+",
        "Received a total of 3 rows",
    ]
    assert f"| {'y' * 27}... |" in said(87)[4] and said(87) == said(200)
    assert said(48)[0] == "-[ +I ]".ljust(48, "-")


def test_texts_of_a_query_go_on_below_on_a_narrow_terminal(monkeypatch):
    columns = (Field("a", t.STRING), Field("text", t.STRING), Field("b", t.INT))
    outcome = results.Rows(columns=columns, rows=(("x", "y", "12345"), ("y" * 40, "a text of several words", None)), query=True)
    assert shown(terminal(monkeypatch, 41), outcome, SILENT).splitlines() == [
        "+--------------+---------------+--------+",
        "|            a |          text |      b |",
        "+--------------+---------------+--------+",
        "|            x |             y |  12345 |",
        "| yyyyyyyyyyyy | a text of     | <NULL> |",
        "| yyyyyyyyyyyy | several words |        |",
        "| yyy...       |               |        |",
        "+--------------+---------------+--------+",
        "2 rows in set",
    ]
    assert f"| {'y' * 27}... |" in shown(terminal(monkeypatch, 200), outcome, SILENT)


def test_an_empty_set_has_no_table(screen):
    assert shown(screen, results.Rows(columns=(Field("s", t.STRING),))) == "Empty set\n"


WHY = """\
totals
  The window is open: the watermark is at
  10:00.
    SET 'a' = 'b' before the INSERT leaves
    out a-b.
  Nothing else.
"""


def test_advice_is_text_in_a_terminal_and_rows_elsewhere(screen, monkeypatch):
    monkeypatch.setenv("COLUMNS", "42")
    rows = (
        ("totals", "The window is open: the watermark is at 10:00.", "SET 'a' = 'b' before the INSERT leaves out a-b."),
        ("totals", "Nothing else.", None),
    )
    advice = results.Advice(columns=results.text_columns(("job", "reason", "what to do")), rows=rows)
    assert "| totals |                                  Nothing else. |" in shown(screen, advice)
    screen.out.truncate(screen.out.seek(0))
    screen.interactive = True
    assert shown(screen, advice) == WHY


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (results.Done(), "[INFO] Execute statement succeeded.\n"),
        (results.Completed(), "[INFO] Complete execution of the SQL update statement.\n"),
        (
            results.Submitted(job_id="c7ac"),
            "[INFO] Submitting SQL update statement to the cluster...\n"
            "[INFO] SQL update statement has been successfully submitted to the cluster:\nJob ID: c7ac\n",
        ),
        (results.HeldBack(job_id="c7ac"), ""),
        (results.Declined(notices=("Nothing was done.",)), "[NOTICE] Nothing was done.\n"),
        (results.Done(notices=("a", "b")), "[NOTICE] a\n[NOTICE] b\n[INFO] Execute statement succeeded.\n"),
    ],
)
def test_messages_are_no_results(screen, outcome, expected):
    assert shown(screen, outcome) == ""
    assert screen.err.getvalue() == expected


def test_text_is_printed_as_it_is(screen):
    assert shown(screen, results.Text(lines="one\n\ntwo\n")) == "one\n\ntwo\n"


@pytest.mark.parametrize(
    ("type_", "width"),
    [
        (t.time(3), 12),
        (t.timestamp(9), 29),
        (t.DOUBLE, 30),
        (t.array(t.INT), 30),
        (t.TINYINT, 6),
        (t.decimal(38, 18), 40),
    ],
)
def test_widths_of_types(type_, width):
    assert type_width(type_, 30) == width


HOSTILE = "a\x1b[2J\x9b31m\r\n| +I | 7 |\tb\x07"
TAMED = "a\\u001b[2J\\u009b31m\\r\\n| +I | 7 |\\tb\\u0007"
TEXT = (Field("s\x1b[H", t.STRING),)


@pytest.mark.parametrize("output", ["tableau", "csv", "json"])
@pytest.mark.parametrize("made", [
    lambda: results.Stream(columns=TEXT, changes=iter([Change(RowKind.INSERT, (HOSTILE,))])),
    lambda: results.Rows(columns=TEXT, rows=((HOSTILE,),), query=True),
    lambda: results.Rows(columns=TEXT, rows=((HOSTILE,),)),
    lambda: results.Text(lines=HOSTILE),
    lambda: results.Done(notices=(HOSTILE,)),
])  # fmt: skip
def test_a_terminal_gets_nothing_of_the_data_that_it_obeys(made, output, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    screen = Screen(Terminal(), Terminal(), output=output)
    show(made(), screen, {**SILENT, "table.display.max-column-width": "100"}, time.monotonic(), lambda: False)
    screen.error(ValidationError(HOSTILE))
    screen.echo(HOSTILE)
    written = screen.out.getvalue() + re.sub(r"\x1b\[(34;1|31;1|0)m", "", screen.err.getvalue())
    assert not set(written) & set(map(chr, [*range(9), 11, 12, *range(14, 32), *range(127, 160)]))
    assert "\r" not in written.replace("\r\n", "\n")
    if output == "tableau" and getattr(made(), "query", isinstance(made(), results.Stream)):
        assert TAMED in screen.out.getvalue(), "no cell begins a line"


def test_a_file_gets_the_data_as_they_are() -> None:
    screen = Screen(io.StringIO(), io.StringIO())
    show(
        results.Rows(columns=TEXT, rows=((HOSTILE,),), query=True),
        screen,
        {**SILENT, "table.display.max-column-width": "100"},
        time.monotonic(),
        lambda: False,
    )
    assert HOSTILE in screen.out.getvalue()


def test_a_narrow_screen_has_no_columns_without_a_value(monkeypatch):
    outcome = results.text_rows(("name", "type", "comment of the column", "key"), (("a", "INT", "", None), ("b", "STRING", None, "")))
    assert "comment" in shown(terminal(monkeypatch, 80), outcome)
    assert shown(terminal(monkeypatch, 40), outcome).splitlines()[1] == "| name |   type |"
    nothing = results.text_rows(("name", "comment of the column"), ((None, None),))
    assert "name" in shown(terminal(monkeypatch, 10), nothing)


def test_a_result_that_fails_before_its_first_row_is_not_an_empty_one(monkeypatch):
    failing = SimpleNamespace(show=lambda *_: ValidationError("A row is wrong."))
    monkeypatch.setattr("sqlstream.shell.fullscreen.FullScreen", lambda *_, **__: failing)
    screen = terminal(monkeypatch, 80)
    screen.interactive = True
    with pytest.raises(ValidationError, match="A row is wrong."):
        show(stream(), screen, {}, 0.0, lambda: False)
    assert not screen.out.getvalue()
