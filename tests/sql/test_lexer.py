"""The one lexer: text that is whole and text with open ends, and what reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlstream.core.errors import SyntaxProblem
from sqlstream.sql.statements.split import is_complete, placeholders, split, substitute
from sqlstream.sql.syntax.lexer import Kind, lexemes
from sqlstream.sql.syntax.tokens import tokenize, tolerant_tokens

SCRIPTS = [p.read_text("utf-8") for p in sorted(Path(__file__).parent.glob("scripts/*.sql"))]


def pieces(text, **how):
    return [f"{x.kind.value} {x.text}" for x in lexemes(text, **how)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT a.b", ["word SELECT", "word a", "sign .", "word b"]),
        ("'it''s' `a``b` ``", ["string 'it''s'", "quoted `a``b`", "quoted ``"]),
        (r"E'\'' u&'!0041' UESCAPE '!' x'0F' _utf8'a'", [r"string E'\''", "string u&'!0041' UESCAPE '!'", "string x'0F'", "string _utf8'a'"]),
        ("1.5e3 .5 1e", ["number 1.5e3", "number .5", "number 1", "word e"]),
        ("a--b\n//c\n/*d*/", ["word a", "comment --b", "comment //c", "comment /*d*/"]),
        ("'s3://a' kafka://b", ["string 's3://a'", "word kafka", "sign :", "sign /", "sign /", "word b"]),
        ("/*+ h */ => || <>", ["sign /*+", "word h", "sign */", "sign =>", "sign ||", "sign <>"]),
        ("x'0G'", ["word x", "string '0G'"]),
        ("é$1 $a", ["word é$1", "word $a"]),
    ],
)
def test_lexemes(text, expected):
    assert pieces(text) == pieces(text, open_ends=True) == expected
    assert not any(x.is_open for x in lexemes(text, open_ends=True))


@pytest.mark.parametrize(
    ("text", "last"), [("a 'b; -- c", "'b; -- c"), ("a 'b''", "'b''"), ("`", "`"), ("/* b", "/* b"), (r"E'b\'", r"E'b\'"), ("U&'b", "U&'b")]
)
def test_what_is_open_reaches_to_the_end(text, last):
    *_, found = lexemes(text, open_ends=True)
    assert (found.text, found.is_open, found.end) == (last, True, len(text))


def test_without_open_ends_their_signs_stand_alone():
    assert pieces("a 'b") == ["word a", "sign '", "word b"]
    for text in ("'b", "`b", "/* b", "``"):
        with pytest.raises(SyntaxProblem) as caught:
            tokenize(f"SELECT {text}")
        assert caught.value.at == len("SELECT ")


@pytest.mark.parametrize("script", SCRIPTS)
def test_nothing_is_lost_and_all_readers_agree(script):
    at = 0
    for lexeme in lexemes(script, open_ends=True):
        assert not script[at : lexeme.start].strip()
        assert script[lexeme.start : lexeme.end] == lexeme.text
        at = lexeme.end
    assert not script[at:].strip()
    strict = [(t.token_type, t.text, t.start, t.end) for t in tokenize(script)]
    words = {x.start for x in lexemes(script) if x.kind is not Kind.COMMENT}
    assert strict == [(t.token_type, t.text, t.start, t.end) for t in tolerant_tokens(script) if t.start in words]
    assert words >= {s.start for s in split(script)}


def test_tokens_have_lines_and_columns():
    assert [(t.line, t.col) for t in tokenize("a\n 'b\nc' -- d\n  e")] == [(1, 1), (2, 2), (4, 3)]


def test_tolerant_tokens_keep_what_is_wrong():
    assert [t.text for t in tolerant_tokens("a \"b U&'\\00zz")] == ["a", '"', "b", "U&'\\00zz"]
    assert tolerant_tokens("password = 'hunter2")[-1].text == "hunter2"


@pytest.mark.parametrize("text", ["'{}'", "'{}", "/*{}*/", "/*{}", "`{}`", "-- {}", "{}"])
@pytest.mark.parametrize("filling", ["a", " ", "''", "/*"])
def test_long_text_takes_no_time_to_speak_of(text, filling):
    # What grew with the square of the length would never end.
    assert split(f"SELECT {text.format(filling * 200_000)};")


def test_hints_are_read_as_the_parser_reads_them():
    assert [name for name, _, _ in placeholders("SELECT :a /*+ OPTIONS('k' = :b) */ -- :c\n, ':d', x::e")] == ["a", "b"]
    assert len(split("SELECT /*+ OPTIONS('k' = 'a;*/') */ 1; SELECT 2;")) == 2
    assert not is_complete("SELECT 1 /*+ OPTIONS('k' = 'v';")
    assert is_complete("SELECT 1 /*+ OPTIONS('k' = 'it''s') */;")
    with pytest.raises(SyntaxProblem):
        substitute("SELECT 1 /*+ OPTIONS(${unknown}) */", {})
