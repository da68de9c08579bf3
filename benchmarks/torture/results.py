"""What runs have found, summed over them: kills by whom and when, rows by shape. Kept in a file of JSON, a line for each round."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.torture.load import Rows


@dataclass(frozen=True)
class Found:
    """How many rows had to be there, and how many of what is there are not as they have to be."""

    rows: int = 0
    lost: int = 0
    doubled: int = 0
    wrong: int = 0

    def __add__(self, other: Found) -> Found:
        return Found(self.rows + other.rows, self.lost + other.lost, self.doubled + other.doubled, self.wrong + other.wrong)

    @property
    def exact(self) -> bool:
        return self.lost == self.doubled == self.wrong == 0


def compared(wanted: Rows, there: Rows, key: int) -> Found:
    """What is there against what has to be; the first ``key`` columns name a row: one of other values is wrong, not lost as well."""
    missing, more = wanted - there, there - wanted
    strange = {row: n for row, n in more.items() if row not in wanted}
    replaced = Counter[tuple[int, ...]]()
    for row, n in strange.items():
        replaced[row[:key]] += n
    lost = Counter[tuple[int, ...]]()
    for row, n in missing.items():
        lost[row[:key]] += n
    return Found(wanted.total(), (lost - replaced).total(), more.total() - sum(strange.values()), sum(strange.values()))


@dataclass(frozen=True)
class Round:
    """Kills, after which all rows were compared. ``kills``: who was killed, and when, to how often. ``endings``: how often a client ended by itself.
    ``found`` by shape: of its rows those that have come or changed since the round before, and all that is not right.
    """

    seed: int
    number: int
    master: str
    seconds: float
    kills: dict[str, dict[str, int]]
    found: dict[str, Found]
    endings: int = 0
    upgrades: int = 0
    savepoints: int = 0

    @property
    def exact(self) -> bool:
        return all(found.exact for found in self.found.values())

    @property
    def killed(self) -> int:
        return sum(sum(when.values()) for when in self.kills.values())


def add(file: Path, one: Round) -> None:
    """Add a round to the file."""
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(asdict(one)) + "\n")


def read(file: Path) -> list[Round]:
    """The rounds of the file; none where there is none."""
    if not file.exists():
        return []
    rounds = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [Round(**{**one, "found": {name: Found(**rows) for name, rows in one["found"].items()}}) for one in rounds]


def table(rounds: list[Round]) -> str:
    """The sums of ``rounds``, as text."""
    killed: Counter[tuple[str, str]] = Counter()
    found: dict[str, Found] = {}
    for one in rounds:
        for who, times in one.kills.items():
            killed.update({(when, who): n for when, n in times.items()})
        for name, counts in one.found.items():
            found[name] = found.get(name, Found()) + counts
    whom = sorted({who for _, who in killed})
    moments = sorted({when for when, _ in killed}, key=lambda when: -sum(n for (w, _), n in killed.items() if w == when))
    hours = sum(one.seconds for one in rounds) / 3600
    seeds = len({one.seed for one in rounds})
    lines = [
        f"{killed.total()} kills in {len(rounds)} rounds of {seeds} runs, {hours:.1f} h; {sum(r.upgrades for r in rounds)} upgrades, "
        f"{sum(r.savepoints for r in rounds)} savepoints; a client ended by itself {sum(r.endings for r in rounds)} times",
        "",
        *_grid(["killed", *whom, "all"], [[when, *(killed[when, who] for who in whom), sum(killed[when, who] for who in whom)] for when in moments]),
        "",
        *_grid(
            ["shape", "rows", "lost", "doubled", "wrong"],
            [[name, f.rows, f.lost, f.doubled, f.wrong] for name, f in {**found, "all": sum(found.values(), Found())}.items()],
        ),
    ]
    return "\n".join(lines)


def _grid(head: list[str], rows: list[list[str | int]]) -> list[str]:
    texts = [head, *([f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in texts) for i in range(len(head))]
    aligned = [[cell.rjust(width) for cell, width in zip(row, widths, strict=True)] for row in texts]
    return ["  ".join([row[0].ljust(widths[0]), *cells[1:]]) for row, cells in zip(texts, aligned, strict=True)]
