"""Time zones are the same wherever one is named: in SET, in options, in figures, in Spark's workers."""

from __future__ import annotations

import datetime

import pytest

from sqlstream.core.zones import is_zone, zone_of
from sqlstream.runtime.monitor.figures import clock, moment

HOURS = {"Europe/Prague": 2.0, "UTC": 0.0, "Z": 0.0, "GMT": 0.0, "UT": 0.0, "GMT+2": 2.0, "+02:00": 2.0, "-3": -3.0, "UTC-03:30": -3.5, "UT+18:00": 18.0,
         "GMT+05:45": 5.75, "+00:00:36": 0.01, "America/St_Johns": -2.5}  # fmt: skip


@pytest.mark.parametrize("name", HOURS)
def test_a_zone(name: str) -> None:
    assert is_zone(name)
    offset = datetime.datetime(2024, 7, 1, tzinfo=zone_of(name)).utcoffset()
    assert offset is not None and offset.total_seconds() / 3600 == HOURS[name]


@pytest.mark.parametrize("name", ["", "Mars", "Europe/Prag", "+18:01", "GMT+25", "+1:60", "+01:00:60", "+1:2", "GMT+", "++1", "PST8", "١", "+٢"])
def test_what_is_none(name: str) -> None:
    assert not is_zone(name)
    with pytest.raises((ValueError, KeyError)):
        zone_of(name)


@pytest.mark.parametrize("name", HOURS)
def test_figures_are_shown_in_it(name: str) -> None:
    at = 1_719_792_000_000  # 2024-07-01 00:00 UTC
    shown = datetime.datetime(2024, 7, 1) + datetime.timedelta(hours=HOURS[name])
    assert moment(at, name) == f"{shown:%Y-%m-%d %H:%M:%S}"
    assert clock(at, name) == f"{shown:%H:%M:%S}"
