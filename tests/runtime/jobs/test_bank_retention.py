"""The example bank under a job of several generations, of which few checkpoints are kept: its totals, over upgrades and restarts."""

from __future__ import annotations

import json
import time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sqlstream.cli import bank
from tests.support.sessions import open_session, submit
from tests.support.waiting import until

if TYPE_CHECKING:
    from sqlstream.runtime.jobs.job import Job

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow, pytest.mark.timeout(400)]
CATALOG = Path(__file__).parents[3] / "catalog" / "transactions.sql"
TABLES = """
CREATE TABLE totals (`type` STRING, cnt BIGINT, total DECIMAL(38, 2), PRIMARY KEY (`type`) NOT ENFORCED) WITH ('connector' = 'print');
SET 'pipeline.name' = 'totals';
SET 'state.checkpoints.num-retained' = '5';
SET 'execution.upgrade-mode' = 'last-state';
"""
# The filters take nothing away: each is another plan all the same.
TOTALS = "INSERT INTO totals SELECT `type`, COUNT(*), SUM(amount) FROM transactions WHERE amount > {} GROUP BY `type`;"
BATCHES = {-1: 8, -2: 1, -3: 1, -4: 1}
EACH = 40


def test_few_checkpoints_of_several_generations(tmp_path: Path, engine, broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_BOOTSTRAP", broker.bootstrap)
    printed: list[str] = []
    session = open_session(tmp_path, engine=engine, emit=printed.append)
    topic = f"kept-{time.monotonic_ns()}"
    broker.topic(topic, 2)
    list(session.run(CATALOG.read_text(encoding="utf-8").replace("'topic' = 'transactions'", f"'topic' = '{topic}'") + TABLES))
    lines = [line for _, line in bank.transactions(sum(BATCHES.values()) * EACH)]
    sent = 0

    def start(least: int) -> Job:
        return submit(session, TOTALS.format(least))

    for least, batches in BATCHES.items():
        job = start(least)
        for _ in range(batches):
            broker.produce(topic, lines[sent : sent + EACH], 2)
            sent += EACH
            job.queries[0].processAllAvailable()
        if least == -1:
            _await_few(job.checkpoint / "0_totals")
        session.jobs.stop(job.id)
    home = job.folder.parent
    assert sorted(p.parent.name for p in home.glob("*/checkpoint")) == ["2", "3", "4"]
    assert sorted(p.parent.name for p in home.glob("*/version.json")) == ["1", "2", "3", "4"]
    expected: dict[str, tuple[int, Decimal]] = {}
    for fields in (json.loads(line, parse_float=Decimal) for line in lines):
        count, total = expected.get(fields["type"], (0, Decimal()))
        expected[fields["type"]] = count + 1, total + fields["amount"]
    # What is printed last of a type holds.
    latest = dict(line.removeprefix("totals> ")[3:-1].split(", ", 1) for line in printed if line.removeprefix("totals> ").startswith("+"))
    assert latest == {kind: f"{count}, {total:.2f}" for kind, (count, total) in expected.items()}
    session.close()


def _await_few(checkpoint: Path) -> None:
    """Wait until no more than the last checkpoints are left, and the one that they follow."""

    def kept() -> list[int]:
        return [len([p for p in (checkpoint / log).iterdir() if p.name.isdigit()]) for log in ("offsets", "commits")]

    until(lambda: max(kept()) <= 6, said=kept)
