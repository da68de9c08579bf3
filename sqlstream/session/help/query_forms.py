"""The forms of queries as data: HELP explains each by its syntax, a sentence and a script that runs."""

from __future__ import annotations

from dataclasses import dataclass

from sqlstream.sql.functions.windows import WINDOW_FUNCTIONS


@dataclass(frozen=True)
class QueryForm:
    """One form. ``aliases`` are other words for it; ``example`` is a script that runs as it is."""

    name: str
    syntax: str
    summary: str
    example: str
    aliases: tuple[str, ...] = ()


_ORDERS = """\
CREATE TEMPORARY TABLE orders (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'datagen', 'number-of-rows' = '1000', 'fields.item.length' = '1', 'fields.price.min' = '1', 'fields.price.max' = '99',
  'fields.ts.max-past' = '1 h');
"""
_PAYMENTS = """\
CREATE TEMPORARY TABLE payments (item STRING, paid INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'datagen', 'number-of-rows' = '1000', 'fields.item.length' = '1', 'fields.paid.min' = '1', 'fields.paid.max' = '99',
  'fields.ts.max-past' = '1 h');
"""


def _window(call: str) -> str:
    return f"""{_ORDERS}
SELECT window_start, window_end, item, COUNT(*) AS orders, SUM(price) AS total
FROM TABLE({call})
GROUP BY window_start, window_end, item;"""


_CLICKS = """\
CREATE TEMPORARY TABLE clicks (page INT, seen AS PROCTIME())
WITH ('connector' = 'datagen', 'number-of-rows' = '10', 'fields.page.max' = '3', 'fields.page.min' = '1');
"""

QUERY_FORMS = (
    *(QueryForm(f.name, f.syntax, f.summary, _window(f"{f.name}({f.arguments})"), f.aliases) for f in WINDOW_FUNCTIONS),
    QueryForm(
        "WATERMARK",
        "WATERMARK FOR column AS column - INTERVAL 'n' SECOND",
        "Declares a table's rowtime and how late its rows may come. Windows, interval and temporal joins, OVER and MATCH_RECOGNIZE give a "
        "result when the watermark has passed its time. The watermark is the least over the partitions of a table: "
        "'table.exec.source.idle-timeout' leaves idle ones out.",
        f"{_ORDERS}\nSELECT item, ts, CURRENT_WATERMARK(ts) AS passed FROM orders;",
        ("ROWTIME",),
    ),
    QueryForm(
        "PROCTIME",
        "column AS PROCTIME()",
        "Declares a processing-time attribute: the time at which a row is processed. Windows over it close by the clock.",
        f"{_CLICKS}\nSELECT page, seen FROM clicks;",
    ),
    QueryForm(
        "TOP-N",
        "SELECT .. FROM (SELECT *, ROW_NUMBER() OVER ([PARTITION BY columns] ORDER BY columns) AS n FROM ..) WHERE n <= N",
        "The first N rows of each key, kept up to date as rows come.",
        f"""{_ORDERS}
SELECT item, price FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY price DESC) AS n FROM orders)
WHERE n <= 3;""",
        ("TOPN",),
    ),
    QueryForm(
        "DEDUPLICATION",
        "SELECT .. FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY key ORDER BY time [DESC]) AS n FROM ..) WHERE n = 1",
        "The first row of each key by a time attribute, or with DESC the last.",
        f"""{_ORDERS}
SELECT item, price, ts FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY ts DESC) AS n FROM orders)
WHERE n = 1;""",
        ("DEDUPLICATE", "DEDUP"),
    ),
    QueryForm(
        "INTERVAL JOIN",
        "a JOIN b ON a.key = b.key AND a.time BETWEEN b.time - INTERVAL .. AND b.time + INTERVAL ..",
        "Joins rows whose times are near one another. Rows are kept only as long as the watermark needs.",
        f"""{_ORDERS}
{_PAYMENTS}
SELECT o.item, o.price, p.paid FROM orders AS o JOIN payments AS p
ON o.item = p.item AND p.ts BETWEEN o.ts AND o.ts + INTERVAL '1' MINUTE;""",
    ),
    QueryForm(
        "TEMPORAL JOIN",
        "a JOIN versions FOR SYSTEM_TIME AS OF a.time AS v ON a.key = v.key",
        "Joins each row with the version of its key that was valid at the row's time. The versions have a PRIMARY KEY and a watermark, or come "
        "from a deduplicating view.",
        f"""{_ORDERS}
{_PAYMENTS}
CREATE TEMPORARY VIEW last_payment AS SELECT item, paid, ts FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY ts DESC) AS n FROM payments)
WHERE n = 1;

SELECT o.item, o.price, p.paid FROM orders AS o
LEFT JOIN last_payment FOR SYSTEM_TIME AS OF o.ts AS p ON o.item = p.item;""",
        ("SYSTEM_TIME",),
    ),
    QueryForm(
        "LOOKUP JOIN",
        "a JOIN table FOR SYSTEM_TIME AS OF a.proctime AS t ON a.key = t.key",
        "Looks each row up in a jdbc, Delta or filesystem table as it comes.",
        f"""{_CLICKS}
CREATE TEMPORARY TABLE pages (page INT, title STRING) WITH ('connector' = 'filesystem', 'path' = 'pages', 'format' = 'json');

SELECT c.page, p.title FROM clicks AS c LEFT JOIN pages FOR SYSTEM_TIME AS OF c.seen AS p ON c.page = p.page;""",
    ),
    QueryForm(
        "OVER",
        "aggregate OVER (PARTITION BY columns ORDER BY time ROWS | RANGE BETWEEN .. PRECEDING AND CURRENT ROW)",
        "An aggregate of the rows before each row, by a time attribute: one row out for each row in.",
        f"""{_ORDERS}
SELECT item, ts, AVG(price) OVER (
  PARTITION BY item ORDER BY ts RANGE BETWEEN INTERVAL '10' MINUTE PRECEDING AND CURRENT ROW) AS average
FROM orders;""",
    ),
    QueryForm(
        "MATCH_RECOGNIZE",
        "FROM table MATCH_RECOGNIZE (PARTITION BY .. ORDER BY time MEASURES .. AFTER MATCH SKIP .. PATTERN (A B+ C) DEFINE ..)",
        "Finds patterns in the rows of each key, in the order of their times.",
        f"""{_ORDERS}
SELECT * FROM orders MATCH_RECOGNIZE (
  PARTITION BY item ORDER BY ts
  MEASURES FIRST(UP.price) AS low, LAST(UP.price) AS high
  ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
  PATTERN (UP{{2,}} DOWN)
  DEFINE UP AS LAST(UP.price, 1) IS NULL OR UP.price > LAST(UP.price, 1), DOWN AS DOWN.price < LAST(UP.price));""",
        ("PATTERN",),
    ),
    QueryForm(
        "UNNEST",
        "FROM table CROSS JOIN UNNEST(array | map) [WITH ORDINALITY] AS t (columns)",
        "A row for each element of an array, map or multiset.",
        """SELECT id, tag FROM (VALUES (1, ARRAY['a', 'b']), (2, ARRAY['c', 'd'])) AS posts (id, tags)
CROSS JOIN UNNEST(tags) AS t (tag);""",
    ),
    QueryForm(
        "HINTS",
        "table /*+ OPTIONS('key' = 'value') */, SELECT /*+ STATE_TTL('table' = '1d') */ ..",
        "Options of a table for one query; for how long a query keeps the rows of an input.",
        f"{_ORDERS}\nSELECT item, COUNT(*) AS orders FROM orders /*+ OPTIONS('number-of-rows' = '10') */ GROUP BY item;",
        ("OPTIONS", "STATE_TTL"),
    ),
)
