"""The example bank: in come a count and a seed, out come its customers, accounts and transactions as Kafka records.

A record is (key, value): the key decides the partition, the value is one line of JSON. The same arguments give the same
bytes, on every machine: money is counted in whole hellers and only ``Random.random`` is drawn from. Time is the event's
own, so a month of transactions is made in a second. It exists for the example project, the demo and the tests.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SEED = 7
START_MS = 1_735_801_200_000  # 2025-01-02 07:00:00 UTC
CUSTOMERS = 40
ACCOUNTS = 60
HOT_ACCOUNTS = 3
HOT_SHARE = 0.33
PER_MINUTE = 600
DISORDER_MS = 4_000  # below the 5 seconds that the watermark of `transactions` waits
LATE_MS = 180_000
UPDATE_SHARE = 0.2


@dataclass(frozen=True)
class Topic:
    """A topic of the bank."""

    name: str
    partitions: int
    compacted: bool = False


TOPICS = (Topic("transactions", 5), Topic("customers", 2, compacted=True), Topic("accounts", 2, compacted=True))

# Kind of transaction: type, operation, its share, and the largest amount in hellers.
OPERATIONS: tuple[tuple[str, str, float, int], ...] = (
    ("Credit", "CREDIT_IN_CASH", 0.22, 4_000_000),
    ("Credit", "COLLECTION_FROM_ANOTHER_BANK", 0.16, 7_500_000),
    ("Credit", "INTEREST_CREDITED", 0.05, 40_000),
    ("Debit", "WITHDRAWAL_IN_CASH", 0.28, 2_000_000),
    ("Debit", "REMITTANCE_TO_ANOTHER_BANK", 0.17, 6_000_000),
    ("Debit", "CREDIT_CARD_WITHDRAWAL", 0.12, 900_000),
)
CREDITS = tuple(row for row in OPERATIONS if row[0] == "Credit")
# First and last names of women, then of men: a last name has a form for each.
NAMES = (
    (("Jana", "Eva", "Marie", "Hana", "Lenka", "Věra"), ("Nováková", "Svobodová", "Černá", "Veselá", "Horáková")),
    (("Petr", "Jan", "Tomáš", "Pavel", "Jiří", "Ondřej"), ("Novák", "Svoboda", "Černý", "Veselý", "Horák")),
)
CITIES = ("Praha", "Brno", "Ostrava", "Plzeň", "Liberec", "Olomouc", "České Budějovice", "Hradec Králové")
FREQUENCIES = ("MONTHLY_ISSUANCE", "WEEKLY_ISSUANCE", "ISSUANCE_AFTER_TRANSACTION")

Record = tuple[str, str]


class Producer(Protocol):
    """What ``fill`` needs of a broker."""

    def create_topic(self, name: str, partitions: int = 1, compacted: bool = False) -> None: ...

    def produce(self, topic: str, source: Iterable[str], key_separator: str | None = None) -> int: ...


def transactions(
    count: int,
    seed: int = SEED,
    start_ms: int = START_MS,
    *,
    per_minute: int = PER_MINUTE,
    disorder_ms: int = DISORDER_MS,
    late_every: int = 1000,
    bad_every: int = 0,
) -> Iterator[Record]:
    """``count`` transactions, keyed by account, ``per_minute`` of them in a minute of event time from ``start_ms`` on.

    Each is up to ``disorder_ms`` older than its place says; every ``late_every``-th (0: none) is three minutes older,
    so that a window may have closed before it. Every ``bad_every``-th (0: none) is one that its table cannot read: in
    turn one that is cut off, and one whose amount is not a number.
    """
    rng = Random(f"transactions {seed}")
    balances = [1_000_000 + int(rng.random() * 9_000_000) for _ in range(ACCOUNTS)]
    for i in range(count):
        account = int(rng.random() * (HOT_ACCOUNTS if rng.random() < HOT_SHARE else ACCOUNTS))
        kind, operation, amount = _movement(rng, balances[account])
        balances[account] += amount if kind == "Credit" else -amount
        time = start_ms + i * 60_000 // per_minute - int(rng.random() * (disorder_ms + 1))
        bad = bad_every and i % bad_every == bad_every - 1
        # One that is both would count as late in one query, and as bad in another.
        if late_every and not bad and i % late_every == late_every - 1:
            time -= LATE_MS
        fields = {
            "transactionId": f"T{i + 1:08d}",
            "accountId": _account_id(account),
            "customerId": _customer_id(_owner(account)),
            "eventTime": time,
            "type": kind,
            "operation": operation,
            "amount": _Money(amount),
            "balance": _Money(balances[account]),
        }
        line = _json(fields)
        if bad:
            line = line[: len(line) // 2] if (i // bad_every) % 2 == 0 else _json({**fields, "amount": "a lot"})
        yield _account_id(account), line


def customers(seed: int = SEED, start_ms: int = START_MS) -> Iterator[Record]:
    """The customers, keyed by their id, and after them the later versions of some that moved to another city."""
    rng = Random(f"customers {seed}")
    rows = []
    for i in range(CUSTOMERS):
        first, last = (_pick(rng, names) for names in NAMES[i % 2])
        born = f"{1940 + int(rng.random() * 65)}-{1 + int(rng.random() * 12):02d}-{1 + int(rng.random() * 28):02d}"
        name = {"customerId": _customer_id(i), "firstName": first, "lastName": last}
        rows.append({**name, "birthDate": born, "city": _pick(rng, CITIES)})
    moved = [{**row, "city": _pick(rng, CITIES)} for row in rows if rng.random() < UPDATE_SHARE]
    return _versions("customerId", [*rows, *moved], start_ms)


def accounts(seed: int = SEED, start_ms: int = START_MS) -> Iterator[Record]:
    """The accounts, keyed by their id, and after them the later versions of some with another frequency."""
    rng = Random(f"accounts {seed}")
    rows = []
    for i in range(ACCOUNTS):
        opened = f"{2005 + int(rng.random() * 19)}-{1 + int(rng.random() * 12):02d}-{1 + int(rng.random() * 28):02d}"
        frequency = _pick(rng, FREQUENCIES)
        owner = _customer_id(_owner(i))
        rows.append({"accountId": _account_id(i), "customerId": owner, "frequency": frequency, "openedOn": opened})
    changed = [{**row, "frequency": _pick(rng, FREQUENCIES)} for row in rows if rng.random() < UPDATE_SHARE]
    return _versions("accountId", [*rows, *changed], start_ms)


def lines(records: Iterable[Record]) -> Iterator[str]:
    """Records as lines, key and value with a tab between."""
    return (f"{key}\t{value}" for key, value in records)


def fill(broker: Producer, count: int, seed: int = SEED, *, late_every: int = 1000, bad_every: int = 0) -> None:
    """Create the bank's topics and fill them: all customers and accounts, and ``count`` transactions."""
    for topic in TOPICS:
        broker.create_topic(topic.name, topic.partitions, topic.compacted)
    broker.produce("customers", lines(customers(seed)), "\t")
    broker.produce("accounts", lines(accounts(seed)), "\t")
    broker.produce("transactions", lines(transactions(count, seed, late_every=late_every, bad_every=bad_every)), "\t")


class _Money(int):
    """Hellers that are written as a number with two decimals."""


def _movement(rng: Random, balance: int) -> tuple[str, str, int]:
    """Type, operation and amount; an account that can't afford a debit gets a credit."""
    kind, operation, _, largest = _weighted(rng, OPERATIONS)
    amount = _amount(rng, largest)
    if kind == "Debit" and amount > balance:
        kind, operation, _, largest = _weighted(rng, CREDITS)
        amount = _amount(rng, largest)
    return kind, operation, amount


def _amount(rng: Random, largest: int) -> int:
    """Small amounts are common, large ones rare."""
    share = rng.random()
    return 100 + int(share * share * share * largest)


def _weighted(rng: Random, rows: Sequence[tuple[str, str, float, int]]) -> tuple[str, str, float, int]:
    point = rng.random() * sum(row[2] for row in rows)
    for row in rows:
        point -= row[2]
        if point < 0:
            return row
    return rows[-1]


def _pick(rng: Random, names: Sequence[str]) -> str:
    return names[int(rng.random() * len(names))]


def _owner(account: int) -> int:
    """Every customer has an account, some have two."""
    return account % CUSTOMERS


def _account_id(number: int) -> str:
    return f"A{number + 1:05d}"


def _customer_id(number: int) -> str:
    return f"C{number + 1:05d}"


def _versions(key: str, rows: Iterable[dict[str, str]], start_ms: int) -> Iterator[Record]:
    for i, row in enumerate(rows):
        yield row[key], _json({**row, "updateTime": start_ms + i * 1000})


def _json(fields: dict[str, object]) -> str:
    """One line; JSON has no decimals of fixed scale in Python, so money is written by hand."""
    parts = (
        f"{json.dumps(name)}:" + (f"{value // 100}.{value % 100:02d}" if isinstance(value, _Money) else json.dumps(value, ensure_ascii=False))
        for name, value in fields.items()
    )
    return "{" + ",".join(parts) + "}"


def main(argv: list[str]) -> int:
    """``python -m sqlstream.cli.bank TOPIC``: the records of a topic on the standard output, as ``lines`` makes them."""
    parser = argparse.ArgumentParser(prog="python -m sqlstream.cli.bank", description="Records of the example bank.")
    parser.add_argument("topic", choices=[topic.name for topic in TOPICS])
    parser.add_argument("--count", type=int, default=10_000, help="how many transactions")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--late-every", type=int, default=1000, metavar="N", help="every N-th is late; 0: none")
    parser.add_argument("--bad-every", type=int, default=0, metavar="N", help="every N-th cannot be read; 0: none")
    args = parser.parse_args(argv)
    match args.topic:
        case "transactions":
            records = transactions(args.count, args.seed, late_every=args.late_every, bad_every=args.bad_every)
        case "customers":
            records = customers(args.seed)
        case _:
            records = accounts(args.seed)
    for batch in iter(lambda: list(itertools.islice(records, 1000)), []):
        sys.stdout.write("".join(f"{line}\n" for line in lines(batch)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
