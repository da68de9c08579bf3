"""The SQL scripts of the benchmark: one text for sqlstream and for Flink, but for the settings at its head.

In: names of queries, a topic, a sink. Out: a script whose INSERTs come in a known order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from string import Template

FOLDER = Path(__file__).with_name("queries")
QUERIES = (
    "q0", "q1", "q2", "q3", "q4", "q5", "q7", "q8", "q9", "q11", "q12", "q13", "q14", "q15", "q16", "q17", "q18", "q19", "q20", "q21", "q22", "q23",
    "cep_q0", "cep_q1", "cep_q2", "cep_q3", "count_by_bidder", "count_by_10k", "count_by_1m",
)  # fmt: skip
# Those that no program is written by hand for: Spark has nothing like them.
SQL_ONLY = ("q4", "q9", "q13", "q23", "cep_q0", "cep_q1", "cep_q2", "cep_q3")
# Those whose rows change: no file can take them.
UPDATING = ("q4", "q9", "q15", "q16", "q17", "q18", "q19")
# How many columns at the head are the key of rows of which Flink prints no -U.
UPSERTS = {"q9": 1}
# Rows of the table that q13 looks up.
SIDE_ROWS = 10_000
BLACKHOLE = "'connector' = 'blackhole'"

# Flink's: as Nexmark's own configuration has it, on two slots.
SETTINGS = {
    "flink": {
        "table.dml-sync": "true",
        "parallelism.default": "2",
        "table.local-time-zone": "UTC",
        "state.backend.type": "rocksdb",
        "execution.checkpointing.incremental": "true",
        "execution.checkpointing.interval": "180 s",
        "execution.checkpointing.checkpoints-after-tasks-finish.enabled": "false",
        "table.exec.mini-batch.enabled": "true",
        "table.exec.mini-batch.allow-latency": "2 s",
        "table.exec.mini-batch.size": "50000",
        "table.optimizer.distinct-agg.split.enabled": "true",
        "taskmanager.numberOfTaskSlots": "2",
        "taskmanager.memory.managed.size": "1g",
    },
    "sqlstream": {"table.dml-sync": "true", "parallelism.default": "2", "table.local-time-zone": "UTC"},
}


@dataclass(frozen=True)
class Step:
    """One pass over a topic: each of ``queries`` once."""

    topic: str
    queries: tuple[str, ...]


def rows_sink(folder: Path, query: str) -> str:
    """The options of a sink that writes the rows of ``query`` as JSON lines, or prints them as changes where they change."""
    if query in UPDATING:
        return f"'connector' = 'print', 'print-identifier' = '{query}'"
    return f"'connector' = 'filesystem', 'path' = '{(folder / query).as_uri()}', 'format' = 'json'"


def side_input(folder: Path) -> Path:
    """The folder of the table that q13 looks up, made where it is not there."""
    path = folder / "side_input"
    path.mkdir(exist_ok=True)
    (path / "rows.csv").write_text("".join(f"{key},value {key}\n" for key in range(SIDE_ROWS)), encoding="utf-8")
    return path


def script(engine: str, bootstrap: str, steps: list[Step], sinks: dict[str, str], settings: dict[str, str], side: Path) -> str:
    """Settings, sinks, then for each step the tables of its topic and its INSERTs. ``side``: of ``side_input``."""
    lines = [f"SET '{k}' = '{v}';" for k, v in (SETTINGS[engine] | settings).items()]
    queries = dict.fromkeys(q for s in steps for q in s.queries)
    parts = {q: Template(source(q)).substitute(SINK=sinks[q]).split("\n\nINSERT INTO ") for q in queries}
    lines += [create for create, _ in parts.values()]
    options = f"'connector' = 'filesystem', 'path' = '{side.as_uri()}', 'format' = 'csv'"
    lines.append(f"CREATE TABLE side_input (key BIGINT, `value` VARCHAR) WITH ({options});")
    for step in steps:
        if step is not steps[0]:
            lines += ["DROP VIEW B;", "DROP VIEW bid;", "DROP VIEW auction;", "DROP VIEW person;", "DROP TABLE nexmark;"]
        lines.append(Template(source("ddl")).substitute(TOPIC=step.topic, BOOTSTRAP_SERVERS=bootstrap))
        lines += ["INSERT INTO " + parts[q][1] for q in step.queries]
    return "\n\n".join(lines) + "\n"


def source(name: str) -> str:
    """The text of a file of ``queries``, without the comments at its head."""
    return re.sub(r"\A(--[^\n]*\n)+", "", (FOLDER / f"{name}.sql").read_text(encoding="utf-8")).strip()
