"""Each rule: what it finds, where, and what it leaves alone."""

import pytest

from sqlstream.lint.registry import RULES
from sqlstream.lint.scripts import script_findings
from sqlstream.session.checker import Checker
from tests.support.sessions import open_session

DECLARATIONS = """
CREATE TABLE clicks (who STRING, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'datagen');
CREATE TABLE people (who STRING, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'datagen');
CREATE TABLE plain (who STRING, n INT, ts TIMESTAMP(3)) WITH ('connector' = 'datagen');
CREATE TABLE counts (who STRING, n BIGINT) WITH ('connector' = 'print');
CREATE TABLE names (who STRING, friend STRING) WITH ('connector' = 'print');
CREATE TABLE keyed (who STRING, n BIGINT, PRIMARY KEY (who) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'keyed');
CREATE TABLE windows (a TIMESTAMP(3), who STRING, n BIGINT, PRIMARY KEY (a, who) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'w');
"""
WINDOWS = "TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"

FOUND = {
    "L001": "INSERT INTO counts SELECT who, COUNT(*)\nFROM clicks\n<>GROUP BY who",
    "L002": "<>INSERT INTO keyed SELECT who, n FROM clicks",
    "L003": f"SELECT window_start, COUNT(*) FROM {WINDOWS}\n<>GROUP BY window_start",
    "L004": "SELECT a.n FROM clicks AS a\n<>JOIN plain AS b ON a.who = b.who AND a.ts BETWEEN b.ts - INTERVAL '5' SECOND AND b.ts",
    "L005": "WITH <>x AS (SELECT 1 AS a) SELECT n FROM clicks",
    "L006": "INSERT INTO counts\nSELECT <>* FROM counted",
    "L007": "INSERT INTO names <>SELECT friend, who FROM (SELECT who, who AS friend FROM clicks)",
    "L008": "SELECT n FROM clicks WHERE <>who = NULL",
    "L009": "SELECT n FROM clicks WHERE <>who NOT IN (SELECT who FROM people)",
    "L010": "CREATE TABLE d (a INT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/d', 'table-name' = 't', <>'password' = 'x')",
    "L011": "CREATE TABLE d (ts TIMESTAMP(3), <>WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen')",
    "L012": "SELECT a.n FROM clicks AS a <>CROSS JOIN people AS b",
    "L013": "EXECUTE STATEMENT SET BEGIN INSERT INTO names SELECT id, who FROM marked;\n<>INSERT INTO names SELECT who, id FROM marked; END",
    "L014": "CREATE TABLE d (t TIMESTAMP(3), ts AS COALESCE(t, <>TIMESTAMP '9999-12-31 00:00:00'), WATERMARK FOR ts AS ts - INTERVAL '1' DAY) "
    "WITH ('connector' = 'datagen')",
    "L015": "CREATE TABLE d (a INT) WITH ('connector' = 'filesystem', 'path' = 'd', 'format' = 'json', <>'auto-compaction' = 'true')",
    "L016": "SET <>'auto.offset.reset' = 'earliest'",
}
CLEAN = (
    "CREATE TABLE d (a INT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/d', 'table-name' = 't', 'password' = '${PW}')",
    "CREATE TABLE d (a INT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/d', 'table-name' = 't', 'password' = '')",
    "CREATE TABLE rates (cur STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (cur) NOT ENFORCED) WITH ('connector' = 'datagen')",
    f"INSERT INTO counts SELECT who, COUNT(*) FROM {WINDOWS} GROUP BY window_start, window_end, who",
    f"INSERT INTO windows SELECT window_start, who, COUNT(*) FROM {WINDOWS} GROUP BY window_start, window_end, who",
    "SELECT a.n FROM clicks AS a JOIN people AS b ON a.who = b.who AND a.ts BETWEEN b.ts - INTERVAL '5' SECOND AND b.ts",
    "WITH x AS (SELECT n FROM clicks), y AS (SELECT n FROM x) SELECT n FROM y WHERE n IS NOT NULL",
    "INSERT INTO counts WITH c AS (SELECT who, CAST(n AS BIGINT) AS n FROM clicks) SELECT * FROM c",
    "INSERT INTO names (friend, who) SELECT friend, who FROM (SELECT who, who AS friend FROM clicks)",
    "CREATE TABLE d (a INT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/d', 'table-name' = 't', 'password' = '${env:SECRET}')",
    "EXECUTE STATEMENT SET BEGIN INSERT INTO counts SELECT id, 1 FROM marked; INSERT INTO names SELECT who, who AS friend FROM marked; END",
    "CREATE TABLE d (t TIMESTAMP(3), ts AS COALESCE(t, TIMESTAMP '1970-01-01 00:00:00'), until AS TIMESTAMP '9999-12-31 00:00:00', "
    "WATERMARK FOR ts AS ts - INTERVAL '1' DAY) WITH ('connector' = 'datagen')",
    "CREATE TABLE d (a INT) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'h:1', 'format' = 'json', "
    "'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'd')",
    "SHOW TABLES",
    "SET 'parallelism.default' = '4'; SET 'spark.anything' = '1'; RESET; RESET 'table.exec.state.ttl'",
)


@pytest.fixture
def session(tmp_path):
    made = open_session(tmp_path, DECLARATIONS)
    list(made.run("CREATE VIEW marked AS SELECT who, UUID() AS id, p FROM (SELECT who, PROCTIME() AS p FROM clicks)"))
    list(made.run("CREATE VIEW counted AS SELECT who, CAST(n AS BIGINT) AS n FROM clicks"))
    return made


def checked(session, script):
    return script_findings(script, "a.sql", Checker(session))


def test_every_rule_is_tried():
    assert list(FOUND) == [rule.code for rule in RULES]


@pytest.mark.parametrize("code", FOUND)
def test_a_rule_finds_it_at_its_clause(session, code):
    before, _, after = FOUND[code].partition("<>")
    (found,) = [f for f in checked(session, before + after) if f.code == code]
    line = before.split("\n")[-1]
    assert (found.line, found.column) == (before.count("\n") + 1, len(line) + 1), found
    assert found.message and found.hint and not found.error


@pytest.mark.parametrize("script", CLEAN)
def test_nothing_is_found_in_what_is_right(session, script):
    assert [str(f) for f in checked(session, script)] == []


@pytest.mark.parametrize(
    ("comment", "left"), [("-- noqa", 0), ("-- there are few: noqa", 1), ("-- NOQA: l001", 0), ("-- noqa: L008, L001", 0), ("-- noqa: L008", 1)]
)
def test_a_comment_leaves_findings_out(session, comment, left):
    assert len(checked(session, f"SELECT who, COUNT(*) FROM clicks GROUP BY who {comment}\n;")) == left


def test_a_misspelt_option_is_found_once(session):
    assert [f.code for f in checked(session, "SET 'table.exec.state.tll' = '1 h'; RESET 'table.exec.state.tll'; SET 'spark.sql.shufle.partitions' = '1';")] == [
        "S2", "L016", "L016",
    ]  # fmt: skip


def test_what_looks_like_such_a_comment_in_a_string_leaves_nothing_out(session):
    assert len(checked(session, "SELECT who, COUNT(*), '-- noqa' FROM clicks GROUP BY who;")) == 1
    assert len(checked(session, "/* a\n-- noqa */ SELECT who, COUNT(*) FROM clicks GROUP BY who;")) == 0


@pytest.mark.parametrize(
    "head", ["CREATE TABLE t", "create /* of */ temporary view t", "CREATE TABLE IF NOT EXISTS d.`t`", "CREATE OR REPLACE TABLE t"]
)
def test_a_declaration_that_does_not_parse_is_one_error(session, head):
    assert [f.code for f in checked(session, f"{head} (a INT,,);\nSELECT * FROM t;")] == ["S1"]


def test_it_goes_on_behind_an_error(session):
    found = checked(session, "SELEC 1;\nSELECT nope FROM clicks;\nSELECT n FROM clicks WHERE who = NULL;\nCALL p();")
    assert [(f.line, f.code, f.error) for f in found] == [(1, "S1", True), (2, "S2", True), (3, "L008", False), (4, "S3", True)]


def test_what_a_script_declares_is_known_in_it_alone(session):
    script = "CREATE TEMPORARY VIEW v AS SELECT n FROM clicks; SET 'table.exec.state.ttl' = '1 d'; SELECT COUNT(*) FROM v GROUP BY n;"
    assert checked(session, script) == []
    assert [f.code for f in checked(session, "SELECT COUNT(*) FROM v GROUP BY n;")] == ["S2"]
    assert [f.code for f in checked(session, "SELECT COUNT(*) FROM clicks GROUP BY n;")] == ["L001"]


def test_a_table_that_a_script_never_reads(session):
    unused = "CREATE TABLE a (n INT) WITH ('connector' = 'datagen'); CREATE TABLE b LIKE clicks; SELECT n FROM clicks;"
    assert [f.message for f in checked(session, unused)] == [f"The table '{n}' is never used in this script" for n in "ab"]
    assert checked(session, "CREATE TABLE a (n INT) WITH ('connector' = 'datagen');") == []
    assert checked(session, "CREATE TABLE a (n INT) WITH ('connector' = 'datagen'); SELECT n FROM a;") == []


def test_a_finding_is_one_line(session):
    (found,) = checked(session, "SELECT n FROM clicks WHERE who <> NULL;")
    assert str(found) == "a.sql:1:28: L008 A comparison with NULL is never TRUE (IS NOT NULL)"


@pytest.mark.parametrize(
    ("view", "first", "second", "names"),
    [
        (
            "SELECT who, RAND() AS a, RAND_INTEGER(9) AS b FROM clicks",
            "who, CAST(a + b AS STRING)",
            "who, CAST(a * b AS STRING)",
            ["RAND", "RAND_INTEGER"],
        ),
        ("SELECT who, CURRENT_TIMESTAMP AS a FROM clicks", "who, CAST(a AS STRING)", "CAST(a AS STRING), who", ["CURRENT_TIMESTAMP"]),
        ("SELECT who, UUID() AS a FROM clicks", "a, CAST(COUNT(*) AS STRING)", "a, a", ["UUID"]),
        ("SELECT who, UUID() AS a FROM clicks", "a, who", "who, who", []),
        ("SELECT who, UPPER(who) AS a FROM clicks", "a, who", "a, who", []),
    ],
)
def test_values_that_inserts_of_a_set_do_not_share(session, view, first, second, names):
    list(session.run(f"CREATE TEMPORARY VIEW shared AS {view}"))
    inserts = [f"INSERT INTO {sink} SELECT {items} FROM shared{' GROUP BY a' if 'COUNT' in items else ''}"
               for sink, items in (("anything", first), ("anything", second))]  # fmt: skip
    list(session.run("CREATE TABLE anything (a STRING, b STRING) WITH ('connector' = 'print')"))
    found = [f.message.split(" ")[0] for f in checked(session, f"EXECUTE STATEMENT SET BEGIN {inserts[0]}; {inserts[1]}; END") if f.code == "L013"]
    assert found == names
    assert not any(f.code == "L013" for f in checked(session, f"{inserts[0]}; {inserts[1]}")), "two jobs are two reads in Flink, too"


def test_a_table_that_each_insert_begins_to_read_when_it_starts(session):
    table = "CREATE TABLE d (who STRING) WITH ('connector' = 'delta', 'table-path' = 'd', 'mode' = 'streaming', 'startingVersion' = 'latest'); "
    (found,) = (
        f
        for f in checked(session, f"{table} EXECUTE STATEMENT SET BEGIN {'INSERT INTO names SELECT who, who AS f FROM d;' * 2} END")
        if f.code == "L013"
    )
    assert "read d from 'latest' on" in found.message
