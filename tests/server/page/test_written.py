"""Numbers and times as a page writes them."""

from __future__ import annotations

import pytest

from sqlstream.server.page.written import ago, behind, length_of, moment, number, size_of


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, '<data value="0" data-as="number">0</data>'),
        (1204, '<data value="1204" data-as="number">1,204</data>'),
        (1204.26, '<data value="1204.3" data-as="number">1,204</data>'),
        (0.26, '<data value="0.3" data-as="number">0.3</data>'),
        (None, '<span class="soft">-</span>'),
    ],
)
def test_numbers(value: float | None, expected: str) -> None:
    assert str(number(value)) == expected


def test_sizes_and_lengths() -> None:
    assert str(size_of(1_234_567)) == '<data value="1234567" data-as="bytes">1.2 MB</data>'
    assert str(length_of(0.04)) == '<data value="0.0" data-as="duration">0.0 s</data>'
    assert str(length_of(59.9)) == '<data value="59.9" data-as="duration">59 s</data>'
    assert str(length_of(60)) == '<data value="60.0" data-as="duration">1 min</data>'
    assert str(length_of(200_000)) == '<data value="200000.0" data-as="duration">2 d</data>'
    assert str(size_of(None)) == str(length_of(None)) == str(ago(None)) == str(behind(None)) == str(moment(None)) == '<span class="soft">-</span>'


@pytest.mark.parametrize(
    ("late", "expected"),
    [
        (2.0, '<time datetime="2023-11-14T22:13:20Z" title="2023-11-14T22:13:20Z">2.0 s behind</time>'),
        (-90.0, '<time datetime="2023-11-14T22:13:20Z" title="2023-11-14T22:13:20Z">1 min ahead</time>'),
        # What is replayed is of a date.
        (4e8, '<time datetime="2023-11-14T22:13:20Z" title="2023-11-14T22:13:20Z" data-as="moment">2023-11-14 22:13:20</time>'),
    ],
)
def test_watermarks(late: float, expected: str) -> None:
    assert str(behind(1_700_000_000.0, 1_700_000_000.0 + late)) == expected


def test_moments() -> None:
    assert str(ago(1_700_000_000.0, 1_700_003_600.0)) == '<time datetime="2023-11-14T22:13:20Z" title="2023-11-14T22:13:20Z">1 h</time>'
    assert str(moment(1_700_000_000.0)) == '<time datetime="2023-11-14T22:13:20Z" data-as="moment">2023-11-14 22:13:20</time>'
    # A watermark of the end of all input, and one before the calendar.
    assert "2286" in str(moment(9_999_999_999.0)) and "T" in str(behind(253_402_300_799_999.0, 0.0)) and "T" in str(behind(-9e13, 0.0))
