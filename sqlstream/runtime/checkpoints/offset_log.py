"""Spark's files of offsets: how far a query has read each of its sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# Of a source that was not read.
_NONE = "-"


def read_offsets(text: str, sources: Sequence[str]) -> dict[str, str]:
    """How far ``sources``, the names of a query's in their order, were read by the file with this text, as Spark's texts; without those that were not.

    Version 2 names the source before each offset, version 1 goes by the order.
    """
    version, _, *lines = text.strip().split("\n")
    found = dict(line.partition(":")[::2] for line in lines) if version == "v2" else dict(zip(sources, lines, strict=False))
    return {name: found[name] for name in sources if found.get(name, _NONE) != _NONE}
