"""Literals: the type and value that real Flink gives each, or its refusal."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from sqlstream.core.errors import SqlStreamError
from sqlstream.sql.literals import literal
from sqlstream.sql.statements.parsing import parse

LINES = (Path(__file__).parent / "recorded" / "literals.txt").read_text().splitlines()
CASES = [line.split(" => ") for line in LINES]
READ = [case for case in CASES if not case[1].startswith("ERR")]
REFUSED = [(text, answer.removeprefix("ERR ")) for text, answer in CASES if answer.startswith("ERR")]
# Refused here: a day of the Julian calendar; an escape with six digits, of which Flink reads the first four.
STRICTER = ("DATE '1500-02-29'", "U&'\\+01F600'")
# Refused in other words.
REWORDED = (
    "INTERVAL '' DAY", "U&'\\26'", "E'\\u00'", "DATE '10000-01-01'", "TIMESTAMP '10000-01-01 00:00:00'", "X'ab' 'cd'",
    "INTERVAL '1000' SECOND(4)", "INTERVAL '1000' DAY(4)", "INTERVAL '1' DAY(7)",
)  # fmt: skip


def shown(value: object) -> str:
    """A value as Flink's plans show it."""
    match value:
        case bytes():
            return f"X'{value.hex()}'"
        case str():
            return f"'{value}'"
        case float():
            digits, _, exponent = f"{value:E}".partition("E")
            return f"{digits.rstrip('0').rstrip('.')}E{int(exponent)}"
        case dt.datetime() | dt.time():
            text = value.isoformat(*(" ",) if isinstance(value, dt.datetime) else ())
            return text.rstrip("0") if "." in text else text
    return str(value)


@pytest.mark.parametrize(("text", "answer"), READ, ids=[text for text, _ in READ])
def test_type_and_value(text: str, answer: str) -> None:
    if text in STRICTER:
        with pytest.raises(SqlStreamError):
            literal(parse(f"SELECT {text}").expressions[0])
        return
    found = literal(parse(f"SELECT {text}").expressions[0])
    assert found is not None
    type_, value = answer.split(" | ")
    assert found.type.full == type_
    # Times end at microseconds here; '?' is what the recording has no room for.
    assert value == "?" or shown(found.value) == value.replace("123456789", "123456")


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[text for text, _ in REFUSED])
def test_refused(text: str, message: str) -> None:
    with pytest.raises(SqlStreamError) as caught:
        literal(parse(f"SELECT {text}").expressions[0])
    assert caught.value.offset is not None
    if text not in REWORDED:
        assert caught.value.message == message


def test_escapes() -> None:
    found = literal(parse("SELECT E'a\\n\\t\\\\\\'b\\x41\\0'").expressions[0])
    assert found is not None
    assert found.value == "a\n\t\\'bA\0"


def test_strings_on_several_lines_are_one() -> None:
    found = literal(parse("SELECT 'a'\n  'b' -- c\n'd'").expressions[0])
    assert found is not None
    assert found.value == "abd"


@pytest.mark.parametrize("text", [text for text, _ in READ if text not in STRICTER])
def test_written_back_it_is_the_same(text: str) -> None:
    read = parse(f"SELECT {text}")
    assert parse(read.sql("flink")) == read
