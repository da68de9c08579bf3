"""Jobs whose state is kept in ``states.zip``, as the release before layouts had versions wrote it: one for each operator and container.

``python -m tests.support.state_cases`` writes it as the release that runs it does: from a checkout of that release.
"""

from __future__ import annotations

import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.support.printing import PrintingJob

STATES = Path(__file__).with_name("states.zip")
TIMED = "ts TIMESTAMP(3),WATERMARK FOR ts AS ts"
LONG = "x" * 1000
# What stands for the folder of a checkpoint.
PLACE = b"{checkpoint}"


def at(seconds: int) -> str:
    return f"2026-01-01 {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


@dataclass(frozen=True)
class Case:
    """``before``: the input and the rows that the state is of. ``after``: rows that come then, with what the job prints."""

    inputs: dict[str, str]
    columns: str
    query: str
    before: tuple[tuple[str, tuple[tuple[Any, ...], ...]], ...]
    after: tuple[tuple[str, tuple[tuple[Any, ...], ...], list[str]], ...]
    changes: tuple[str, ...] = ()

    def job(self, project: Path, engine) -> PrintingJob:
        return PrintingJob(project, engine, self.inputs, self.columns, self.query, changes=self.changes)


AB = {"a": f"id INT, k STRING, filler STRING, {TIMED}", "b": f"id INT, k STRING, {TIMED}"}
TICKS = {"ticks": f"k STRING, n INT, {TIMED}"}
LATER = {"ticks": "k STRING, n INT, filler STRING, ts TIMESTAMP(3),WATERMARK FOR ts AS ts - INTERVAL '10' SECOND"}

CASES = {
    "KeyedJoin": Case(
        {"l": "k INT, id INT, filler STRING", "r": "k INT, d DECIMAL(10,2)"},
        "id INT, d DECIMAL(10, 2), n INT",
        "SELECT id, d, CHAR_LENGTH(filler) FROM l FULL JOIN r ON l.k = r.k",
        (
            ("l", (*(("+", 1, n, LONG) for n in range(150)), ("+", 2, 500, None), ("+", None, 501, ""))),
            ("l", (*(("-", 1, n, LONG) for n in range(20)), ("+", 2, 502, "x"), ("+", 2, 502, "x"))),
            ("r", (("+", 3, None), ("+", 2, 1.25))),
        ),
        (
            ("r", (("+", 1, 7.5),), sorted([*(f"-D[{n}, null, 1000]" for n in range(20, 150)), *(f"+I[{n}, 7.50, 1000]" for n in range(20, 150))])),
            ("l", (("-", 2, 502, "x"), ("+", 3, 503, None)), ["+I[503, null, null]", "-D[502, 1.25, 1]", "-D[null, null, null]"]),
        ),
        ("l", "r"),
    ),
    "KeyedRank": Case(
        {"bids": "k STRING, n INT, filler STRING"},
        "k STRING, n INT, size INT, r BIGINT",
        "SELECT k, n, CHAR_LENGTH(filler), r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n DESC) AS r FROM bids) WHERE r <= 100",
        (("bids", (*(("a", n, LONG) for n in range(120)), ("b", None, None))),),
        (
            (
                "bids",
                (("a", 21, ""), ("b", 1, "")),
                ["+I[b, null, null, 2]", "+U[a, 21, 0, 100]", "+U[b, 1, 0, 1]", "-U[a, 20, 1000, 100]", "-U[b, null, null, 1]"],
            ),
        ),
    ),
    "KeyedRank of changes": Case(
        {"bids": "k STRING, n INT, filler STRING"},
        "k STRING, n INT",
        "SELECT k, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n) AS r FROM bids) WHERE r <= 2",
        (("bids", tuple(("+", "a", n, LONG) for n in range(120))), ("bids", tuple(("-", "a", n, LONG) for n in range(60)))),
        (("bids", (("-", "a", 60, LONG), ("+", "a", 0, "")), ["+I[a, 0]", "-D[a, 60]"]),),
        ("bids",),
    ),
    "KeyedAggregate": Case(
        {"bids": "k STRING, n INT, s STRING"},
        "k STRING, c BIGINT, d BIGINT, least INT, greatest INT, total INT",
        "SELECT k, COUNT(*), COUNT(DISTINCT n), MIN(n), MAX(n), SUM(n) FROM bids GROUP BY k",
        (
            ("bids", (("+", "a", 1, "x"), ("+", "a", 5, "y"), ("+", "a", 5, "z"), ("+", "b", None, None))),
            ("bids", (("-", "a", 1, "x"), ("+", "a", 9, "w"))),
        ),
        (
            (
                "bids",
                (("-", "a", 9, "w"), ("+", "b", 2, None)),
                ["+U[a, 2, 1, 5, 5, 10]", "+U[b, 2, 1, 2, 2, 2]", "-U[a, 3, 2, 5, 9, 19]", "-U[b, 1, 0, null, null, null]"],
            ),
        ),
        ("bids",),
    ),
    "KeyedAggregate of arguments": Case(
        {"bids": "k STRING, n INT, s STRING"},
        "k STRING, c BIGINT, texts STRING, first_n INT",
        "SELECT k, COUNT(*), LISTAGG(s), FIRST_VALUE(n) FROM bids GROUP BY k",
        (("bids", (("+", "a", 1, "x"), ("+", "a", 5, "y"), ("+", "a", 6, "z"))), ("bids", (("-", "a", 1, "x"),))),
        (("bids", (("-", "a", 5, "y"), ("+", "a", 7, "v")), ["+U[a, 2, z,v, 6]", "-U[a, 2, y,z, 5]"]),),
        ("bids",),
    ),
    "KeyedAggregate that expires": Case(
        {"bids": "k STRING, n INT"},
        "k STRING, c BIGINT",
        "SELECT /*+ STATE_TTL('bids' = '20000 d') */ k, COUNT(DISTINCT n) FROM bids GROUP BY k",
        (("bids", (("a", 1), ("a", 2), ("b", None))),),
        (("bids", (("a", 2), ("a", 3)), ["+U[a, 3]", "-U[a, 2]"]),),
    ),
    "OverAggregate": Case(
        TICKS,
        "k STRING, n INT, total INT, c BIGINT",
        "SELECT k, n, SUM(n) OVER w, COUNT(*) OVER w FROM ticks WINDOW w AS (PARTITION BY k ORDER BY ts ROWS BETWEEN 599 PRECEDING AND CURRENT ROW)",
        (("ticks", tuple(("a", n, at(n)) for n in range(1000))), ("ticks", tuple(("a", n, at(n)) for n in range(1000, 1010)))),
        (("ticks", (("a", 1010, at(1010)),), ["+I[a, 1010, 426300, 600]"]),),
    ),
    "OverAggregate of all rows": Case(
        TICKS,
        "k STRING, n INT, c BIGINT, d BIGINT, before_n INT",
        "SELECT k, n, COUNT(*) OVER w, COUNT(DISTINCT n) OVER w, LAG(n, 2) OVER w FROM ticks WINDOW w AS (PARTITION BY k ORDER BY ts)",
        (("ticks", tuple(("a", n % 7, at(n)) for n in range(20))),),
        (("ticks", (("a", 8, at(20)), ("a", 6, at(21))), ["+I[a, 6, 22, 8, 5]", "+I[a, 8, 21, 8, 4]"]),),
    ),
    "TemporalJoin": Case(
        {"a": f"id INT, k STRING, {TIMED}", "v": f"k STRING, rate INT, {TIMED},PRIMARY KEY (k) NOT ENFORCED"},
        "id INT, rate INT",
        "SELECT a.id, v.rate FROM a LEFT JOIN v FOR SYSTEM_TIME AS OF a.ts ON a.k = v.k",
        (
            ("v", (("+", "x", 1, at(10)), ("+", "y", 2, at(10)), ("+", "z", 9, at(100)))),
            ("a", ((1, "x", at(20)), (2, "x", at(90)), (3, "q", at(91)), (9, "-", at(95)))),
            ("v", (("+", "x", 3, at(80)), ("+", "z", 9, at(120)))),
        ),
        (("a", ((4, "y", at(96)), (5, "x", at(100))), []), ("v", (("+", "z", 9, at(130)),), ["+I[4, 2]", "+I[5, 3]"])),
        ("v",),
    ),
    "IntervalJoin": Case(
        AB,
        "a INT, b INT, n INT",
        "SELECT a.id, b.id, CHAR_LENGTH(a.filler) FROM a LEFT JOIN b ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '20' SECOND",
        (("b", ((0, "other", at(50)),)), ("a", tuple((n, "k", LONG, at(n // 10)) for n in range(300)))),
        (("b", ((1, "k", at(30)),), sorted([*(f"+I[{n}, 1, 1000]" for n in range(100, 300)), *(f"+I[{n}, null, 1000]" for n in range(90))])),),
    ),
    "PatternMatch": Case(
        TICKS,
        "k STRING, c BIGINT, total INT, first_n INT, last_n INT",
        "SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts"
        " MEASURES COUNT(A.n) AS c, SUM(A.n) AS total, FIRST(A.n, 300) AS first_n, LAST(A.n, 300) AS last_n"
        " AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ B) DEFINE A AS n >= 0)",
        (("ticks", tuple(("a", n, at(n)) for n in range(1, 801))), ("ticks", (("b", 1, at(801)),))),
        (("ticks", (("a", -1, at(802)), ("b", -1, at(803))), ["+I[a, 800, 320400, 301, 500]", "+I[b, 1, 1, null, null]"]),),
    ),
    "FirstRow": Case(
        LATER,
        "k STRING, n INT",
        "SELECT k, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS r FROM ticks) WHERE r = 1",
        (("ticks", (("a", 1, "", at(10)), ("b", 2, "", at(20)))), ("ticks", (("a", 3, "", at(12)), ("b", 4, "", at(19)), ("c", 5, "", at(30))))),
        (("ticks", (("a", 6, "", at(31)), ("c", 7, "", at(29)), ("d", 8, "", at(40))), ["+I[c, 7]"]),),
    ),
    "TimeSort": Case(
        LATER,
        "k STRING, n INT, size INT",
        "SELECT k, n, CHAR_LENGTH(filler) FROM ticks ORDER BY ts, n",
        (("ticks", (("a", 1, "", at(100)),)), ("ticks", tuple(("b", -n, LONG, at(101 + n // 20)) for n in range(140)))),
        (
            (
                "ticks",
                (("c", 5, "", at(101)), ("e", 0, "", at(90)), ("f", 9, "", at(112))),
                sorted(["+I[a, 1, 0]", *(f"+I[b, {-n}, 1000]" for n in range(40)), "+I[c, 5, 0]", "+I[e, 0, 0]"]),
            ),
        ),
    ),
}


def record(engine) -> None:
    """Write ``states.zip``."""
    with zipfile.ZipFile(STATES, "w", zipfile.ZIP_DEFLATED) as archive, TemporaryDirectory() as folder:
        for number, (name, case) in enumerate(CASES.items()):
            project = Path(folder) / str(number)
            project.mkdir()
            job = case.job(project, engine)
            for table, rows in case.before:
                print(name, table, job.feed(table, *rows)[:6])
            job.session.jobs.stop(job.job.id)
            for path in sorted(p for p in job.job.checkpoint.rglob("*") if p.is_file() and p.suffix != ".crc"):
                # Spark names a file there by its place.
                content = path.read_bytes().replace(str(job.job.checkpoint).encode(), PLACE)
                archive.writestr(f"{name}/{path.relative_to(job.job.checkpoint)}", content)
            job.close()
            shutil.rmtree(project)


if __name__ == "__main__":
    from sqlstream.runtime.engine.session import Engine

    with TemporaryDirectory() as log:
        used = Engine(Path(log), lambda: {"spark.master": "local[2]", "spark.sql.shuffle.partitions": "2"}, print)
        record(used)
        used.stop()
