"""Spark's files of offsets: how far a query has read each of its sources, and what it keeps for as long as its checkpoint is there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlstream.core.storage import Place

# Of a source that was not read.
_NONE = "-"


def read_offsets(text: str, sources: Sequence[str]) -> dict[str, str]:
    """How far ``sources``, the names of a query's in their order, were read by the file with this text: Spark's texts, without those that were not.

    Version 2 names the source before each offset, version 1 goes by the order.
    """
    version, _, *lines = text.strip().split("\n")
    found = dict(line.partition(":")[::2] for line in lines) if version == "v2" else dict(zip(sources, lines, strict=False))
    return {name: found[name] for name in sources if found.get(name, _NONE) != _NONE}


def shuffle_partitions(checkpoint: Place) -> int | None:
    """Into how many partitions the query of ``checkpoint`` shuffles rows; None where it has not begun. Raises OSError, ValueError."""
    batches = [int(file.name) for file in checkpoint.glob("offsets/[0-9]*") if file.name.isdigit()]
    if not batches:
        return None
    _, metadata, *_ = (checkpoint / "offsets" / str(max(batches))).read_text().split("\n", 2)
    return int(json.loads(metadata)["conf"]["spark.sql.shuffle.partitions"])
