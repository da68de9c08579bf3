"""What is suggested at a place: ‸ is the cursor. The first suggestions must be those named, or ``.. x`` says that x is among them."""

import pytest

from sqlstream.session.completion import suggest
from sqlstream.session.completion.context import Column, Context, KnownRelation
from tests.support import pace

ORDERS = (
    Column("id", "BIGINT"), Column("item", "STRING"), Column("price", "INT"), Column("ts", "TIMESTAMP(3)"), Column("order", "STRING"),
    Column("buyer", "ROW<`name` STRING>", (Column("name", "STRING"),)),
)  # fmt: skip
PAYMENTS = (Column("id", "BIGINT"), Column("paid", "INT"), Column("ts", "TIMESTAMP(3)"))
COLUMNS = {"orders": ORDERS, "payments": PAYMENTS, "totals": (Column("total", "INT"),), "my table": (Column("x", "INT"),)}
OPTIONS = {
    "orders": {"connector": "kafka", "format": "json", "topic": "orders"},
    "payments": {"connector": "datagen"},
}
CONTEXT = Context(
    names={
        "default_catalog": {
            "default_database": (
                KnownRelation("my table", False, "print"), KnownRelation("orders", False, "kafka"), KnownRelation("payments", False, "datagen"), KnownRelation("totals", True),
            ),
            "archive": (KnownRelation("old_orders", False, "delta"),),
        },
        "lake": {"gold": (KnownRelation("facts", False, "delta"),)},
    },
    columns=lambda path: COLUMNS.get(path.name, ()),
    options=lambda path: OPTIONS.get(path.name, {}),
    functions=("my_score",),
    jobs=lambda: ["job-1"],
    savepoints=lambda: ["/kept/job-1"],
    queries=lambda: ["daily", "weekly"],
    topics=lambda given: [f"topic-of-{given.get('properties.bootstrap.servers', '')}"],
    settings={"pipeline.name": "mine"},
)  # fmt: skip

CASES = """
-- statements
‸                                                      SELECT | WITH | VALUES | INSERT
SEL‸                                                   SELECT
sel‸                                                   select
SELECT 1; DR‸                                          DROP
INSERT ‸                                               INTO | OVERWRITE
CREATE TEM‸                                            TEMPORARY
CREATE TEMPORARY ‸                                     TABLE | VIEW | SYSTEM | FUNCTION
DROP TABLE ‸                                           `my table` | orders | payments
DROP TABLE IF EXISTS o‸                                orders
DROP VIEW ‸                                            totals
SHOW CREATE ‸                                          TABLE | VIEW | CATALOG
SHOW CREATE VIEW ‸                                     totals
SHOW TABLES FROM ‸                                     default_database | archive | default_catalog | lake
DESCRIBE o‸                                            orders
DESCRIBE archive.‸                                     old_orders
DESCRIBE FUNCTION my‸                                  my_score
USE ‸                                                  default_database | archive | default_catalog | lake | CATALOG
USE CATALOG ‸                                          default_catalog | lake
USE lake.‸                                             gold
STOP JOB ‸                                             'job-1'
STOP JOB '‸                                            'job-1'
STOP JOB 'job-1' WITH ‸                                SAVEPOINT | DRAIN
EXPLAIN ‸                                              .. CHANGELOG_MODE
EXPLAIN JOB ‸                                          'job-1'
DESCRIBE JOB EXTENDED ‸                                'job-1'
SAVEPOINT JOB ‸                                        'job-1'
DETACH JOB ‸                                           'job-1'
DROP SAVEPOINT ‸                                       '/kept/job-1'
DESCRIBE SAVEPOINT '‸                                  '/kept/job-1'
SHOW JOB ‸                                             METRICS
INSERT INTO ‸                                          `my table` | orders | payments
INSERT INTO payments ‸                                 SELECT | WITH | VALUES
INSERT INTO payments (‸                                id | paid | ts
INSERT INTO payments (id, ‸                            paid | ts
EXECUTE STATEMENT SET BEGIN INSERT INTO pay‸           payments
EXECUTE STATEMENT SET BEGIN INSERT INTO payments SELECT 1, 2, 3; INSERT INTO o‸       orders
HELP ka‸                                               kafka | upsert-kafka
HELP CONN‸                                             CONNECTOR
HELP FU‸                                               FUNCTIONS | FUNCTION
HELP FORM‸                                             FORMAT
HELP TOP‸                                              TOP-N
HELP CONNECTOR k‸                                      kafka
HELP FORMAT de‸                                        debezium-avro-confluent
HELP SET idle‸                                         'sql-gateway.session.idle-timeout' | 'table.exec.source.idle-timeout'
SOURCE '‸                                              'queries/daily.sql' | 'queries/weekly.sql'
\\n ‸                                                  daily | weekly
\\n we‸                                                weekly
\\p‸                                                   \\peek | \\plot
\\d ord‸                                               orders
\\why ‸                                                job-1
\\h ka‸                                                kafka | upsert-kafka
\\peek ‸                                               topic-of-
PEEK '‸                                                'topic-of-'
INFER TABLE x FROM 'to‸                                'topic-of-'

-- FROM
SELECT * FROM ‸                                        `my table` | orders | payments | totals | archive | lake | TABLE(
SELECT * FROM o‸                                       orders
SELECT * FROM archive.‸                                old_orders
SELECT * FROM lake.gold.‸                              facts
SELECT * FROM `o‸                                      `orders`
SELECT * FROM orders ‸                                 JOIN | LEFT JOIN
SELECT * FROM orders LEFT ‸                            JOIN
SELECT * FROM orders o WH‸                             WHERE
SELECT * FROM orders o JOIN ‸                          .. payments
SELECT * FROM orders, pay‸                             payments
WITH big AS (SELECT 1 AS one) SELECT * FROM b‸         big
WITH big AS (SELECT 1 AS one) ‸                        SELECT
SELECT * FROM (‸                                       SELECT | WITH | VALUES
SELECT * FROM TABLE(‸                                  TUMBLE( | HOP( | CUMULATE(
SELECT * FROM TABLE(‸                                  .. my_score(
SELECT * FROM TABLE(TUMBLE(‸                           TABLE | DATA =>
SELECT * FROM TABLE(TUMBLE(TABLE ‸                     `my table` | orders | payments | totals
SELECT * FROM TABLE(TUMBLE(TABLE orders, ‸             DESCRIPTOR( | INTERVAL
SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(‸  ts
SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' ‸          SECOND | MINUTE | HOUR
SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL ‸              '1' MINUTE | '10' SECOND | '1' HOUR | '1' DAY
SELECT * FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL ‸   '1' MINUTE
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL ‸             '1' MINUTE
SELECT EXTRACT(‸ FROM orders                           YEAR | QUARTER | MONTH
SELECT EXTRACT(mon‸ FROM orders                        MONTH
SELECT EXTRACT(YEAR ‸ FROM orders                      FROM
SELECT EXTRACT(YEAR FROM ‸) FROM orders                id | item | price | ts
SELECT TIMESTAMPDIFF(‸ FROM orders                     YEAR
SELECT TIMESTAMPADD(DAY, 1, ‸) FROM orders             id | item | price | ts
SELECT ts - INTERVAL ‸ FROM orders                     '1' MINUTE
SELECT * FROM orders o JOIN payments p ON ‸            o.id = p.id | o.ts = p.ts
SELECT * FROM orders o JOIN payments p ON o.‸          id | item | price | ts | `order` | buyer
SELECT * FROM orders o JOIN payments p USING (‸        id | ts
SELECT * FROM orders AS o JOIN payments FOR ‸          SYSTEM_TIME AS OF
SELECT * FROM orders AS o JOIN payments FOR SYSTEM_TIME AS OF o.‸    id | item | price | ts
SELECT * FROM orders WHERE id = 1 UNION ‸              ALL | SELECT

-- expressions
SELECT ‸ FROM orders                                   id | item | price | ts | `order` | buyer | orders
SELECT pr‸ FROM orders                                 price
SELECT o.‸ FROM orders AS o                            id | item | price | ts | `order` | buyer
SELECT o.pr‸ FROM orders AS o                          price
SELECT orders.it‸ FROM orders                          item
SELECT old.‸ FROM archive.old_orders AS old
SELECT o.buyer.‸ FROM orders AS o                      name
SELECT buyer.‸ FROM orders                             name
SELECT `or‸ FROM orders                                `order` | `orders`
SELECT ‸ FROM orders o JOIN payments p ON TRUE         o.id | item | price | o.ts | `order` | buyer | p.id | paid | p.ts | o | p
SELECT ‸ FROM `my table`                               x | `my table`
SELECT i‸ FROM (SELECT item AS it, price FROM orders)  it
SELECT ‸ FROM (SELECT * FROM payments) AS t            id | paid | ts | t
SELECT ‸ FROM (SELECT o.*, 1 AS uno FROM orders o) t   id | item | price | ts | `order` | buyer | uno
SELECT t.‸ FROM (SELECT p.paid, p.id number FROM payments p) t      paid | number
WITH big AS (SELECT item, price * 2 AS double_price FROM orders) SELECT d‸ FROM big    double_price
WITH big (a, b) AS (SELECT item, price FROM orders) SELECT ‸ FROM big                  a | b | big
WITH a AS (SELECT id FROM orders), b AS (SELECT id AS c FROM a) SELECT ‸ FROM b        c | b
SELECT window‸ FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))     window_start | window_end | window_time
SELECT t.x‸ FROM UNNEST(ARRAY[1]) AS t (xx)            xx
SELECT lo‸ FROM orders MATCH_RECOGNIZE (PARTITION BY item ORDER BY ts MEASURES A.price AS lowest PATTERN (A) DEFINE A AS TRUE)      lowest
SELECT * FROM orders MATCH_RECOGNIZE (PARTITION BY ‸   id | item | price
SELECT * FROM orders MATCH_RECOGNIZE (PARTITION BY item ORDER BY ts MEASURES A.‸       id | item | price
SELECT SUM(pr‸ FROM orders                             price
SELECT SUM(‸ FROM orders                               id | item | price
SELECT COALESCE(item, UPPER(‸ FROM orders WHERE id IN (1)      id | item
SELECT uppe‸                                           UPPER(
select uppe‸                                           upper(
SELECT uppe‸(item)                                     UPPER
SELECT CURRENT_DA‸                                     .. CURRENT_DATE
SELECT my_‸                                            my_score(
SELECT CAST(price ‸                                    AS
SELECT CAST(price AS ‸                                 STRING | INT | BIGINT
SELECT CAST(price AS TIMESTAMP_‸                       TIMESTAMP_LTZ
SELECT price ‸                                         FROM | AS
SELECT item FROM orders WHERE ‸                        id | item
SELECT item FROM orders WHERE price ‸                  AND | OR | NOT | IN | IS | BETWEEN | LIKE
SELECT item FROM orders WHERE price IS ‸               NULL | NOT NULL
SELECT item FROM orders WHERE price > 1 AND p‸         price
SELECT item FROM orders WHERE id IN (‸                 SELECT | WITH | VALUES | id
SELECT item FROM orders o WHERE EXISTS (SELECT 1 FROM payments WHERE o.it‸        item
SELECT CASE WHEN price > 1 TH‸                         THEN
SELECT item FROM orders GROUP ‸                        BY
SELECT item FROM orders GROUP BY i‸                    id | item
SELECT price AS cost FROM orders ORDER BY c‸           cost
SELECT price FROM orders ORDER BY price ‸              ASC | DESC
SELECT price FROM orders ORDER BY price DESC LI‸       .. LIMIT
SELECT ts - INTERVAL '1' ‸ FROM orders                 SECOND | MINUTE
SELECT ROW_NUMBER() ‸                                  .. OVER (
SELECT ROW_NUMBER() OVER (‸) FROM orders               PARTITION BY | ORDER BY
SELECT ROW_NUMBER() OVER (PARTITION BY it‸) FROM orders      item
SELECT ROW_NUMBER() OVER (PARTITION BY item ORDER ‸) FROM orders     BY
SELECT a FROM orders UNION ALL SELECT p‸ FROM payments     paid
SELECT price FROM orders -- a wo‸
SELECT price FROM orders /* a wo‸
SELECT 12‸
SELECT 'some ‸
INSERT INTO payments SELECT pr‸ FROM orders            price
CREATE VIEW v AS SELECT pr‸ FROM orders                price

-- declarations
CREATE TABLE t (‸                                      WATERMARK FOR | PRIMARY KEY | CONSTRAINT
CREATE TABLE t (a ‸                                    STRING | INT | BIGINT
CREATE TABLE t (a BIG‸                                 BIGINT
CREATE TABLE t (a INT ‸                                NOT NULL | PRIMARY KEY NOT ENFORCED | METADATA
CREATE TABLE t (a ARRAY<‸                              STRING | INT
CREATE TABLE t (a ROW<x ‸                              STRING | INT
CREATE TABLE t (a INT, b AS UPPE‸                      UPPER(
CREATE TABLE t (abc INT, b AS ab‸                      abc
CREATE TABLE t (a INT, t TIMESTAMP(3), WATERMARK FOR ‸      a | t
CREATE TABLE t (a INT, t TIMESTAMP(3), WATERMARK FOR t AS ‸     a | t
CREATE TABLE t (a INT, PRIMARY KEY (‸                  a
CREATE TABLE t (a INT, PRIMARY KEY (a) ‸               NOT ENFORCED
CREATE TABLE t (k STRING METADATA FROM '‸') WITH ('connector' = 'kafka')       'topic | 'partition
CREATE TABLE t (a INT) ‸                               COMMENT | DISTRIBUTED | PARTITIONED | WITH
CREATE TABLE t (a INT) PARTITIONED BY (‸               a
ALTER TABLE orders ‸                                   ADD | MODIFY | DROP | RENAME | SET | RESET
ALTER TABLE orders RENAME it‸                          item
ALTER TABLE orders DROP (‸                             id | item

-- options
CREATE TABLE t (a INT) WITH (‸                         'connector' = '
CREATE TABLE t (a INT) WITH ('‸                        'connector' = '
CREATE TABLE t (a INT) WITH ('connector' = '‸          'blackhole' | 'datagen' | 'delta'
CREATE TABLE t (a INT) WITH ('connector' = ‸           'blackhole' | 'datagen' | 'delta'
CREATE TABLE t (a INT) WITH ('connector' = 'ka‸'       'kafka | 'upsert-kafka
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'scan.star‸'      'scan.startup.mode' = '
CREATE TABLE t (a INT) WITH ('scan.star‸' = 'x', 'connector' = 'kafka')     'scan.startup.mode
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'scan.startup.mode' = '‸      'group-offsets' | 'earliest-offset'
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'scan.startup.mode' = '‸', 'format' = 'json')      'group-offsets | 'earliest-offset
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'format' = 'json', 'json.ig‸     'json.ignore-parse-errors' = '
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'value.format' = 'csv', 'value.csv.fi‸     'value.csv.field-delimiter' = '
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'format' = 'json', 'json.ignore-parse-errors' = '‸    'true' | 'false'
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'format' = 'j‸      'json'
CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'format' = 'par‸     'parquet'
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'h:1', 'topic' = '‸    'topic-of-h:1'
CREATE TABLE t (abc INT) WITH ('connector' = 'datagen', 'fields.‸     'fields.abc.kind' = ' | 'fields.abc.min' = '
CREATE CATALOG c WITH ('type' = '‸                     'generic_in_memory'
CREATE CATALOG c WITH ('type' = 'generic_in_memory', 'def‸     'default-database' = '
SELECT * FROM orders /*+ OP‸                           OPTIONS(
SELECT * FROM orders /*+ OPTIONS('scan.star‸           'scan.startup.mode' = '
SELECT * FROM default_database.orders /*+ OPTIONS('json.ig‸     'json.ignore-parse-errors' = '
SELECT * FROM orders /*+ OPTIONS('scan.startup.mode' = 'e‸') */ WHERE price > 1       'earliest-offset
SELECT * FROM payments /*+ OPTIONS('number‸            'number-of-rows' = '
ALTER TABLE orders SET ('scan.star‸                    'scan.startup.mode' = '
ALTER TABLE orders RESET ('‸                           'connector' | 'topic' | 'format'
SET 'sql-client.execution.res‸                         'sql-client.execution.result-mode' = '
SET sql-client.edit‸
SET ‸                                                  'sql-client.execution.result-mode' = '
SET 'sql-client.edit-mode' = '‸                        'emacs' | 'vi'
SET 'table.dml-sync' = ‸                               'true' | 'false'
SET 'table.dml-sync' = '‸';                            'true | 'false
RESET 'table.dml‸                                      'table.dml-sync'
"""


def cases():
    for line in CASES.splitlines():
        if line.strip() and not line.startswith("--"):
            text, _, wanted = line.partition("  ") if "  " in line else (line, "", "")
            yield pytest.param(text, wanted.strip(), id=text)


def suggested(text):
    at = text.index("‸")
    return suggest(text.replace("‸", ""), at, CONTEXT)


@pytest.mark.parametrize(("text", "wanted"), list(cases()))
def test_suggestions(text, wanted):
    got = [s.text for s in suggested(text.rstrip() if not text.rstrip().endswith("\\n") else text)]
    if wanted.startswith(".. "):
        assert wanted.removeprefix(".. ") in got
    elif wanted:
        assert got[: wanted.count(" | ") + 1] == wanted.split(" | ")
    else:
        assert got == []


def test_a_suggestion_replaces_what_is_typed_with_its_quote():
    assert not suggested("SELECT `ord‸")  # nothing is in scope
    found = suggested("SELECT `ord‸ FROM orders")
    assert [(s.text, s.length) for s in found] == [("`order`", 4), ("`orders`", 4)]
    assert [(s.text, s.length) for s in suggested("SET 'table.dml-sync' = 'tr‸'")] == [("'true", 3)]


def test_the_reader_is_told_what_it_is():
    assert {s.text: s.meta for s in suggested("SELECT ‸ FROM orders")}["price"] == "INT"
    assert "SUBSTRING(" in {s.text: s.meta for s in suggested("SELECT SUBSTR‸")}["SUBSTRING("]
    assert "required" in {s.text: s.meta for s in suggested("CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', ‸")}["'path' = '"]
    assert suggested("SET 'pipeline.na‸")[0].meta.startswith("is mine; ")


def test_no_text_is_too_broken():
    script = "WITH a AS (SELECT `x y`, 'it''s' FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '1' DAY)) /*+ OPTIONS('k'='v') */ t (a, b)) " + (
        "SELECT CASE WHEN a.b IN (1, 2) THEN CAST(x AS ROW<a INT>) END c FROM a, (SELECT * FROM b) x JOIN LATERAL TABLE(f(x)) ON TRUE ORDER BY 1; "
        "CREATE TABLE IF NOT EXISTS t (a INT, WATERMARK FOR a AS a - INTERVAL '5' SECOND, PRIMARY KEY (a) NOT ENFORCED) WITH ('a' = 'b') -- x"
    )
    for at in range(len(script)):
        suggest(script[:at], at, CONTEXT)
        suggest(script, at, CONTEXT)
        suggest(script[at:], 0, CONTEXT)
        suggest(script[at:], len(script) - at, CONTEXT)


CALLS = 60_000


def test_five_hundred_tables_are_no_wait():
    tables = tuple(KnownRelation(f"table_{i:03}", False, "kafka") for i in range(500))
    context = Context(names={"default_catalog": {"default_database": tables}}, columns=lambda path: tuple(Column(f"c{i}", "INT") for i in range(50)))
    texts = ("SELECT * FROM t‸", "SELECT c‸ FROM table_001 a JOIN table_002 b ON a.c1 = b.c1", "SELECT ‸", "CREATE TABLE t (a INT) WITH ('‸")

    for text in texts:
        at = text.index("‸")
        taken = pace.calls(lambda text=text, at=at: suggest(text.replace("‸", ""), at, context))
        assert taken < CALLS, text
