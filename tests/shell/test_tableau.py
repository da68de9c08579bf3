"""The layout against text recorded from real Flink 2.3's client."""

import pytest

from sqlstream.shell import tableau

# SELECT v FROM (VALUES ...) with table.display.max-column-width = 12.
STREAMED = """\
|       中文字 |
|          abc |
|   中文字符串 |
|  中文字符... |
|          😀 |
| 😀😀😀😀 |
| 😀😀😀... |
|  a😀😀?... |
|  aa😀😀... |
| two lines... |
|     tab  tab |
|       <NULL> |"""
CELLS = (
    "中文字", "abc", "中文字符串", "中文字符串过长了", "😀", "😀😀😀😀", "😀😀😀😀😀", "a😀😀😀😀😀", "aa😀😀😀😀😀",
    "two lines over\nlines", "tab  tab", None,
)  # fmt: skip
BATCH = """\
+--------------+--------+
| a_name_lo... |      n |
+--------------+--------+
|          abc | <NULL> |
| 123456789... | <NULL> |
+--------------+--------+"""
# A name counts its UTF-16 units, however wide it looks.
WIDE_NAME = """\
+-----+
| ... |
+-----+
|   x |
| 😀 |
+-----+"""
# The lines of a cell count together; the recorded border is 182 wide.
VIEW = (
    "CREATE VIEW `default_catalog`.`default_database`.`v` (\n  `id`,\n  `c`\n)\nAS SELECT `t`.`id`, COUNT(*) AS `c`\n"
    "FROM `default_catalog`.`default_database`.`t` AS `t`\nGROUP BY `t`.`id`\n"
)
BORDER = "+" + "-" * 180 + "+"
SHOW_CREATE = f"{BORDER}\n| {'result':>178} |\n{BORDER}\n| {VIEW} |\n{BORDER}"


def test_cells_are_aligned_and_cut_as_flink_does():
    assert "\n".join(tableau.line([c], [12]) for c in CELLS) == STREAMED


@pytest.mark.parametrize(
    ("names", "rows", "limit", "expected"),
    [
        (["a_name_longer_than_twelve", "n"], [("abc", None), ("1234567890123456789", None)], 12, BATCH),
        (["中文字"], [("x",), ("😀",)], 12, WIDE_NAME),
        (["result"], [(VIEW,)], None, SHOW_CREATE),
        (["b", "e"], [("TRUE", "")], 30, "+------+---+\n|    b | e |\n+------+---+\n| TRUE |   |\n+------+---+"),
        (["e"], [], 30, ""),
    ],
)
def test_a_table_is_as_wide_as_its_content(names, rows, limit, expected):
    assert "\n".join(tableau.table(names, rows, limit)) == expected


def test_footers():
    assert [tableau.in_set(n) for n in (0, 1, 2)] == ["Empty set", "1 row in set", "2 rows in set"]
    assert [tableau.received(n, terminated=False) for n in (0, 1, 2)] == [
        "Received a total of 0 row", "Received a total of 1 row", "Received a total of 2 rows",
    ]  # fmt: skip
    assert tableau.received(2, terminated=True) == "Query terminated, received a total of 2 rows"


def test_control_characters_can_be_escaped():
    assert tableau.escaped("a\nb\tc\r\x1b[2J\x7f\u2028é") == r"a\nb\tc\r\u001b[2J\u007f\u2028é"
    assert tableau.escaped_row(("1", None, "\0")) == ("1", None, r"\u0000")
