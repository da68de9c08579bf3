"""The example bank's functions: a model scores transactions as they come."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from sqlstream.cli.main import main
from tests.support.sessions import open_session

PROJECT = Path(__file__).parents[2]


def test_examples(capsys) -> None:
    assert main(["test-udf", str(PROJECT / "udfs" / "banking.py"), "--project", str(PROJECT)]) == 0
    assert capsys.readouterr().out == "udfs/banking.py: 5 examples of 2 functions, 0 failed\n"


@pytest.mark.spark
@pytest.mark.kafka
def test_a_model_scores_a_stream(tmp_path: Path, engine, broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_BOOTSTRAP", broker.bootstrap)
    for folder in ("udfs", "queries"):
        shutil.copytree(PROJECT / folder, tmp_path / folder)
    notices: list[str] = []
    declaration = (PROJECT / "catalog" / "transactions.sql").read_text("utf-8")
    bounded = declaration.replace("'transactions',", "'scored',").replace(
        "'format' = 'json'", "'scan.bounded.mode' = 'latest-offset', 'format' = 'json'"
    )
    session = open_session(tmp_path, bounded, engine=engine, notify=notices.append)
    amounts = {"usual": (1200.0, 30000.0), "drained": (59000.0, 100.0), "unknown": (None, 100.0), "also usual": (300.0, 9000.0)}
    records = [
        {"transactionId": name, "accountId": "A00017", "eventTime": 1_735_801_200_000, "amount": amount, "balance": balance}
        for name, (amount, balance) in amounts.items()
    ]
    broker.produce("scored", [json.dumps(r) for r in records])
    (outcome,) = session.run("EXECUTE QUERY unusual_transactions")
    ((name, account, amount, balance, score),) = [change.row for change in outcome.changes]
    assert (name, account, amount, balance) == ("drained", "****17", "59000.00", "100.00")
    assert 0.65 <= float(score) <= 1
    session.close()
