"""Time zones by their names: regions, as Europe/Prague, and offsets, as GMT+02:00. The names are Java's, which Flink and Spark take.

It runs in Spark's workers too.
"""

from __future__ import annotations

import datetime
import functools
import re
import zoneinfo

# The offsets of Java's ZoneId.
_OFFSET = re.compile(r"(?:GMT|UTC|UT)?([+-])(\d{1,2})(?::(\d{2})(?::(\d{2}))?)?", re.ASCII)
_UTC = ("UTC", "GMT", "UT", "Z")
_MOST = datetime.timedelta(hours=18)
# They are looked for on the disk.
_regions = functools.cache(zoneinfo.available_timezones)


def is_zone(name: str) -> bool:
    """Whether a time zone is called so."""
    return name in _UTC or _offset(name) is not None or name in _regions()


def zone_of(name: str) -> datetime.tzinfo:
    """The time zone that is called so. Raises ValueError, or KeyError, where none is."""
    if name in _UTC:
        return datetime.UTC
    offset = _offset(name)
    return zoneinfo.ZoneInfo(name) if offset is None else datetime.timezone(offset)


def _offset(name: str) -> datetime.timedelta | None:
    match = _OFFSET.fullmatch(name)
    if match is None:
        return None
    sign, hours, minutes, seconds = match.groups(default="0")
    if int(minutes) > 59 or int(seconds) > 59:
        return None
    size = datetime.timedelta(hours=int(hours), minutes=int(minutes), seconds=int(seconds))
    return None if size > _MOST else size if sign == "+" else -size
