"""Queries that keep state, the rows that they have to give by key, and a run of them over topics of Kafka."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Record = dict[str, Any]
Rows = dict[tuple, tuple]
COLUMNS = "id INT, k INT, v INT"


@dataclass(frozen=True)
class Shape:
    """A query into a table by primary key; ``expected``: its rows by key, of all records of ``e``, of those of ``f``, of the latest by id of ``u``."""

    columns: str
    keys: str
    query: str
    expected: Callable[[Sequence[Record], Sequence[Record], dict[int, Record]], Rows]


def _by(records: Sequence[Record], name: str) -> dict[int, list[Record]]:
    groups = defaultdict(list)
    for record in records:
        groups[record[name]].append(record)
    return groups


def _totals(e, f, u) -> Rows:
    return {(k,): (len(rows), sum(r["v"] for r in rows), max(r["v"] for r in rows)) for k, rows in _by(e, "k").items()}


def _both(e, f, u) -> Rows:
    return {(k,): (sum(r["v"] for r in rows),) for k, rows in _by([*e, *f], "k").items()}


def _distinct(e, f, u) -> Rows:
    counts = {(k,): (len({r["v"] for r in rows}),) for k, rows in _by(e, "k").items()}
    return {k: n for k, n in counts.items() if n[0] % 2}


def _of_latest(e, f, u) -> Rows:
    return {(k,): (len(rows), sum(r["v"] for r in rows)) for k, rows in _by(list(u.values()), "k").items()}


def _joined(e, f, u) -> Rows:
    of = _by(f, "id")
    return {(r["id"],): (r["v"], of[r["id"]][0]["v"]) for r in e if r["id"] in of}


def _left(e, f, u) -> Rows:
    of = _by(f, "id")
    return {(r["id"],): (r["v"], of[r["id"]][0]["v"] if r["id"] in of else None) for r in e}


def _full(e, f, u) -> Rows:
    of = {"e": _by(e, "id"), "f": _by(f, "id")}
    return {(id_,): tuple(of[side][id_][0]["v"] if id_ in of[side] else None for side in "ef") for id_ in {*of["e"], *of["f"]}}


def _semi(e, f, u) -> Rows:
    of = _by(f, "id")
    return {(r["id"],): (r["v"],) for r in e if r["id"] in of}


def _anti(e, f, u) -> Rows:
    of = _by(f, "id")
    return {(r["id"],): (r["v"],) for r in e if r["id"] not in of}


def _top(e, f, u) -> Rows:
    best = {k: sorted(rows, key=lambda r: (-r["v"], r["id"])) for k, rows in _by(e, "k").items()}
    return {(k, n + 1): (r["id"], r["v"]) for k, rows in best.items() for n, r in enumerate(rows[:3])}


def _last(e, f, u) -> Rows:
    return {(k,): (max(r["id"] for r in rows),) for k, rows in _by(e, "k").items()}


def _named(e, f, u) -> Rows:
    names = {1: "one", 2: "two"}
    return {(k,): (names[k], len(rows)) for k, rows in _by(u.values(), "k").items() if k in names}


def _chain(e, f, u) -> Rows:
    """The two values of k that are joined most often."""
    of = _by(f, "id")
    counts = Counter(r["k"] for r in e for _ in of.get(r["id"], ()))
    return {(n + 1,): (k, count) for n, (k, count) in enumerate(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:2])}


RANKED = "SELECT {columns} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {by} ORDER BY {order}) AS n FROM {source}) AS r WHERE n <= {most}"
SHAPES = {
    "totals": Shape("k INT, n BIGINT, s INT, m INT", "k", "SELECT k, COUNT(*), SUM(v), MAX(v) FROM e GROUP BY k", _totals),
    "both": Shape("k INT, s INT", "k", "SELECT k, SUM(v) FROM (SELECT k, v FROM e UNION ALL SELECT k, v FROM f) GROUP BY k", _both),
    "odd": Shape("k INT, n BIGINT", "k", "SELECT k, COUNT(DISTINCT v) FROM e GROUP BY k HAVING MOD(COUNT(DISTINCT v), 2) = 1", _distinct),
    "latest": Shape("k INT, n BIGINT, s INT", "k", "SELECT k, COUNT(*), SUM(v) FROM u GROUP BY k", _of_latest),
    "joined": Shape("id INT, v INT, w INT", "id", "SELECT e.id, e.v, f.v FROM e JOIN f ON e.id = f.id", _joined),
    "left": Shape("id INT, v INT, w INT", "id", "SELECT l.id, l.v, r.v FROM e AS l LEFT JOIN f AS r ON l.id = r.id", _left),
    "full": Shape(
        "id INT, v INT, w INT", "id", "SELECT COALESCE(l.id, r.id), l.v, r.v FROM e AS l FULL JOIN f AS r ON l.id = r.id", _full
    ),
    "semi": Shape("id INT, v INT", "id", "SELECT id, v FROM e AS l WHERE EXISTS (SELECT 1 FROM f WHERE f.id = l.id)", _semi),
    "anti": Shape("id INT, v INT", "id", "SELECT id, v FROM e AS l WHERE NOT EXISTS (SELECT 1 FROM f WHERE f.id = l.id)", _anti),
    "top": Shape(
        "k INT, n BIGINT, id INT, v INT", "k, n",
        RANKED.format(columns="k, n, id, v", by="k", order="v DESC, id", source="e", most=3), _top,
    ),
    "last": Shape("k INT, id INT", "k", RANKED.format(columns="k, id", by="k", order="id DESC", source="e", most=1), _last),
    "named": Shape(
        "k INT, name STRING, n BIGINT", "k",
        "SELECT c.k, x.name, c.n FROM (SELECT k, COUNT(*) AS n FROM u GROUP BY k) AS c JOIN (VALUES (1, 'one'), (2, 'two')) AS x(k, name)"
        " ON c.k = x.k", _named,
    ),
    "chain": Shape(
        "n BIGINT, k INT, m BIGINT", "n",
        "SELECT n, k, m FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY m DESC, k) AS n FROM"
        " (SELECT e.k, COUNT(*) AS m FROM e JOIN f ON e.id = f.id GROUP BY e.k) AS c) AS r WHERE n <= 2", _chain,
    ),
}  # fmt: skip


class KeyedRun:
    """Records of three topics of two partitions, and the tables that queries write."""

    def __init__(self, broker: Any, name: str) -> None:
        self.broker, self.name = broker, name
        self.random = random.Random(4)
        self.sent: dict[str, list[Record]] = {"e": [], "f": [], "u": []}
        for topic in self.sent:
            broker.topic(self.topic(topic), 2)
        self.rows: dict[str, Rows] = {}
        self.consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": name, "auto.offset.reset": "earliest"})

    def topic(self, table: str) -> str:
        return f"{self.name}-{table}"

    def declared(self, *shapes: str) -> str:
        """The tables that are read, and those that these shapes write, as SQL."""
        broker = f"'properties.bootstrap.servers' = '{self.broker.bootstrap}'"
        upserts = f"'connector' = 'upsert-kafka', {broker}, 'key.format' = 'json', 'value.format' = 'json'"
        json_ = f"'connector' = 'kafka', {broker}, 'format' = 'json', 'scan.startup.mode' = 'earliest-offset'"
        declared = [f"CREATE TABLE {t} ({COLUMNS}) WITH ({json_}, 'topic' = '{self.topic(t)}')" for t in ("e", "f")]
        declared.append(f"CREATE TABLE u ({COLUMNS}, PRIMARY KEY (id) NOT ENFORCED) WITH ({upserts}, 'topic' = '{self.topic('u')}')")
        declared += [
            f"CREATE TABLE `{n}` ({s.columns}, PRIMARY KEY ({s.keys}) NOT ENFORCED) WITH ({upserts}, 'topic' = '{self.topic(n)}')"
            for n, s in ((n, SHAPES[n]) for n in shapes)
        ]
        return ";\n".join(declared)

    def watch(self, shape: str) -> str:
        """Read what the query of ``shape`` writes, from now on; the query, as an INSERT."""
        self.broker.topic(self.topic(shape), 2)
        self.rows[shape] = {}
        # Not subscribed: librdkafka hangs where a consumer is closed while its group finds its members.
        self.consumer.assign([TopicPartition(self.topic(n), number, OFFSET_BEGINNING) for n in self.rows for number in range(2)])
        return f"INSERT INTO `{shape}` {SHAPES[shape].query}"

    def send(self, count: int) -> None:
        """So many records of each topic, ids in random order; of ``u`` also removals."""
        records: dict[str, list[tuple[int, str | None, str | None]]] = {"e": [], "f": [], "u": []}
        for table in ("e", "f"):
            before = len(self.sent[table])
            ids = list(range(before, before + count))
            self.random.shuffle(ids)
            for id_ in ids:
                record = {"id": id_ if table == "e" else id_ * 2, "k": self.random.randrange(5), "v": self.random.randrange(100)}
                self.sent[table].append(record)
                records[table].append((record["id"] % 2, None, json.dumps(record)))
        for _ in range(count):
            id_ = self.random.randrange(20)
            record = {"id": id_, "k": self.random.randrange(5), "v": self.random.randrange(100)}
            removed = self.random.random() < 0.2
            self.sent["u"].append({"id": id_, "removed": True} if removed else record)
            records["u"].append((id_ % 2, json.dumps({"id": id_}), None if removed else json.dumps(record)))
        for table, made in records.items():
            self.broker.send(self.topic(table), *made)

    def send_ids(self, table: str, ids: Iterable[int]) -> None:
        """Records of ``e`` or ``f`` with these ids, in their order."""
        made = [{"id": id_, "k": self.random.randrange(5), "v": self.random.randrange(100)} for id_ in ids]
        self.sent[table] += made
        self.broker.send(self.topic(table), *((record["id"] % 2, None, json.dumps(record)) for record in made))

    def expected(self, shape: str) -> Rows:
        latest: dict[int, Record] = {}
        for record in self.sent["u"]:
            if "removed" in record:
                latest.pop(record["id"], None)
            else:
                latest[record["id"]] = record
        return SHAPES[shape].expected(self.sent["e"], self.sent["f"], latest)

    def read(self) -> None:
        """What has come: the rows by key, as who reads the topics has them."""
        while (message := self.consumer.poll(0.05)) is not None:
            if message.error() is not None:
                continue
            shape = message.topic().removeprefix(f"{self.name}-")
            names = [c.split()[0] for c in SHAPES[shape].columns.split(", ")]
            keys = SHAPES[shape].keys.split(", ")
            of_key = json.loads(message.key())
            key = tuple(of_key[n] for n in keys)
            if message.value() is None:
                self.rows[shape].pop(key, None)
            else:
                row = json.loads(message.value())
                assert {n: row[n] for n in keys} == of_key
                self.rows[shape][key] = tuple(row[n] for n in names if n not in keys)

    def arrive(self, shape: str, seconds: float = 60) -> None:
        """Wait until a reader has the rows of all that was sent."""
        try:
            until(lambda: self.rows[shape] == self.expected(shape), seconds, every=0.05, meanwhile=self.read)
        except AssertionError:
            assert self.rows[shape] == self.expected(shape)
            raise
