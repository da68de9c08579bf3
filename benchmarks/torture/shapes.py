"""The shapes of jobs, each one INSERT of a script: its SQL, and the rows that the model has for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.torture.load import Load
from benchmarks.torture.tables import DeltaTable, Lines, Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from benchmarks.torture.load import Rows

SOURCES = """
CREATE TABLE events (id BIGINT, k INT, v INT, ts BIGINT, at_ltz AS TO_TIMESTAMP_LTZ(ts, 3), WATERMARK FOR at_ltz AS at_ltz - INTERVAL '1' SECOND)
WITH ('connector' = 'kafka', 'topic' = 'events', 'properties.bootstrap.servers' = '{servers}', 'format' = 'json',
  'scan.startup.mode' = 'earliest-offset');
CREATE TABLE rates (k INT, price BIGINT, ts BIGINT, at_ltz AS TO_TIMESTAMP_LTZ(ts, 3), WATERMARK FOR at_ltz AS at_ltz - INTERVAL '1' SECOND,
  PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = 'rates', 'properties.bootstrap.servers' = '{servers}', 'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE lines (id BIGINT, k INT, v INT, ts BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'lines', 'format' = 'json', 'source.monitor-interval' = '1 s');
"""
_DELTA = "'connector' = 'delta', 'table-path' = 'tables/{}'"
_FILES = "'connector' = 'filesystem', 'path' = 'tables/{}', 'format' = 'json'"
_TOPIC = (
    "'connector' = 'upsert-kafka', 'topic' = '{}', 'properties.bootstrap.servers' = '{{servers}}', 'key.format' = 'json', 'value.format' = 'json', "
    "'properties.delivery.timeout.ms' = '6000', 'properties.request.timeout.ms' = '3000', 'properties.max.block.ms' = '6000'"
)
_BY_K = ", PRIMARY KEY (k) NOT ENFORCED"
_PER_KEY = "SELECT k, COUNT(*) AS n, SUM(v) AS total FROM events WHERE {kept} GROUP BY k"


@dataclass(frozen=True)
class Shape:
    """``table``: its sink, whose first ``key`` columns name a row. ``query``, or a ``view`` that it reads, has a filter ``{kept}`` that all rows
    pass, and may have options ``{edited}`` of a source, by which its versions differ. ``rows``: what has to be in the sink.
    """

    name: str
    table: str
    columns: str
    options: str
    query: str
    rows: Callable[[Load], Rows]
    key: int = 1
    view: str = ""

    def sql(self, version: int) -> str:
        sink = f"CREATE TABLE {self.table} ({self.columns}) WITH ({self.options.format(self.table)});"
        start = "latest-offset" if version % 2 else "earliest-offset"
        edited = (
            f"'scan.startup.mode' = '{start}', 'properties.group.id' = 'g{version}', 'json.ignore-parse-errors' = '{str(version % 3 == 0).lower()}'"
        )
        query = f"{self.view}{sink}\nINSERT INTO {self.table} {self.query};\n"
        return query.replace("{kept}", f"k >= {-version}").replace("{edited}", edited)

    @property
    def topic(self) -> str | None:
        """The topic that it writes, if it does."""
        return self.table if self.options is _TOPIC else None

    def reader(self, project: Path, bootstrap: Callable[[], str]) -> DeltaTable | Lines | Topic:
        """Its sink, as it is to be read."""
        if self.topic is not None:
            return Topic(self.table, bootstrap)
        return (Lines if self.options is _FILES else DeltaTable)(project / "tables" / self.table)


SHAPES = (
    Shape("append", "copies", "id BIGINT, k INT, v INT", _DELTA, "SELECT id, k, v FROM events WHERE {kept}", Load.copies),
    Shape(
        "edited source", "seen", "id BIGINT, k INT, v INT", _DELTA,
        "SELECT id, k, v FROM events /*+ OPTIONS({edited}) */ WHERE {kept}", Load.copies,
    ),
    Shape("MERGE", "totals", f"k INT, n BIGINT, total BIGINT{_BY_K}", _DELTA, _PER_KEY, Load.totals),
    Shape(
        "aggregate chain", "sizes", "n BIGINT, num BIGINT, total BIGINT, PRIMARY KEY (n) NOT ENFORCED", _DELTA,
        f"SELECT n, COUNT(*), SUM(total) FROM ({_PER_KEY}) GROUP BY n", Load.sizes,
    ),
    Shape(
        "temporal join", "priced", "id BIGINT, k INT, price BIGINT", _DELTA,
        "SELECT e.id, e.k, r.price FROM (SELECT * FROM events WHERE {kept}) AS e JOIN rates FOR SYSTEM_TIME AS OF e.at_ltz AS r ON e.k = r.k",
        Load.priced,
    ),
    Shape(
        "session", "sessions", "k INT, began BIGINT, ended BIGINT, n BIGINT, total BIGINT", _DELTA,
        "SELECT k, MIN(ts), MAX(ts), COUNT(*), SUM(v) FROM SESSION(TABLE kept PARTITION BY k, DESCRIPTOR(at_ltz), INTERVAL '4.1' SECOND) "
        "GROUP BY k, window_start, window_end", Load.sessions, key=2, view="CREATE VIEW kept AS SELECT * FROM events WHERE {kept};\n",
    ),
    Shape(
        "MATCH_RECOGNIZE", "rises", "k INT, a BIGINT, b BIGINT", _DELTA,
        "SELECT k, a, b FROM (SELECT * FROM events WHERE {kept}) MATCH_RECOGNIZE (PARTITION BY k ORDER BY at_ltz MEASURES A.id AS a, B.id AS b "
        "ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A B) DEFINE A AS A.v < 50, B AS B.v >= 50)", Load.rises, key=2,
    ),
    Shape("files", "odd", "id BIGINT, k INT, v INT", _FILES, "SELECT id, k, v FROM lines WHERE MOD(id, 2) = 1 AND {kept}", Load.odd),
    Shape("upsert-kafka", "latest", f"k INT, n BIGINT, total BIGINT{_BY_K}", _TOPIC, _PER_KEY, Load.totals),
)  # fmt: skip
_RANKED = "SELECT {} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY {}) AS n FROM events WHERE {{kept}}) WHERE n <= {}"
# All into topics.
REAL_TIME_SHAPES = (
    SHAPES[-1],
    Shape(
        "aggregate chain", "sizes", "n BIGINT, num BIGINT, total BIGINT, PRIMARY KEY (n) NOT ENFORCED", _TOPIC,
        f"SELECT n, COUNT(*), SUM(total) FROM ({_PER_KEY}) GROUP BY n", Load.sizes,
    ),
    Shape(
        "outer join", "pairs", "id BIGINT, v INT, w INT, PRIMARY KEY (id) NOT ENFORCED", _TOPIC,
        "SELECT a.id, a.v, COALESCE(b.v, -1) FROM (SELECT * FROM events WHERE {kept}) AS a "
        "LEFT JOIN (SELECT id, v FROM events WHERE v >= 50) AS b ON a.id = b.id", Load.pairs,
    ),
    # Half of its rows are there for a moment, or never: it depends on which input comes first.
    Shape(
        "anti join", "lows", "id BIGINT, v INT, PRIMARY KEY (id) NOT ENFORCED", _TOPIC,
        "SELECT a.id, a.v FROM (SELECT * FROM events WHERE {kept}) AS a WHERE NOT EXISTS (SELECT 1 FROM events AS b WHERE b.id = a.id AND b.v >= 50)",
        Load.lows,
    ),
    Shape(
        "Top-N", "best", "k INT, n BIGINT, id BIGINT, PRIMARY KEY (k, n) NOT ENFORCED", _TOPIC,
        _RANKED.format("k, n, id", "v DESC, id", 3), Load.best, key=2,
    ),
    Shape("deduplication", "newest", f"k INT, id BIGINT{_BY_K}", _TOPIC, _RANKED.format("k, id", "id DESC", 1), Load.newest),
)  # fmt: skip


def script(shapes: Sequence[Shape], settings: str, servers: str, versions: Mapping[str, int]) -> str:
    """The script of all shapes, each in its version."""
    return (settings + SOURCES + "".join(shape.sql(versions[shape.table]) for shape in shapes)).replace("{servers}", servers)
