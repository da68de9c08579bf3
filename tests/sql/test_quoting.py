"""Names and texts as SQL writes them."""

import pytest
import sqlglot

from sqlstream.sql.quoting import flink_name, flink_string, quote, spark_string
from sqlstream.sql.statements.parsing import parse


@pytest.mark.parametrize("name", ["a", "$a", "größe", "a`b", "order", "a b", "1a", "a.b", "''", "²"])
def test_names_are_read_back(name):
    for written in (quote(name), flink_name(name)):
        assert parse(f"SELECT 1 AS {written}").selects[0].alias == name


def test_names_are_quoted_where_they_need_it():
    assert [flink_name(n) for n in ("a_1", "größe", "order", "a b", "a`")] == ["a_1", "größe", "`order`", "`a b`", "`a```"]


@pytest.mark.parametrize("text", ["", "it's", "''", "\\", "\\'", "a\nb\r\0", "\\n", "é"])
def test_texts_are_read_back(text):
    assert parse(f"SELECT {flink_string(text)}").selects[0].this == text
    written = spark_string(text)
    assert "\n" not in written and "\0" not in written
    if "\0" not in text:  # which sqlglot's Spark does not escape
        assert sqlglot.parse_one(f"SELECT {written}", read="spark").selects[0].this == text
