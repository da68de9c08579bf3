"""The class of each piece of what is typed: no terminal."""

import pytest

from sqlstream.core.settings import COLOUR_SCHEMAS
from sqlstream.shell.highlighting import classes, style


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT price FROM orders", {"SELECT": "keyword", "FROM": "keyword"}),
        ("select Upper(item), count(*) from t", {"select": "keyword", "Upper": "function", "count": "function", "from": "keyword"}),
        ("SELECT t.user, t.`user`", {"SELECT": "keyword", "`user`": "quoted"}),
        ("SELECT 'it''s', 1.5e3, x'0f'", {"SELECT": "keyword", "'it''s'": "string", "1.5e3": "number", "x'0f'": "string"}),
        ("SELECT 'no end", {"SELECT": "keyword", "'no end": "string"}),
        ("SELECT 1 -- FROM 'x'\nFROM t", {"SELECT": "keyword", "1": "number", "-- FROM 'x'": "comment", "FROM": "keyword"}),
        ("/* no end SELECT", {"/* no end SELECT": "comment"}),
        ("t /*+ OPTIONS('a' = 'b') */", {"OPTIONS": "keyword", "'a'": "string", "'b'": "string"}),
        ("SHOW CATALOGS; USE x", {"SHOW": "keyword", "CATALOGS": "keyword", "USE": "keyword"}),
        ("SELECT CURRENT_DATE, my_udf(1)", {"SELECT": "keyword", "CURRENT_DATE": "function", "1": "number"}),
        ("CREATE TABLE t (a BIGINT, WATERMARK FOR a AS a)", {"CREATE": "keyword", "TABLE": "keyword", "BIGINT": "keyword", "WATERMARK": "keyword",
                                                             "FOR": "keyword", "AS": "keyword"}),
    ],
)  # fmt: skip
def test_classes(text, expected):
    pieces = classes(text)
    assert "".join(piece for _, piece in pieces) == text
    assert {piece: kind for kind, piece in pieces if kind} == expected


def test_without_words_only_the_rest_has_colours():
    assert [k for k, _ in classes("SELECT 'a'", words=False) if k] == ["string"]


def test_lines_are_kept():
    from prompt_toolkit.document import Document

    from sqlstream.shell.highlighting import SqlLexer

    line = SqlLexer(lambda: True).lex_document(Document("SELECT 'a\nb'\n\n, 1"))
    assert ["".join(text for _, text in line(i)) for i in range(5)] == ["SELECT 'a", "b'", "", ", 1", ""]
    assert line(1)[0] == ("class:sql.string", "b'")


@pytest.mark.parametrize("schema", COLOUR_SCHEMAS)
def test_each_schema_of_flinks_has_a_style(schema):
    assert style(schema).get_attrs_for_style_str("class:sql.keyword").color
