"""Random changelogs through every operator: the rows that come out, folded one by one in their order, are the table of the query, however the input is
cut into micro-batches.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.sessions import catch_up, open_session, rows, run, submit

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from sqlstream.runtime.engine.session import Engine

    Row = dict[str, Any]
    Log = list[tuple[str, Row | None, Row | None]]

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted", "two_partitions")]
# In the changelogs of even numbers nothing is deleted or changed that never was.
WHOLE = "MOD(s.id, 2) = 0"
TOP = "(SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY v DESC, k) AS n FROM s)"
# The columns that the print table of each has, and the query.
QUERIES = {
    "passed": ("id INT, k INT, g INT, v INT", "SELECT id, k, g, v FROM s"),
    "filtered": ("id INT, k INT, v INT", "SELECT id, k, v FROM s WHERE v > 1"),
    "projected": ("id INT, v INT", f"SELECT id, v FROM s WHERE {WHOLE}"),
    "static_join": ("id INT, k INT, v INT, w INT", "SELECT s.id, k, v, w FROM s JOIN d ON s.id = d.id AND s.g = d.g"),
    "merged": ("id INT, k INT, v INT, w INT", "SELECT /*+ SHUFFLE_MERGE(d) */ s.id, k, v, w FROM s JOIN d ON s.id = d.id AND s.g = d.g"),
    "static_left": ("id INT, k INT, v INT, w INT", "SELECT s.id, k, v, w FROM s LEFT JOIN d ON s.id = d.id AND s.v = d.w"),
    "static_semi": ("id INT, k INT, v INT", "SELECT id, k, v FROM s WHERE EXISTS (SELECT 1 FROM d WHERE d.id = s.id AND d.w = s.v)"),
    "looked_up": ("id INT, k INT, v INT, w INT", "SELECT s.id, k, v, w FROM s JOIN d FOR SYSTEM_TIME AS OF s.p ON s.id = d.id AND s.g = d.g"),
    "joined": ("id INT, k INT, v INT, w INT", "SELECT s.id, k, v, w FROM s JOIN t ON s.id = t.id AND s.g = t.g"),
    "left_joined": ("id INT, k INT, v INT, w INT", f"SELECT t.id, k, v, w FROM t LEFT JOIN s ON s.id = t.id AND s.g = t.g AND {WHOLE}"),
    "anti": ("id INT, w INT", f"SELECT id, w FROM t WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.id = t.id AND s.v = t.w AND {WHOLE})"),
    "grouped": ("id INT, k INT, v INT, c BIGINT", "SELECT id, k, SUM(v), COUNT(*) FROM s GROUP BY id, k"),
    "regrouped": ("id INT, g INT, v INT, m INT", f"SELECT id, g, SUM(v), MAX(v) FROM s WHERE {WHOLE} GROUP BY id, g"),
    "counted": ("id INT, c BIGINT, n BIGINT", f"SELECT id, c, COUNT(*) FROM (SELECT id, g, COUNT(*) AS c FROM s WHERE {WHOLE} GROUP BY id, g) GROUP BY id, c"),
    "distinct": ("id INT, g INT, v INT", f"SELECT DISTINCT id, g, v FROM s WHERE {WHOLE}"),
    "first": ("id INT, k INT, v INT", f"SELECT id, k, v FROM {TOP} WHERE n = 1"),
    "ranked": ("id INT, k INT, v INT, n BIGINT", f"SELECT id, k, v, n FROM {TOP} WHERE n <= 2"),
    "united": ("id INT, v INT", f"SELECT id, v FROM s WHERE {WHOLE} UNION ALL SELECT id, g FROM s WHERE v > 1 AND {WHOLE}"),
    "common": ("id INT, v INT", f"SELECT id, v FROM s WHERE {WHOLE} INTERSECT SELECT id, g FROM s WHERE {WHOLE}"),
    "unnested": ("id INT, k INT, x INT", "SELECT id, k, x FROM s CROSS JOIN UNNEST(ARRAY[v, g]) AS u (x)"),
}  # fmt: skip
# Delta tables with the rows of queries.
KEPT = {"kept": "passed", "kept_join": "static_join"}
CHANGES = "'connector' = 'filesystem', 'path' = 'changes', 'format' = 'debezium-json', 'source.monitor-interval' = '1 s'"
SIDE = "'connector' = 'filesystem', 'path' = 'side', 'format' = 'json'"
# Of the side with less bytes Spark makes a table: it is to be that of the changes.
LARGE = SIDE.replace("'side'", "'large'")
STREAM = f"""
CREATE TABLE s (id INT, k INT, g INT, v INT, p AS PROCTIME()) WITH ({CHANGES});
CREATE TABLE d (id INT, g INT, w INT) WITH ({LARGE});
CREATE TABLE t (id INT, g INT, w INT) WITH ({SIDE}, 'source.monitor-interval' = '1 s');
CREATE TABLE kept (id INT, k INT, g INT, v INT, PRIMARY KEY (id, k) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'kept');
CREATE TABLE kept_join (id INT, k INT, v INT, w INT, PRIMARY KEY (id, k, w) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'kept_join');
"""
STATIC = f"""
SET 'execution.runtime-mode' = 'batch';
CREATE TABLE s (id INT, k INT, g INT, v INT, p AS PROCTIME()) WITH ('connector' = 'filesystem', 'path' = 'final', 'format' = 'json');
CREATE TABLE d (id INT, g INT, w INT) WITH ({LARGE});
CREATE TABLE t (id INT, g INT, w INT) WITH ({SIDE});
"""


def changelog(chance: random.Random, number: int) -> tuple[Log, list[Row]]:
    """Changes of up to three keys, and what is left of them."""

    def row() -> Row:
        return {"id": number, "k": key, "g": chance.randrange(2), "v": chance.randrange(4)}

    left: dict[int, Row] = {}
    log: Log = []
    for _ in range(chance.randrange(1, 9)):
        key = chance.randrange(3)
        before = left.get(key)
        if before is None:
            never = number % 2 and chance.random() < 0.3
            after = row()
            log.append(("d", after, None) if never else ("c", None, after))
            # A row that was deleted before it was inserted is often the same.
            if never and chance.random() < 0.7:
                log.append(("c", None, after))
            elif never:
                continue
            left[key] = after
        elif chance.random() < 0.5:
            after = row()
            log.append(("u", before, after))
            left[key] = after
        else:
            log.append(("d", before, None))
            del left[key]
            if chance.random() < 0.5:
                log.append(("c", None, before))
                left[key] = before
    return log, list(left.values())


def cut(chance: random.Random, logs: Iterable[Log], parts: int) -> list[list[str]]:
    """The changes of all ``logs`` beside each other in so many parts, each log cut at random."""
    files: list[list[tuple[float, int, str]]] = [[] for _ in range(parts)]
    for log in logs:
        ends = sorted(chance.randrange(len(log) + 1) for _ in range(parts - 1))
        for i, (begin, end) in enumerate(zip([0, *ends], [*ends, len(log)], strict=True)):
            places = sorted(chance.random() for _ in log[begin:end])
            for place, (n, (op, before, after)) in zip(places, enumerate(log[begin:end]), strict=True):
                files[i].append((place, n, json.dumps({"before": before, "after": after, "op": op})))
    return [[line for *_, line in sorted(file)] for file in files]


def folded(emitted: list[str]) -> dict[str, Counter[str]]:
    """The tables of all queries: what is taken away that is not there takes nothing."""
    tables: dict[str, Counter[str]] = defaultdict(Counter)
    for line in emitted:
        name, _, change = line.partition("> ")
        kind, row = change[:2], change[3:-1]
        if kind in ("+I", "+U"):
            tables[name][row] += 1
        elif tables[name][row] > 0:
            tables[name][row] -= 1
    return {name: +table for name, table in tables.items()}


def table(found: Iterable[tuple[Any, ...]]) -> Counter[str]:
    return Counter(", ".join("null" if cell is None else cell for cell in row) for row in found)


@pytest.fixture(params=[(40, ("passed", "static_join")), pytest.param((500, tuple(QUERIES)), marks=pytest.mark.slow)])
def case(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[list[Log], tuple[str, ...]]:
    """Changelogs, and the queries over them."""
    count, names = request.param
    chance = random.Random(count)
    made = [changelog(chance, number) for number in range(count)]
    for folder in ("changes", "side", "large", "final"):
        (tmp_path / folder).mkdir()
    (tmp_path / "final" / "rows.json").write_text("".join(f"{json.dumps(row)}\n" for _, left in made for row in left))
    side = [{"id": n, "g": g, "w": w} for n in range(count) for g, w in ((0, 1), (0, 2), (1, 3)) if chance.random() < 0.8]
    others = [{"id": -n, "g": 0, "w": 0} for n in range(1, 20_000)]
    (tmp_path / "large" / "rows.json").write_text("".join(f"{json.dumps(row)}\n" for row in [*side, *others]))
    for part in range(2):
        (tmp_path / "side" / f"{part}.json").write_text("".join(f"{json.dumps(row)}\n" for row in side[part::2]))
    return [log for log, _ in made], names


@pytest.mark.timeout(900)
@pytest.mark.parametrize("parts", [2, pytest.param(1, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
def test_they_fold_into_the_table_of_the_query(tmp_path: Path, engine: Engine, case: tuple[list[Log], tuple[str, ...]], parts: int) -> None:
    logs, names = case
    emitted: list[str] = []
    session = open_session(tmp_path, STREAM, engine=engine, emit=emitted.append)
    for name in names:
        run(session, f"CREATE TABLE `{name}` ({QUERIES[name][0]}) WITH ('connector' = 'print', 'print-identifier' = '{name}')")
    inserts = [f"INSERT INTO `{name}` {QUERIES[name][1]};" for name in names]
    inserts += [f"INSERT INTO {kept} {QUERIES[name][1]};" for kept, name in KEPT.items() if name in names]
    job = submit(session, f"EXECUTE STATEMENT SET BEGIN {' '.join(inserts)} END;")
    for number, lines in enumerate(cut(random.Random(parts), logs, parts)):
        written = tmp_path / "changes" / f".{number}"
        written.write_text("".join(f"{line}\n" for line in lines))
        written.rename(tmp_path / "changes" / f"{number}.json")
        catch_up(job)
    session.jobs.stop(job.id)
    found = folded(emitted)
    static = open_session(tmp_path, STATIC, engine=engine)
    wanted = {name: table(rows(static, QUERIES[name][1])) for name in names}
    for name in names:
        assert found.get(name, Counter()) == wanted[name], name
    run(session, "SET 'execution.runtime-mode' = 'batch'")
    for kept, name in KEPT.items():
        if name in names:
            assert table(rows(session, f"SELECT * FROM {kept}")) == wanted[name]
