"""The bank's fraud alerts: a pattern over a Kafka topic, its matches in a Delta table, over a restart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.sessions import catch_up, open_session, submit

if TYPE_CHECKING:
    from sqlstream.runtime.jobs.job import Job

pytestmark = [pytest.mark.spark, pytest.mark.kafka]
PROJECT = Path(__file__).parents[3]
START = 1_735_801_200_000


def text(name: str) -> str:
    return (PROJECT / name).read_text(encoding="utf-8")


def record(account: str, second: float, kind: str, amount: float) -> str:
    values = {"transactionId": f"{account}{second:g}", "accountId": account, "eventTime": START + int(second * 1000), "type": kind, "amount": amount}
    return json.dumps(values)


@pytest.mark.slow
def test_fraud_alerts(tmp_path: Path, engine, broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_BOOTSTRAP", broker.bootstrap)
    client = open_session(tmp_path, text("catalog/transactions.sql") + text("catalog/fraud_alerts.sql"), engine=engine)

    def start() -> Job:
        return submit(client, text("queries/fraud_alerts.sql"))

    first = [
        record("plain", 0, "Debit", 0.5), record("other between", 0, "Debit", 0.5), record("too late", 0, "Debit", 0.99), record("too little", 0, "Debit", 0.99),
        record("credit", 0, "Credit", 0.01), record("twice", 0, "Debit", 0.2), record("disorder", 2, "Debit", 700), record("disorder", 1, "Debit", 0.1),
        record("other between", 5, "Credit", 10), record("credit", 5, "Debit", 900), record("twice", 8, "Debit", 0.3),
    ]  # fmt: skip
    second = [
        record("other between", 10, "Debit", 900), record("plain", 30, "Debit", 900.25), record("too little", 20, "Debit", 500), record("twice", 20, "Debit", 501),
        record("twice", 30, "Debit", 0.4), record("twice", 31, "Debit", 502), record("too late", 60, "Debit", 600),
    ]  # fmt: skip
    for records, last in ((first, False), (second, True)):
        broker.produce("transactions", records)
        job = start()
        catch_up(job)
        client.jobs.stop(job.id, drain=last)
    rows = engine.spark.read.format("delta").load(str(tmp_path / ".sqlstream/tables/fraud_alerts")).collect()
    assert sorted((r.accountId, str(r.probe), str(r.amount), r.transactionId) for r in rows) == [
        ("disorder", "0.10", "700.00", "disorder2"),
        ("plain", "0.50", "900.25", "plain30"),
        ("twice", "0.30", "501.00", "twice20"),
        ("twice", "0.40", "502.00", "twice31"),
    ]
    client.close()
