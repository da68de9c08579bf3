"""The faker connector: expressions of the shapes that scripts have, what is made of them, and what is refused."""

from __future__ import annotations

import datetime
import re
from typing import TYPE_CHECKING

import pytest

from sqlstream.connectors import find_connector
from sqlstream.core.errors import JobFailed, NotSupported, SqlStreamError, ValidationError
from sqlstream.sql import types as T
from tests.support import sessions
from tests.support.sessions import open_session

if TYPE_CHECKING:
    from pathlib import Path

FAKER = find_connector("faker")
_TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?"
# Expressions that recipes and scripts use, and how each value looks.
EXPRESSIONS = [
    ("#{regexify '(RECEIVED|SHIPPED|CANCELLED){1}'}", "RECEIVED|SHIPPED|CANCELLED"),
    ("#{Options.option 'RECEIVED','SHIPPED','CANCELLED')}", "RECEIVED|SHIPPED|CANCELLED"),
    ("#{options.option 'a','b'}", "a|b"),
    ("#{date.past '15','SECONDS'}", _TIME),
    ("#{date.past '15','5','SECONDS'}", _TIME),
    ("#{date.future '15','5','SECONDS'}", _TIME),
    ("#{date.birthday}", _TIME),
    ("#{date.birthday '1','100'}", _TIME),
    ("#{time.future '15','5','SECONDS'}", r"\d+"),
    ("-", "-"),
    ("#{number.numberBetween '0','100'}", r"\d\d?"),
    ("#{number.numberBetween '-5','5'}", r"-?\d"),
    ("#{number.randomDouble '2','0','100'}", r"\d+\.\d+"),
    ("#{Internet.publicIpV4Address}", r"(\d+\.){3}\d+"),
    ("#{Internet.userAgentAny}", "(Mozilla|Opera).*"),
    ("#{Internet.uuid}", r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    ("#{regexify '(GET|POST|PUT|PATCH|DELETE){1}'} #{regexify '(/search\\.html|/login\\.html){1}'} HTTP/1.1", "[A-Z]+ /.* HTTP/1.1"),
    ("#{harry_potter.character}", ".+"),
    ("#{harry_potter.characters}", ".+"),
    ("#{harry_potter.spell}", ".+"),
    ("#{Address.fullAddress}", ".+, .+"),
    ("#{Address.city}", ".+"),
    ("#{dr_who.the_doctors}", ".+"),
    ("#{Commerce.productName}", ".+"),
    ("#{superhero.name}", ".+"),
    ("#{name.full_name}", ".+ .+"),
    ("#{Name.firstName}", ".+"),
    ("#{currency.code}", "[A-Z]{3}"),
    ("#{rickandmorty.location}", ".+"),
    ("#{space.nasaSpaceCraft}", ".+"),
    ("#{hitchhikersGuideToTheGalaxy.starship}", ".+"),
    ("#{bool.bool}", "true|false"),
    ("#{number.digits '5'}", r"\d{5}"),
    ("Zürich '#{number.digit}' \\ \"x\"", "Zürich '\\d' \\\\ \"x\""),
]


@pytest.mark.spark
def test_expressions(run, make_table) -> None:
    options = {f"fields.c{i}.expression": expression for i, (expression, _) in enumerate(EXPRESSIONS)}
    table = make_table([(f"c{i}", T.STRING) for i in range(len(EXPRESSIONS))], {"connector": "faker", "number-of-rows": "50", **options})
    assert FAKER.check(table) == []
    rows = run.rows(table)
    assert len(rows) == 50
    for (expression, looks), cells in zip(EXPRESSIONS, zip(*rows, strict=True), strict=True):
        assert [cell for cell in cells if not re.fullmatch(looks, cell)] == [], expression
        assert len(set(cells)) > 1 or expression == "-", expression


SCALARS = [
    ("ti", T.TINYINT, "#{number.numberBetween '-9','9'}"), ("si", T.SMALLINT, "7"), ("i", T.INT, "-12"), ("bi", T.BIGINT, "9007199254740993"),
    ("f", T.FLOAT, "1.5"), ("d", T.DOUBLE, "1e10"), ("de", T.decimal(5, 1), "1.25"), ("big", T.decimal(3, 0), "1000"), ("b", T.BOOLEAN, "TRUE"),
    ("no", T.BOOLEAN, "yes"), ("c", T.char(3), "abc"), ("vc", T.varchar(7), "é'\\"), ("da", T.DATE, "1969-12-31 23:30:00"),
    ("t0", T.time(0), "45296789000000"), ("ts", T.timestamp(3), "2024-03-31 02:30:00.123456789"), ("t2", T.timestamp(0), "2024-03-31 02:30:00.9"),
    ("l", T.timestamp_ltz(3), "2024-03-31 02:30:00.5"),
]  # fmt: skip


@pytest.mark.spark
def test_types(run, make_table) -> None:
    options = {f"fields.{name}.expression": expression for name, _, expression in SCALARS}
    table = make_table([(name, type_) for name, type_, _ in SCALARS], {"connector": "faker", "number-of-rows": "1", **options})
    frame = run.frame(table)
    carried = run.spark.range(1).selectExpr(*[f"CAST(NULL AS {t.spark}) AS {c}" for c, t, _ in SCALARS])
    assert [f.dataType.simpleString() for f in frame.schema] == [f.dataType.simpleString() for f in carried.schema]
    texts = frame.selectExpr(*[f"CAST({name} AS STRING)" for name, _, _ in SCALARS[1:]]).first()
    assert list(texts) == [
        "7", "-12", "9007199254740993", "1.5", "1.0E10", "1.3", None, "true", "false", "abc", "é'\\", "1969-12-31", "12:34:56",
        "2024-03-31 02:30:00.123", "2024-03-31 02:30:00", "2024-03-31 02:30:00.5",
    ]  # fmt: skip


@pytest.mark.spark
def test_collections(run, make_table) -> None:
    columns = [
        ("m", T.map_of(T.STRING, T.INT)), ("ms", T.multiset(T.STRING)), ("a", T.array(T.DATE)), ("r", T.row(("house", "a.b"), (T.STRING, T.INT))),
        ("n", T.array(T.INT)), ("nr", T.row(("x",), (T.INT,))),
    ]  # fmt: skip
    options = {
        "fields.m.key.expression": "#{regexify '[ab]'}", "fields.m.value.expression": "#{number.numberBetween '10','100'}", "fields.m.length": "5",
        "fields.ms.expression": "#{regexify '[xy]'}", "fields.ms.length": "6", "fields.a.expression": "#{date.birthday}", "fields.a.length": "3",
        "fields.r.house.expression": "#{harry_potter.house}", "fields.r.a.b.expression": "3", "fields.n.expression": "1", "fields.n.null-rate": "1",
        "fields.nr.x.expression": "1", "fields.nr.null-rate": "1.0",
    }  # fmt: skip
    table = make_table(columns, {"connector": "faker", "number-of-rows": "400", **options})
    assert FAKER.check(table) == []
    rows = run.rows(table)
    for m, ms, a, r, n, nr in rows:
        assert set(m) <= {"a", "b"} and all(10 <= v < 100 for v in m.values())
        assert set(ms) <= {"x", "y"} and sum(ms.values()) == 6
        assert len(a) == 3 and all(isinstance(day, datetime.date) for day in a)
        assert r[0] and r[1] == 3
        assert n is None and nr is None
    assert {len(row[0]) for row in rows} == {1, 2}


@pytest.mark.spark
def test_the_same_rows_in_one_job(run, make_table) -> None:
    options = {"fields.s.expression": "#{name.fullName}", "fields.n.expression": "#{number.numberBetween '0','1000000'}", "fields.n.null-rate": "0.5"}
    table = make_table([("s", T.STRING), ("n", T.INT)], {"connector": "faker", "number-of-rows": "400", **options})
    rows = run.rows(table)
    assert rows == run.rows(table)
    assert len({name for name, _ in rows}) > 300
    assert 150 < sum(n is None for _, n in rows) < 250


@pytest.mark.spark
def test_no_rows_and_no_end(run, make_table) -> None:
    columns, options = [("s", T.STRING)], {"connector": "faker", "fields.s.expression": "x"}
    assert run.rows(make_table(columns, {**options, "number-of-rows": "0"})) == []
    endless = make_table(columns, options)
    assert not FAKER.bounded(endless)
    assert run.frame(endless, streaming=True).isStreaming


@pytest.mark.parametrize(
    ("columns", "options", "problem", "error"),
    [
        ([("i", T.INT)], {}, "No expression found for i", ValidationError),
        ([("m", T.map_of(T.STRING, T.INT))], {"fields.m.key.expression": "a"}, "No expression found for m", ValidationError),
        ([("r", T.row(("a", "b"), (T.INT, T.INT)))], {"fields.r.a.expression": "1"}, "No expression found for r", ValidationError),
        ([("i", T.INT)], {"fields.i.expression": "1", "fields.i.null-rate": "1.5"}, r"Null rate needs to be in \[0,1\]", ValidationError),
        ([("i", T.INT)], {"fields.i.expression": "1", "fields.i.null-rate": "-1"}, "less than 0", ValidationError),
        ([("i", T.INT)], {"fields.i.expression": "1", "fields.i.length": "2"}, "length may not be set for i", ValidationError),
        ([("a", T.array(T.INT))], {"fields.a.expression": "1", "fields.a.length": "0"}, "less than 1", ValidationError),
        ([("b", T.BYTES)], {"fields.b.expression": "1"}, "makes no values of type BYTES", NotSupported),
        ([("a", T.array(T.array(T.INT)))], {"fields.a.expression": "1"}, "makes no values of type ARRAY<INT>", NotSupported),
        ([("i", T.INT)], {"fields.i.expression": "1", "number-of-rows": "x"}, "number-of-rows", ValidationError),
    ],
)
def test_refused(make_table, columns, options: dict[str, str], problem: str, error: type[SqlStreamError]) -> None:
    with pytest.raises(error, match=problem):
        FAKER.check(make_table(columns, {"connector": "faker", **options}))


def test_what_flink_does_not_read_is_told(make_table) -> None:
    options = {"fields.i.expression": "1", "fields.seen.expression": "x", "rows-per-second": "1", "number-of-rows": "1"}
    notices = FAKER.check(make_table([("i", T.INT)], {"connector": "faker", **options}))
    assert [re.findall(r"'([\w.-]+)' of", notice) for notice in notices] == [["fields.seen.expression"], ["rows-per-second"]]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("type_", "expression", "problem", "error"),
    [
        ("INT", "#{name.fullName}", "gives '.*', which is no INT", JobFailed),
        ("TIMESTAMP(3)", "12:00", "which is no TIMESTAMP", JobFailed),
        ("STRING", "#{nosuch.thing}", r"Unable to resolve #\{nosuch.thing\} directive\.$", ValidationError),
        ("STRING", "#{internet.userAgent}", "names several values", ValidationError),
    ],
)
def test_what_an_expression_does_not_give(tmp_path: Path, engine, type_: str, expression: str, problem: str, error: type[SqlStreamError]) -> None:
    declared = f"CREATE TABLE made (c {type_}) WITH ('connector' = 'faker', 'number-of-rows' = '3', 'fields.c.expression' = '{expression}')"
    session = open_session(tmp_path, declared, options={"execution.runtime-mode": "batch"}, engine=engine)
    with pytest.raises(error, match=problem) as raised:
        sessions.rows(session, "SELECT c\nFROM made")
    if error is ValidationError:
        assert raised.value.location.line == 2
    session.close()


LOOKED_UP = """
CREATE TABLE orders (id INT, customer INT, seen AS PROCTIME()) WITH ('connector' = 'faker', 'number-of-rows' = '60',
    'fields.id.expression' = '#{number.numberBetween ''0'',''100''}', 'fields.customer.expression' = '#{number.numberBetween ''0'',''5''}',
    'fields.customer.null-rate' = '0.3');
CREATE TABLE customers (id INT, name STRING, age INT, loud AS UPPER(name)) WITH ('connector' = 'faker',
    'fields.id.expression' = '#{number.numberBetween ''0'',''5''}', 'fields.name.expression' = '#{superhero.name}',
    'fields.age.expression' = '#{number.numberBetween ''0'',''100''}');
CREATE VIEW adults AS SELECT id AS number, id AS again, loud, age * 10 AS tenths FROM customers WHERE age >= 18;
"""


@pytest.mark.spark
def test_a_lookup_makes_the_row_of_the_key(tmp_path: Path, engine) -> None:
    session = open_session(tmp_path, LOOKED_UP, engine=engine)
    joined = "SELECT o.customer, c.{} FROM orders AS o {} JOIN {} FOR SYSTEM_TIME AS OF o.seen AS c ON o.customer = c.{}"
    inner = sessions.rows(session, joined.format("id, c.name, c.loud", "", "customers", "id"))
    assert 20 < len(inner) < 60
    assert all(key == id_ and key is not None and name.upper() == loud for key, id_, name, loud in inner)
    assert len({name for _, _, name, _ in inner}) > 10
    left = sessions.rows(session, joined.format("number, c.tenths", "LEFT", "adults", "number AND c.tenths < o.id * 10"))
    assert len(left) == 60
    found = [row for row in left if row[1] is not None]
    assert 0 < len(found) < 60
    assert all(key == number and 180 <= int(tenths) < 1000 for key, number, tenths in found)
    assert all(row[2] is None for row in left if row[1] is None)
    # One column under two names is not two numbers.
    assert sessions.rows(session, joined.format("number, c.again", "", "adults", "number AND o.customer + 1 = c.again")) == []
    session.close()
