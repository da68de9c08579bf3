"""Compares rows and prints figures. In: folders of JSON lines, seconds of runs. Out: text."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

TIME = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d+))?Z?")


@dataclass(frozen=True)
class Timing:
    """One timed run of a query on an engine."""

    engine: str
    query: str
    run: int
    seconds: float
    fixed: float  # the same query over the small topic, in the same process: what a job costs without events


def rows(folder: Path, *, values: bool = False) -> Counter[str]:
    """The rows of the files below ``folder`` and how often each is there, in one form whichever engine wrote it.

    ``values``: as the print connector writes a row, without names.
    """
    form = printed if values else canonical
    counted: Counter[str] = Counter()
    for path in folder.rglob("*"):
        if path.is_file() and not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts):
            with path.open(encoding="utf-8") as lines:
                counted.update(form(line) for line in lines)
    return counted


def final_rows(log: Path, query: str, key: int | None) -> Counter[str]:
    """The rows that are left of the changes that the print connector wrote into ``log`` for ``query``.

    ``key``: how many columns at the head say which earlier row an update replaces; None where what a row was is printed too.
    """
    counted: Counter[str] = Counter()
    latest: dict[str, str] = {}
    change = re.compile(rf"{query}(?::\d+)?> ([+-][IUD])\[(.*)\]$")
    with log.open(encoding="utf-8") as lines:
        for match in filter(None, map(change.search, lines)):
            comes, row = match[1] in ("+I", "+U"), match[2]
            if key is None:
                counted[row] += 1 if comes else -1
                continue
            own = ", ".join(row.split(", ")[:key])
            if comes:
                latest[own] = row
            else:
                latest.pop(own, None)
    return +counted if key is None else Counter(latest.values())


def printed(line: str) -> str:
    """A JSON object as the print connector writes a row."""
    return ", ".join(str(value) for value in json.loads(line).values())


def canonical(line: str) -> str:
    """A JSON object with its NULLs left out, numbers and times without trailing zeros."""
    row = json.loads(line, parse_float=Decimal)
    return json.dumps({k: _value(v) for k, v in sorted(row.items()) if v is not None})


def _value(value: object) -> str:
    if isinstance(value, str):
        if match := TIME.fullmatch(value):
            fraction = (match[3] or "").rstrip("0")
            return f"{match[1]} {match[2]}" + (f".{fraction}" if fraction else "")
        return value
    if isinstance(value, int | Decimal):
        return format(Decimal(value).normalize(), "f")
    return json.dumps(value)


def differences(query: str, found: dict[str, Counter[str]], until: dict[str, str]) -> Iterator[str]:
    """One line an engine: how its rows of ``query`` compare with those of the first engine in ``found``.

    ``until``: engines that are to give no window that ends after this time.
    """
    reference, expected = next(iter(found.items()))
    yield f"{query:16} {reference}: {expected.total():,} rows"
    for engine, got in list(found.items())[1:]:
        closed = _closed(expected, until[engine]) if engine in until else expected
        missing, extra = closed - got, got - closed
        if not missing and not extra:
            still_open = expected.total() - closed.total()
            yield f"{'':16} {engine}: equal" + (f", but for {still_open:,} rows of open windows" if still_open else "")
            continue
        yield f"{'':16} {engine}: DIFFERS, {missing.total():,} rows missing, {extra.total():,} too many"
        for sign, some in (("-", missing), ("+", extra)):
            yield from (f"{'':18} {sign} {row}" for row in list(some)[:2])


def _closed(counted: Counter[str], until: str) -> Counter[str]:
    return Counter({row: n for row, n in counted.items() if json.loads(row).get("window_end", "") <= until})


def states(sizes: dict[str, int]) -> str:
    """A line about the states that queries leave, in MiB."""
    large = [f"{query} {size / 2**20:,.0f}" for query, size in sizes.items() if size]
    return f"state of sqlstream on disk, MiB: {', '.join(large) or 'none'}"


def table(timings: Iterable[Timing], events: int) -> str:
    """Events a second of the best run of each query and engine, and the ratios that matter."""
    best: dict[tuple[str, str], Timing] = {}
    for t in timings:
        key = (t.query, t.engine)
        if key not in best or t.seconds < best[key].seconds:
            best[key] = t
    engines = [e for e in ("sqlstream", "pyspark", "flink") if any(key[1] == e for key in best)]
    head = ["query", *(f"{e} ev/s" for e in engines), *(f"{e} s (fixed)" for e in engines)]
    pairs = (("sqlstream", "flink"), ("sqlstream", "pyspark"), ("pyspark", "flink"))
    ratios = [pair for pair in pairs if {*pair} <= {*engines}]
    lines = [head + [f"{a}/{b}" for a, b in ratios]]
    for query in dict.fromkeys(key[0] for key in best):
        cells = [best.get((query, e)) for e in engines]
        line = [query, *(f"{events / c.seconds:,.0f}" if c else "-" for c in cells)]
        line += [f"{c.seconds:.1f} ({c.fixed:.1f})" if c else "-" for c in cells]
        for a, b in ratios:
            first, second = best.get((query, a)), best.get((query, b))
            line.append(f"{second.seconds / first.seconds:.2f}" if first and second else "-")
        lines.append(line)
    widths = [max(len(row[i]) for row in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in lines)
