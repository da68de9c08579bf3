"""What a job is known again by: its plan with all that state depends on, and none of the words in which it is told."""

from __future__ import annotations

import re
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from sqlstream.plan import explain, nodes
from sqlstream.plan.identity import all_options, signature
from sqlstream.plan.nodes import Node
from sqlstream.sql.statements.parsing import parse
from tests.support.sessions import open_session

SCRIPT = Path(__file__).with_name("planned.sql").read_text()
DECLARATIONS = """
CREATE TABLE rows_ (k INT, v DECIMAL(10, 2), s STRING, place ROW<x INT, y INT>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'localhost:1', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE others (k INT, w INT) WITH ('connector' = 'filesystem', 'path' = 'o', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE out_ (k INT, n BIGINT) WITH ('connector' = 'blackhole');
"""
INSERT = "INSERT INTO out_ SELECT k, COUNT(*) OVER w FROM rows_ WINDOW w AS (PARTITION BY k ORDER BY ts ROWS 3 PRECEDING)"
JOIN = "INSERT INTO out_ SELECT a.k, a.k FROM rows_ AS a JOIN others AS b ON a.k = b.k"
TOP = "INSERT INTO out_ SELECT k, n FROM (SELECT k, 1 AS n, ROW_NUMBER() OVER (PARTITION BY k ORDER BY s NULLS FIRST) AS r FROM rows_) WHERE r <= 2"


def signatures(project: Path, script: str, **options) -> list[str]:
    """The signature of every INSERT of ``script``."""
    declared, statement = re.fullmatch(r"(.*?)((?:EXPLAIN|INSERT).*);\s*", script, re.S).groups()
    client = open_session(project, declared)
    return [signature(planned.plan, **options) for planned in client.planner.plans(parse(statement))]


CHANGED = {
    "digits of a DECIMAL": ("v DECIMAL(10, 2)", "v DECIMAL(10, 4)", JOIN),
    "a wider number": ("k INT, w INT", "k INT, w BIGINT", JOIN),
    "bytes for a text": ("s STRING", "s BYTES", JOIN),
    "fields of a ROW in another order": ("ROW<x INT, y INT>", "ROW<y INT, x INT>", JOIN),
    "a field of a ROW by another name": ("ROW<x INT, y INT>", "ROW<x INT, z INT>", JOIN),
    "a column that is never NULL": ("w INT)", "w INT NOT NULL)", JOIN),
    "a primary key": ("w INT)", "w INT, PRIMARY KEY (k) NOT ENFORCED)", JOIN),
    "the sink's type": ("n BIGINT", "n DECIMAL(20, 0)", INSERT),
    "the sink's primary key": ("n BIGINT)", "n BIGINT, PRIMARY KEY (k) NOT ENFORCED)", INSERT),
    "the time's digits": ("ts TIMESTAMP(3)", "ts TIMESTAMP(0)", INSERT),
    "the watermark": ("'5' SECOND", "'6' SECOND", INSERT),
    "an option": ("'topic' = 't'", "'topic' = 'u'", INSERT),
    "where NULLs go": ("NULLS FIRST", "NULLS LAST", TOP),
    "a direction": ("ORDER BY s NULLS FIRST", "ORDER BY s DESC NULLS FIRST", TOP),
    "how many": ("r <= 2", "r <= 3", TOP),
    "a frame": ("3 PRECEDING", "4 PRECEDING", INSERT),
    "a kind of frame": ("ROWS 3 PRECEDING", "RANGE INTERVAL '3' SECOND PRECEDING", INSERT),
    "a key": ("PARTITION BY k", "PARTITION BY s", INSERT),
    "a kind of join": ("JOIN others", "LEFT JOIN others", JOIN),
}


KAFKA = "'scan.startup.mode' = 'earliest-offset'"
SAME = {
    "how a cluster is reached": (KAFKA, KAFKA + ", 'properties.security.protocol' = 'SSL'", INSERT),
    "where a cluster is": ("localhost:1", "localhost:2", INSERT),
    "a password": (KAFKA, KAFKA + ", 'properties.ssl.key.password' = 'x'", INSERT),
    "how often new partitions are looked for": (KAFKA, KAFKA + ", 'scan.parallelism' = '3'", INSERT),
    "how often files are looked for": ("'1 s'", "'5 s'", JOIN),
}
CHANGED_OPTIONS = {
    "the group whose offsets are taken": (KAFKA, KAFKA + ", 'properties.group.id' = 'g'", INSERT),
    "where a group without offsets starts": (KAFKA, KAFKA + ", 'properties.auto.offset.reset' = 'latest'", INSERT),
    "where it starts": (KAFKA, "'scan.startup.mode' = 'latest-offset'", INSERT),
}


@pytest.mark.parametrize(("old", "new", "insert"), SAME.values(), ids=SAME)
def test_what_says_how_and_not_what_does_not_count(tmp_path: Path, old: str, new: str, insert: str) -> None:
    assert old in DECLARATIONS
    before, after = (signatures(tmp_path, f"{declared}{insert};") for declared in (DECLARATIONS, DECLARATIONS.replace(old, new)))
    assert before == after


@pytest.mark.parametrize(("old", "new", "insert"), CHANGED_OPTIONS.values(), ids=CHANGED_OPTIONS)
def test_what_says_where_a_table_starts_counts(tmp_path: Path, old: str, new: str, insert: str) -> None:
    assert old in DECLARATIONS
    before, after = (signatures(tmp_path, f"{declared}{insert};") for declared in (DECLARATIONS, DECLARATIONS.replace(old, new)))
    assert before != after


@pytest.mark.parametrize(("old", "new", "insert"), CHANGED.values(), ids=CHANGED)
def test_what_state_depends_on_makes_another_job(tmp_path: Path, old: str, new: str, insert: str) -> None:
    script = f"{DECLARATIONS}{insert};"
    assert old in script
    assert signatures(tmp_path, script) != signatures(tmp_path, script.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("w INT)", "w INT COMMENT 'a weight')"),
        ("'path' = 'o', 'format' = 'json'", "'format' = 'json', 'path' = 'o'"),
        (") WITH ('connector' = 'blackhole')", ") COMMENT 'gone' WITH ('connector' = 'blackhole')"),
        ("SELECT a.k, a.k", "select  a.k, a.`k`"),
    ],
)
def test_what_changes_nothing_is_the_same_job(tmp_path: Path, old: str, new: str) -> None:
    script = f"{DECLARATIONS}{JOIN};"
    assert old in script
    assert signatures(tmp_path, script) == signatures(tmp_path, script.replace(old, new))


def test_words_of_explain_are_not_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = signatures(tmp_path, SCRIPT)
    assert len(before) == SCRIPT.count("INSERT INTO")
    for name in ("tree", "describe"):
        monkeypatch.setattr(explain, name, lambda *args, **more: "Reworded(altogether)")
    for kind in (k for k in vars(nodes).values() if isinstance(k, type) and issubclass(k, Node)):
        monkeypatch.setattr(kind, "explain", lambda self: ("Reworded", "altogether"))
    assert signatures(tmp_path, SCRIPT) == before


FUNCTIONS = f"""{DECLARATIONS}EXPLAIN STATEMENT SET BEGIN
INSERT INTO out_ SELECT TIMESTAMPDIFF(DAY, ts, TIMESTAMP '2024-01-01 00:00:00'), EXTRACT(YEAR FROM ts) FROM rows_;
INSERT INTO out_ SELECT CAST(latest(k) AS INT), COUNT(*) FROM rows_ WHERE shout(s) <> TRIM(LEADING 'A' FROM s) GROUP BY s;
END;
"""
# By all options, as folders of layout 1 are called, and by those that count.
RECORDED = {
    "a Top-N": (f"{DECLARATIONS}{TOP};", "ecf25ab5b3f2", "74ff2dc7ede2"),
    "functions": (FUNCTIONS, "5deeb198d207", "9db63cb79a06"),
    "a script": (SCRIPT, "53baef3f94aa", "1dfd94163911"),
}


@pytest.mark.parametrize(("script", "first", "recorded"), RECORDED.values(), ids=RECORDED)
def test_a_release_knows_the_jobs_of_the_one_before(tmp_path: Path, script: str, first: str, recorded: str) -> None:
    """What this fails by orphans the checkpoint of every job: it must be wanted, and told."""
    (tmp_path / "udfs").mkdir()
    shutil.copy(Path(__file__).with_name("rules") / "words_and_folds.py", tmp_path / "udfs")
    for expected, text in ((first, signatures(tmp_path, script, options=all_options)), (recorded, signatures(tmp_path, script))):
        assert sha256("\n".join(text).encode()).hexdigest()[:12] == expected, text


def test_a_plan_of_many_joins_has_each_once(tmp_path: Path) -> None:
    sides = " ".join(f"JOIN others AS b{i} ON a.k = b{i}.k" for i in range(12))
    (found,) = signatures(tmp_path, f"{DECLARATIONS}INSERT INTO out_ SELECT a.k, a.k FROM rows_ AS a {sides};")
    assert found.count('{"KeyedJoin"') == 12
    assert len(found) < 200_000
