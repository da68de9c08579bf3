"""JSON of others is read, or is none, whatever it holds and whatever else runs."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING

import pytest

from sqlstream.core import foreign_json
from sqlstream.core.depth import deeply

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def a_statement_runs() -> Iterator[None]:
    """One that has room for deep nesting, so that Python's limit is far off for every thread."""
    begun, end = threading.Event(), threading.Event()

    def statement() -> bool:
        begun.set()
        return end.wait()

    thread = threading.Thread(target=lambda: deeply(statement))
    thread.start()
    begun.wait()
    yield
    end.set()
    thread.join()


@pytest.mark.usefixtures("a_statement_runs")
@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000, '[""' + ',["x\\""' * 5_000], ids=range(4))
def test_one_that_is_nested_deeply_is_none(text: str) -> None:
    for given in (text, text.encode(), text.encode("utf-16")):
        with pytest.raises(ValueError, match="JSON of more than 900 levels"):
            foreign_json.read(given)


@pytest.mark.parametrize(
    "value",
    [{"a": "é[{" * 10_000}, [[]] * 10_000, [{"a": ["]"]}] * 5_000, json.loads("[" * 900 + "]" * 900), ['\\"[', "[\\"] * 1_000, "𝄞", None, 1.5],
    ids=range(8),
)
def test_all_others_are_read(value: object) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        for given in (text, text.encode(), text.encode("utf-16")):
            assert foreign_json.read(given) == value


@pytest.mark.parametrize("text", ["", "[", '"', "nul", "]" * 2_000 + "[" * 800, b"\xff\xfe\x00", b"\xff"], ids=range(7))
def test_no_json(text: str | bytes) -> None:
    with pytest.raises(ValueError):
        foreign_json.read(text)


def test_the_time_grows_with_the_text_alone() -> None:
    began = time.monotonic()
    with pytest.raises(ValueError):
        foreign_json.read("[" * 1_000 + '"' + '\\"' * 1_000_000)
    assert time.monotonic() - began < 5
