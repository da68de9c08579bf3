"""Samples of real jobs, recorded: one a line, with the tables that have a watermark."""

from __future__ import annotations

import json
from itertools import accumulate
from pathlib import Path

from sqlstream.runtime.monitor.metrics import JobMetrics, QueryMetrics, sampled

FOLDER = Path(__file__).with_name("recorded")


def recorded(name: str, *, times: int = 1) -> list[QueryMetrics]:
    """The figures after each sample, as though all had taken so many ``times`` as long."""
    lines = [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text().splitlines()]
    first = lines[0]["sample"]["at"]

    def further(before: QueryMetrics, line: dict) -> QueryMetrics:
        # They are of micro-batches, and of releases that did not look at the heap.
        sample = line["sample"]
        return sampled(
            before, {"real_time": False, "waits": False, "heap": None, **sample, "at": first + times * (sample["at"] - first)}, line["tables"]
        )

    return list(accumulate(lines, further, initial=QueryMetrics()))[1:]


def job(*queries: QueryMetrics, status: str = "RUNNING", error: str | None = None) -> JobMetrics:
    return JobMetrics("0123abcd", "insert-into_default_catalog.default_database.answers", status, 0.0, queries, error)
