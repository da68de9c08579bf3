"""A golden: a Flink script whose comments hold its plan, its rows in, its rows out and its steps.

    --= line        a line of the plan of the last INSERT (EXPLAIN's "Optimized Physical Plan"); all of them stand there
    --< name json   a row of the input ``name``: a line of a file in ``${DIR}/name``
    --<late name json   the same, of a row that comes too late to count
    --> +I[1, a]    a row that the sink ``print`` then gives; rows of one step come in any order
    --! restart     the job is stopped and submitted again
    --! end         the input ends: what is buffered comes out
    --! error text  the script is refused, and the message holds the text
    --! ordered     the answer depends on the order in which rows come
    --! never seen  rows out go that never came
    --! any order   once more all rows come in any order, under watermarks that let them

Inputs are tables of the filesystem connector with a ``source.monitor-interval``, so that rows arrive step by step. On real Flink and in batch mode
all rows are there from the start and the input is bounded: the interval is taken out. Batch mode has no rows that are late, and no inputs that are
changelogs.

``pytest --update`` rewrites the plans and the rows out. Look at what it has changed: the rows have to be Flink's (``-m oracle``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.expectations import as_marked, marked, replaced, write

MONITOR = re.compile(r"'source\.monitor-interval'\s*=\s*'[^']*'\s*,?\s*")
SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.sql"))


@dataclass
class Step:
    """Rows in, or an action, and the rows that come out after it. ``end``: the number of its last line but for those of the rows out."""

    action: str = "rows"
    rows_in: list[tuple[str, str]] = field(default_factory=list)
    rows_out: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    end: int = 0


@dataclass
class Golden:
    """One script, taken apart."""

    path: Path
    sql: str
    plan: list[str]
    steps: list[Step]
    error: str | None
    ordered: bool = False
    any_order: bool = False
    never_seen: bool = False

    @property
    def inputs(self) -> dict[str, list[str]]:
        """All rows in, by input."""
        found: dict[str, list[str]] = {}
        for step in self.steps:
            for name, row in step.rows_in:
                found.setdefault(name, []).append(row)
        return found

    @property
    def in_time(self) -> dict[str, list[str]]:
        """The rows in that are not late, by input."""
        late = [row for step in self.steps for row in step.late]
        return {name: [row for row in rows if row not in late] for name, rows in self.inputs.items()}

    @property
    def batch(self) -> bool:
        """Whether the script is run in batch mode too."""
        return not (self.error or self.ordered) and "WATERMARK" in self.sql and "debezium-json" not in self.sql

    @property
    def output(self) -> list[str]:
        """All rows out."""
        return [row for step in self.steps for row in step.rows_out]


def read(path: Path) -> Golden:
    """The golden in ``path``."""
    golden = Golden(path, path.read_text(), [], [], None)
    lines = golden.sql.splitlines()
    golden.plan = marked(lines, "--=")
    for number, line in enumerate(lines):
        mark, _, text = line.partition(" ")
        text = text.strip()
        match mark:
            case "--<" | "--<late":
                if not golden.steps or golden.steps[-1].rows_out or golden.steps[-1].action != "rows":
                    golden.steps.append(Step())
                name, _, row = text.partition(" ")
                golden.steps[-1].rows_in.append((name, row))
                golden.steps[-1].end = number
                if mark == "--<late":
                    golden.steps[-1].late.append(row)
            case "-->":
                golden.steps[-1].rows_out.extend(re.findall(r"[+-][IUD]\[.*?\](?=\s+[+-][IUD]\[|$)", text))
            case "--!":
                action, _, rest = text.partition(" ")
                if action == "error":
                    golden.error = rest
                elif action == "ordered":
                    golden.ordered = True
                elif text == "any order":
                    golden.any_order = True
                elif text == "never seen":
                    golden.never_seen = True
                else:
                    golden.steps.append(Step(action, end=number))
    return golden


def rewrite_plan(golden: Golden, plan: list[str]) -> None:
    """Put ``plan`` in the place of the one that stands in the golden."""
    write(golden.path, replaced(golden.path.read_text().splitlines(), "--=", plan))


def rewrite_rows(golden: Golden, rows: list[list[str]]) -> None:
    """Put the rows out, a list a step, in the place of those that stand in the golden."""
    now = read(golden.path)
    out = {step.end: found for step, found in zip(now.steps, rows, strict=True)}
    lines: list[str] = []
    for number, line in enumerate(now.sql.splitlines()):
        if not line.startswith("-->"):
            lines.append(line)
        lines += as_marked("-->", ["  ".join(out[number])] if out.get(number) else [])
    write(golden.path, lines)


def table(rows: list[str], *, never_seen: bool = False) -> list[str]:
    """What remains after the changes ``rows`` are applied, each removal taking one equal row away, sorted. ``never_seen``: or none."""
    left: list[str] = []
    for row in rows:
        kind, cells = row[:2], row[2:]
        if kind in ("+I", "+U"):
            left.append(cells)
        elif not never_seen or cells in left:
            left.remove(cells)
    return sorted(left)
