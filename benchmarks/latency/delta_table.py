"""When a reader of a Delta table saw its rows: the second at which each commit was there."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmarks.latency.shapes import Arrival

_LOOK_S = 0.005


class Watched:
    """A table that is looked at all the time, until ``arrivals`` are asked for."""

    def __init__(self, table: Path) -> None:
        self._table = table
        self._seen: dict[Path, float] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._ended.wait(_LOOK_S):
            for commit in self._table.glob("_delta_log/*.json"):
                self._seen.setdefault(commit, time.time())

    def arrivals(self) -> Iterator[Arrival]:
        """The rows, each with the second at which its commit was seen."""
        from pyarrow import parquet

        self._ended.set()
        self._thread.join()
        for commit, at in sorted(self._seen.items()):
            for line in commit.read_text().splitlines():
                if (added := json.loads(line).get("add")) is not None:
                    for id_ in parquet.read_table(self._table / unquote(added["path"]), columns=["id"])["id"].to_pylist():
                        yield at, {"id": id_}
