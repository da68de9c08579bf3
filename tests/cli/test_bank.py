"""The example bank: the same bytes for the same seed, and records as its tables and windows expect them."""

import json
from collections import Counter
from decimal import Decimal
from hashlib import sha256
from pathlib import Path

import pytest

from sqlstream.cli import bank
from sqlstream.session.queries import SavedQuery
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.statements.split import split

PROJECT = Path(__file__).resolve().parents[2]
FILES = sorted([*PROJECT.glob("catalog/*.sql"), *PROJECT.glob("queries/*.sql")])


def read(**arguments) -> list[dict]:
    found = bank.transactions(5000, **arguments)
    return [json.loads(value, parse_float=Decimal) for _, value in found]


def test_same_bytes_on_every_machine() -> None:
    text = "\n".join(bank.lines([*bank.transactions(2000, bad_every=100), *bank.customers(), *bank.accounts()]))
    assert sha256(text.encode()).hexdigest() == "c821cd598637215d459212e8ed583077442c2e1e5c21afcc5a415f070de483cd"


def test_another_seed_gives_other_records() -> None:
    assert list(bank.transactions(10, 1)) != list(bank.transactions(10, 2))


def test_a_longer_run_begins_as_the_shorter_one() -> None:
    assert list(bank.transactions(50))[:20] == list(bank.transactions(20))


def test_disorder_stays_below_the_watermark() -> None:
    newest = -1
    out_of_order = 0
    for row in read(late_every=0):
        assert row["eventTime"] > newest - 5000
        out_of_order += row["eventTime"] < newest
        newest = max(newest, row["eventTime"])
    assert out_of_order > 1000


def test_late_ones_are_beyond_it() -> None:
    newest, late = -1, 0
    for row in read(late_every=1000):
        late += row["eventTime"] < newest - 60_000 - 5000
        newest = max(newest, row["eventTime"])
    assert late == 5


def test_a_few_accounts_are_hot() -> None:
    counts = Counter(row["accountId"] for row in read())
    hot = sum(count for _, count in counts.most_common(bank.HOT_ACCOUNTS))
    assert 0.3 < hot / 5000 < 0.42
    assert len(counts) == bank.ACCOUNTS


def test_balances_add_up() -> None:
    balances: dict[str, Decimal] = {}
    for row in read():
        change = row["amount"] if row["type"] == "Credit" else -row["amount"]
        if row["accountId"] in balances:
            assert row["balance"] == balances[row["accountId"]] + change
        balances[row["accountId"]] = row["balance"]
        assert row["amount"] > 0 and row["balance"] >= 0
    assert {row["operation"] for row in read()} == {operation[1] for operation in bank.OPERATIONS}


def test_ids_fit_together() -> None:
    owners = {key: json.loads(value)["customerId"] for key, value in bank.accounts()}
    assert {key for key, _ in bank.customers()} == set(owners.values())
    for key, value in bank.transactions(500):
        row = json.loads(value)
        assert key == row["accountId"] and owners[key] == row["customerId"]


def test_bad_records_are_of_both_kinds() -> None:
    cut = text = 0
    for _, value in bank.transactions(1000, bad_every=100):
        try:
            text += isinstance(json.loads(value)["amount"], str)
        except ValueError:
            cut += 1
    assert (cut, text) == (5, 5)


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_a_file_says_what_it_is_for_and_holds_one_statement(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.startswith("-- ")
    assert text.rstrip().endswith(";")
    (statement,) = split(SavedQuery(file.stem, file, text).sample("1")[0])
    parse(statement.text)
    if file.parent.name == "queries":
        comment = "".join(line for line in text.splitlines() if line.startswith("--"))
        assert "?" in comment, "the question that it answers"
