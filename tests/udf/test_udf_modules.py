"""Modules in udfs/: found, named, refused, loaded again. No Spark."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import JobFailed, SqlStreamError
from sqlstream.server.joined.editor import findings
from sqlstream.sql import functions
from sqlstream.udf.declarations.left_out import LeftOut, failed_call, reporting_left_out
from tests.support.sessions import open_session, optimized_plan

if TYPE_CHECKING:
    from sqlstream.session.session import Session

MASKING = '''
from pyflink.table import DataTypes
from pyflink.table.udf import AggregateFunction, ScalarFunction, TableFunction, udaf, udf, udtf

from helper import STAR


@udf(result_type=DataTypes.STRING())
def mask(account: str, keep: int = 4) -> str:
    """Hides all but the last digits of an account.

    More about it.
    """
    return STAR * (len(account) - keep) + account[-keep:]


class Words(TableFunction):
    """The words of a text."""

    def eval(self, text):
        yield from text.split()


words = udtf(Words(), result_types=["STRING"])


@udf(result_type="INT", deterministic=False, name="dice")
def rolled(): return 4


class Most(AggregateFunction):
    def create_accumulator(self): return [None]
    def accumulate(self, accumulator, value): accumulator[0] = value
    def get_value(self, accumulator): return accumulator[0]
    def get_result_type(self): return DataTypes.BIGINT()
    def get_accumulator_type(self): return DataTypes.ROW([DataTypes.FIELD("m", DataTypes.BIGINT())])


most = udaf(Most())
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "udfs").mkdir()
    (tmp_path / "udfs" / "helper.py").write_text("STAR = '*'\n")
    (tmp_path / "udfs" / "masking.py").write_text(MASKING)
    return tmp_path


def client(project: Path, notices: list[str] | None = None, **options: str) -> Session:
    return open_session(project, options=options, notify=([] if notices is None else notices).append)


def rows(session: Session, sql: str) -> list:
    return [row if len(row) > 1 else row[0] for outcome in session.run(sql) for row in outcome.rows]


def test_functions_are_found(project: Path) -> None:
    notices: list[str] = []
    session = client(project, notices)
    assert rows(session, "SHOW USER FUNCTIONS") == ["dice", "mask", "most", "words"]
    assert "mask" in rows(session, "SHOW FUNCTIONS LIKE 'ma%'")
    assert rows(session, "DESCRIBE FUNCTION mask") == [("is system function", "true"), ("is temporary", "true")]
    assert rows(session, "DESCRIBE FUNCTION EXTENDED mask")[2:] == [
        ("class name", "masking.mask"), ("function language", "PYTHON"), ("resource uris", "[]"), ("kind", "SCALAR"), ("requirements", "[]"),
        ("is deterministic", "true"), ("supports constant folding", "false"), ("signature", "MASK(account STRING, keep? BIGINT)"),
        ("description", "Hides all but the last digits of an account."),
    ]  # fmt: skip
    extended = dict(rows(session, "DESCRIBE FUNCTION EXTENDED words"))
    assert (extended["kind"], extended["description"], extended["signature"]) == ("TABLE", "The words of a text.", "WORDS(text ANY)")
    assert dict(rows(session, "DESCRIBE FUNCTION EXTENDED dice"))["is deterministic"] == "false"
    assert dict(rows(session, "DESCRIBE FUNCTION EXTENDED most"))["kind"] == "AGGREGATE"
    assert notices == []


def test_calls_are_planned(project: Path) -> None:
    session = client(project)
    assert (
        optimized_plan(session, "SELECT Mask('abc'), MASK('abc', 2)").splitlines()[0]
        == "Calc(select=[MASK('abc') AS EXPR$0, MASK('abc', 2) AS EXPR$1], changelogMode=[I])"
    )
    assert "Correlate(invocation=[WORDS(x)], select=[w], joinType=[LEFT]" in optimized_plan(
        session, "SELECT w FROM (VALUES ('a b')) AS t (x) LEFT JOIN LATERAL TABLE(words(x)) AS u (w) ON TRUE"
    )
    # Conditions and operators only read what a projection has computed, once for each equal call.
    filtered = optimized_plan(session, "SELECT x FROM (VALUES ('a')) AS t (x) WHERE mask(x) <> 'a' OR mask(x) = 'b' OR dice() + dice() = 8")
    assert "where=[((($py0 <> 'a') OR ($py0 = 'b')) OR (($py1 + $py2) = 8))]" in filtered
    assert "MASK(x) AS $py0, DICE() AS $py1, DICE() AS $py2" in filtered
    assert "UPPER($py0) AS EXPR$0" in optimized_plan(session, "SELECT UPPER(mask(x)) FROM (VALUES ('a')) AS t (x)")
    assert "MASK(MASK(EXPR$0)) AS EXPR$0" in optimized_plan(session, "SELECT mask(mask(x)) FROM (VALUES ('a')) AS t (x)")
    grouped = optimized_plan(session, "SELECT mask(x), COUNT(*) FROM (VALUES ('a')) AS t (x) GROUP BY mask(x)")
    assert grouped.count("MASK(") == 1


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("SELECT words('a')", "WORDS is a table function: it belongs in FROM."),
        ("SELECT * FROM LATERAL TABLE(mask('a'))", "MASK is not a table function: it can't be used in FROM."),
        ("SELECT mask(5)", "Cannot apply 'MASK' to arguments of type 'MASK(<INTEGER>)'"),
        ("SELECT mask()", "Cannot apply 'MASK' to arguments of type 'MASK()'"),
        ("SELECT dice(1)", "Invalid number of arguments to function 'DICE'. Was expecting 0 arguments"),
        ("SELECT most(x, x) FROM (VALUES (1)) AS t (x)", "Invalid number of arguments to function 'MOST'. Was expecting 1 arguments"),
        ("SELECT most(*) FROM (VALUES (1)) AS t (x)", "MOST(*) is not a call: only COUNT takes *."),
        ("SELECT mask(PARSE_JSON('1'))", "Cannot apply 'MASK'"),
        ("SELECT mask(1, 'a')", "Cannot apply 'MASK' to arguments of type 'MASK(<INTEGER>, <CHAR(1)>)'. Supported form(s): 'MASK(<VARCHAR(2147483647)>, <BIGINT>)'"),
        ("SELECT * FROM e MATCH_RECOGNIZE (ORDER BY ts MEASURES LAST(A.x) AS x PATTERN (A B) DEFINE A AS mask(A.x) = '*')", "Python Function can not be used in MATCH_RECOGNIZE for now."),
        ("SELECT nope(1)", "No match found for function signature nope(<NUMERIC>)"),
        ("SELECT a.x FROM (VALUES ('a')) AS a (x) LEFT JOIN (VALUES ('a')) AS b (y) ON a.x = b.y AND mask(a.x || b.y) = ''", "Only inner join condition with equality predicates"),
    ],
)  # fmt: skip
def test_calls_that_are_refused(project: Path, sql: str, problem: str) -> None:
    with pytest.raises(SqlStreamError) as raised:
        session = client(project)
        list(session.run("CREATE TABLE e (x STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen')"))
        list(session.run(f"EXPLAIN {sql}"))
    assert raised.value.message.startswith(problem)


def test_the_condition_of_a_join_is_computed_below_or_above_it(project: Path) -> None:
    session = client(project)
    tables = "(VALUES ('a')) AS a (x) {} JOIN (VALUES ('a')) AS b (y) ON a.x = b.y AND {}"
    one = optimized_plan(session, f"SELECT x FROM {tables.format('LEFT', 'mask(y) = mask(x)')}")
    assert "where=[((x = y) AND ($py_right0 = $py_left0))]" in one
    both = optimized_plan(session, f"SELECT x FROM {tables.format('', 'mask(x || y) = y')}")
    assert both.index("Calc(where=[($py0 = y)]") < both.index("Join(joinType=[InnerJoin], where=[(x = y)]")


def test_a_computed_column_calls_one(project: Path) -> None:
    session = client(project)
    list(session.run("CREATE TABLE t (a STRING, m AS mask(a)) WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json')"))
    assert rows(session, "DESCRIBE t")[1][:2] == ("m", "STRING")
    assert "MASK(a) AS m" in optimized_plan(session, "SELECT m FROM t")


def test_a_broken_module_takes_nothing_else_down(project: Path) -> None:
    (project / "udfs" / "broken.py").write_text("import helper\n\n\nprint(undefined_name)\n")
    (project / "udfs" / "wrong.py").write_text("def f(:\n    pass\n")
    (project / "udfs" / "uses_broken.py").write_text("import broken\n")
    notices: list[str] = []
    session = client(project, notices)
    assert notices == [
        "udfs/broken.py:4:1: The module 'broken' cannot be loaded: NameError: name 'undefined_name' is not defined.",
        "udfs/wrong.py:1:1: The module 'wrong' cannot be loaded: invalid syntax.",
    ]
    assert "mask" in rows(session, "SHOW USER FUNCTIONS")


def test_a_module_with_the_name_of_another_of_pythons(project: Path) -> None:
    (project / "udfs" / "json.py").write_text("x = 1\n")
    (project / "udfs" / "pandas.py").write_text("x = 1\n")
    notices: list[str] = []
    client(project, notices)
    assert [n.split(": ")[1] for n in notices] == ["'json' is an installed module of Python", "'pandas' is an installed module of Python"]


def test_two_functions_of_one_name_are_an_error_with_both_places(project: Path) -> None:
    (project / "udfs" / "second.py").write_text("from sqlstream.udf import udf\n\n\n@udf\ndef Mask(a: int) -> int: return a\n")
    notices: list[str] = []
    session = client(project, notices)
    assert notices == [
        "udfs/second.py:4:1: Two functions are called 'mask': at udfs/masking.py:8 and at udfs/second.py:4. (Rename one of them, or give its decorator another name.)"
    ]
    with pytest.raises(SqlStreamError, match="Two functions are called 'mask': at udfs/masking.py:8 and at udfs/second.py:4"):
        optimized_plan(session, "SELECT mask('a')")
    assert "dice" in rows(session, "SHOW USER FUNCTIONS")


def test_the_name_of_a_built_in_function_is_an_error(project: Path) -> None:
    (project / "udfs" / "second.py").write_text("from sqlstream.udf import udf\n\n@udf\ndef upper(a: str) -> str: return a\n")
    notices: list[str] = []
    session = client(project, notices)
    assert notices == [
        "udfs/second.py:3:1: 'upper' is the name of a built-in function: the one at udfs/second.py:3 is left out. (Rename it, or give its decorator a name.)"
    ]
    assert "UPPER('a')" in optimized_plan(session, "SELECT upper('a')")


def test_a_changed_file_is_loaded_again(project: Path) -> None:
    notices: list[str] = []
    session = client(project, notices)
    path = project / "udfs" / "masking.py"
    path.write_text(MASKING.replace('name="dice"', 'name="roll"'))
    assert rows(session, "SHOW USER FUNCTIONS") == ["mask", "most", "roll", "words"]
    assert notices == ["udfs/masking.py reloaded"]
    (project / "udfs" / "helper.py").write_text("STAR = '#'\n")
    (project / "udfs" / "other.py").write_text("from sqlstream.udf import udf\n@udf\ndef other(a: int) -> int: return a\n")
    optimized_plan(session, "SELECT other(1)")
    assert notices[1:] == ["udfs/helper.py reloaded", "udfs/other.py loaded"]
    assert session.planner.modules.named("masking.mask").declared("abcdef") == "##cdef"
    (project / "udfs" / "other.py").unlink()
    path.write_text("def broken(\n")
    assert rows(session, "SHOW USER FUNCTIONS") == []
    assert notices[3:] == [
        "udfs/masking.py reloaded",
        "udfs/other.py is gone, and its functions with it",
        "udfs/masking.py:1:1: The module 'masking' cannot be loaded: '(' was never closed.",
    ]


def test_a_function_that_a_check_has_loaded_is_known(project: Path) -> None:
    """What is typed is checked in a copy of the session, which may be the first to see a new file."""
    session = client(project, notices := [])
    file = project / "udfs" / "other.py"
    for name in ("added", "renamed"):
        file.write_text(f"from sqlstream.udf import udf\n@udf\ndef {name}(a: int) -> int: return a\n")
        assert findings(session, f"SELECT {name}(1)") == []
        assert f"{name.upper()}(1)" in optimized_plan(session, f"SELECT {name}(1)")
    file.write_text("def broken(\n")
    assert findings(session, "SELECT renamed(1)") != []
    with pytest.raises(SqlStreamError, match="renamed"):
        optimized_plan(session, "SELECT renamed(1)")
    assert notices[-1].startswith("udfs/other.py:1:1: The module 'other' cannot be loaded")


def test_python_files(project: Path, tmp_path_factory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "single.py").write_text("from sqlstream.udf import udf\n@udf\ndef single(a: int) -> int: return a\n")
    (elsewhere / "folder").mkdir()
    (elsewhere / "folder" / "inside.py").write_text("from sqlstream.udf import udf\n@udf\ndef inside(a: int) -> int: return a\n")
    notices: list[str] = []
    session = client(
        project, notices, **{"python.files": f"{elsewhere / 'single.py'},{elsewhere / 'folder'},{elsewhere / 'missing.py'},{elsewhere / 'nofolder'}"}
    )
    assert rows(session, "SHOW USER FUNCTIONS") == ["dice", "inside", "mask", "most", "single", "words"]
    assert notices == [
        f"{elsewhere / 'missing.py'}:1:1: There is no file '{elsewhere / 'missing.py'}' (python.files).",
        f"{elsewhere / 'nofolder'}:1:1: There is no file or folder '{elsewhere / 'nofolder'}' (python.files).",
    ]


def test_a_built_in_function_takes_the_place_of_one_of_the_catalog_and_says_so(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in Flink: temporary system functions, built-in ones, those of the catalog. A release may bring a built-in one of the name of a user's."""
    session = client(project)
    run = lambda sql: list(session.run(sql))
    explained = lambda sql: run(f"EXPLAIN {sql}")[0].rows[0][0]
    run("CREATE FUNCTION hide AS 'masking.mask' LANGUAGE PYTHON")
    assert "== Notices ==" not in explained("SELECT hide('a'), upper('a')")
    monkeypatch.setitem(functions._BY_NAME, "HIDE", replace(functions.find("UPPER"), name="HIDE"))
    run("CREATE VIEW hidden AS SELECT hide('a') AS a")
    notice = "HIDE is the built-in function, as in Flink, and not `default_catalog`.`default_database`.`hide`: call that by its whole name."
    for query in ("SELECT hide('a'), HIDE('b')", "SELECT * FROM hidden"):
        assert explained(query).partition("== Notices ==\n")[2].splitlines() == [notice], query
    # The built-in one takes a single argument.
    assert "== Notices ==" not in explained("SELECT default_database.hide('a', 1), `default_catalog`.`default_database`.`hide`('a', 2)")
    run("CREATE TEMPORARY SYSTEM FUNCTION hide AS 'masking.mask' LANGUAGE PYTHON")
    assert "== Notices ==" not in explained("SELECT hide('a', 1)")


def test_statements_about_functions(project: Path) -> None:
    session = client(project)
    run = lambda sql: list(session.run(sql))
    run("CREATE FUNCTION hide AS 'masking.mask' LANGUAGE PYTHON")
    assert "HIDE('a')" in optimized_plan(session, "SELECT hide('a'), default_database.hide('a'), default_catalog.default_database.hide('a')")
    run("ALTER FUNCTION hide AS 'masking.rolled' LANGUAGE PYTHON")
    assert "HIDE() AS EXPR$0" in optimized_plan(session, "SELECT hide()")
    run("DROP FUNCTION hide; CREATE TEMPORARY FUNCTION hide AS 'masking.mask' LANGUAGE PYTHON; DROP TEMPORARY FUNCTION hide")
    run("CREATE TEMPORARY SYSTEM FUNCTION hide AS 'masking.mask' LANGUAGE PYTHON")
    for sql, problem in {
        "CREATE TEMPORARY SYSTEM FUNCTION hide AS 'masking.mask' LANGUAGE PYTHON": "Could not register temporary system function. A function named 'hide' does already exist.",
        "CREATE TEMPORARY SYSTEM FUNCTION mask AS 'masking.mask' LANGUAGE PYTHON": "Could not register temporary system function. A function named 'mask' does already exist.",
        "ALTER FUNCTION nope AS 'masking.mask' LANGUAGE PYTHON": "Function default_database.nope does not exist in Catalog default_catalog.",
        "ALTER TEMPORARY SYSTEM FUNCTION hide AS 'masking.mask' LANGUAGE PYTHON": "Alter temporary system function is not supported",
        "CREATE FUNCTION other AS 'masking.masc' LANGUAGE PYTHON": "'masking.masc' does not exist: the module 'masking' has no function of this name.",
        "CREATE FUNCTION other AS 'mask' LANGUAGE PYTHON": "'mask' does not name a function: write 'module.attribute'.",
        "CREATE FUNCTION other AS 'com.example.Mask'": "No jar has the class 'com.example.Mask'.",
    }.items():
        with pytest.raises(SqlStreamError) as raised:
            run(sql)
        assert raised.value.message == problem
    run("DROP TEMPORARY SYSTEM FUNCTION mask")
    with pytest.raises(SqlStreamError, match="No match found for function signature mask"):
        optimized_plan(session, "SELECT mask('a')")


def test_a_built_in_function_comes_before_one_of_the_catalog(project: Path) -> None:
    session = client(project)
    list(session.run("CREATE FUNCTION `upper` AS 'masking.mask' LANGUAGE PYTHON"))
    with pytest.raises(SqlStreamError, match="Invalid number of arguments to function 'UPPER'"):
        optimized_plan(session, "SELECT upper('a', 2)")
    assert dict(rows(session, "DESCRIBE FUNCTION EXTENDED `upper`"))["class name"] == "masking.mask"
    list(session.run("CREATE TEMPORARY SYSTEM FUNCTION `upper` AS 'masking.mask' LANGUAGE PYTHON"))
    assert "UPPER('a', 2)" in optimized_plan(session, "SELECT upper('a', 2)")


def test_completion_and_check(project: Path) -> None:
    session = client(project)
    context = session.completion()
    assert context.functions == ("dice", "mask", "most", "words")
    assert context.described("mask") == "your function: MASK(account STRING, keep? BIGINT): Hides all but the last digits of an account."
    assert context.described("words").startswith("your function: WORDS(text ANY)")


def test_planning_needs_no_spark(project: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom sqlstream.cli.main import main\n"
        f"code = main(['check', '--project', {str(project)!r}, {str(project / 'q.sql')!r}])\n"
        "assert 'pyspark' not in sys.modules and 'pandas' not in sys.modules and 'pyarrow' not in sys.modules\nsys.exit(code)"
    )
    (project / "q.sql").write_text("SELECT mask('a');\n")
    (project / "udfs" / "broken.py").write_text("import nothing_of_this_name\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")]))}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=project, env=environment)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    done = subprocess.run([sys.executable, "-m", "sqlstream", "check"], capture_output=True, text=True, cwd=project, env=environment)
    assert (done.returncode, done.stdout.strip()) == (
        2, "udfs/broken.py:1:1: S2 The module 'broken' cannot be loaded: ModuleNotFoundError: No module named 'nothing_of_this_name'."
    ), done.stderr  # fmt: skip


def test_rows_that_a_filter_leaves_out_are_not_passed_to_a_function(project: Path) -> None:
    session = client(project)
    found = optimized_plan(
        session, "SELECT m, m || 'x' FROM (SELECT x, y, mask(x) AS m FROM (VALUES ('a', 1)) AS t (x, y)) WHERE y > 1 AND m <> 'b' AND mask(m) <> 'c'"
    )
    steps = ["where=[($py0 <> 'c')]", "MASK(m) AS $py0", "where=[(m <> 'b')]", "MASK(EXPR$0) AS m", "where=[(EXPR$1 > 1)]"]
    assert [found.index(step) for step in steps] == sorted(found.index(step) for step in steps), found
    twice = optimized_plan(session, "SELECT mask(x), mask(x), mask(x) || 'a', dice(), dice() FROM (VALUES ('a')) AS t (x)")
    assert (twice.count("MASK("), twice.count("DICE()")) == (1, 2)


def test_names_of_any_letters(project: Path) -> None:
    names = ("straße", "größe", "ınci", "件数", "äöü")
    text = "from sqlstream.udf import udf, udtf\n" + "".join(f"@udf\ndef {n}(x: str) -> str: return x\n" for n in names)
    (project / "udfs" / "letters.py").write_text(text + "@udtf(result_types=['STRING'])\ndef wörter_ß(x: str): yield x\n", "utf-8")
    session = client(project)
    found = optimized_plan(session, "SELECT " + ", ".join(f"`{n}`('a')" for n in names))
    assert [n for n in ("straße('a')", "größe('a')", "ınci('a')", "件数('a')", "ÄÖÜ('a')") if n not in found] == []
    assert "wörter_ß(EXPR$0)" in optimized_plan(session, "SELECT w FROM (SELECT 'a') AS t CROSS JOIN LATERAL TABLE(`wörter_ß`(EXPR$0)) AS u (w)")
    (help_,) = session.run("HELP FUNCTION `straße`")
    assert "straße(x STRING)" in help_.lines
    for row in session.planner.functions().rows():
        assert re.fullmatch(r"[a-z0-9_]+", row.spark_name((), "UTC")), row.name


def test_a_misspelt_name(project: Path) -> None:
    session = client(project)
    for sql, near in {"SELECT maks('x')": "mask", "SELECT * FROM LATERAL TABLE(wrods('x'))": "words", "SELECT uper('x')": "UPPER"}.items():
        with pytest.raises(SqlStreamError) as raised:
            optimized_plan(session, sql)
        assert raised.value.hint == f"Did you mean '{near}'?"


def test_rows_that_are_left_out_are_told(project: Path) -> None:
    from sqlstream.plan.builder.queries import query
    from sqlstream.plan.differences import differences
    from sqlstream.sql.statements.parsing import parse

    session = client(project)
    planned = lambda: differences(query(parse("SELECT mask('a'), dice()"), session.planner.environment()))
    assert planned() == []
    list(session.run("SET 'udf.on-error' = 'dead-letter'"))
    assert planned() == [f"Rows for which {f} fails are left out, and kept in .sqlstream/dead-letters." for f in ("MASK", "DICE")]


def test_rows_that_were_left_out_are_counted(tmp_path: Path) -> None:
    assert LeftOut(tmp_path / "none").lines(tmp_path) == []
    first, second = tmp_path / "rows-1.jsonl", tmp_path / "rows-2.jsonl"
    first.write_text('{"kind": "function", "source": "OLD"}\n')
    left_out = LeftOut(tmp_path)
    assert left_out.lines(tmp_path) == []
    with first.open("a") as file:
        file.write('{"kind": "function", "source": "F"}\n{"kind": "function", "source": "G"}\n{"kind": "function", "source": "F"}\n{"functi')
    second.write_text('{"kind": "function", "source": "F"}\n')
    assert left_out.lines(tmp_path) == [
        "2 rows were left out, for which F failed: rows-1.jsonl",
        "1 row was left out, for which G failed: rows-1.jsonl",
        "1 row was left out, for which F failed: rows-2.jsonl",
    ]


def test_what_a_module_prints_is_no_result(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "udfs" / "talks.py").write_text("print('hello')\n")
    client(project)
    assert capsys.readouterr() == ("", "hello\n")


def test_help(project: Path) -> None:
    session = client(project)
    told = {name: next(iter(session.run(f"HELP FUNCTION {name}"))).lines for name in ("mask", "words", "most")}
    assert "More about it." in told["mask"]
    assert "A scalar function, which returns STRING. Defined at udfs/masking.py:8." in told["mask"]
    assert "A table function, which returns rows of f0 STRING. Defined at udfs/masking.py:" in told["words"]
    assert "An aggregate function, which returns BIGINT. Defined at udfs/masking.py:" in told["most"]
    assert "Python's masking.Most." in told["most"]
    assert "Take a row in" not in told["most"]


def test_a_type_that_is_none_is_told_when_its_module_is_loaded(project: Path) -> None:
    (project / "udfs" / "typed.py").write_text('from sqlstream.udf import udf\n\n\n@udf(result_type="NOSUCH")\ndef f(a: int): return a\n')
    notices: list[str] = []
    session = client(project, notices)
    (notice,) = notices
    assert notice.startswith("udfs/typed.py:4:1: The function 'typed.f': 'NOSUCH' is not a type")
    with pytest.raises(SqlStreamError) as raised:
        optimized_plan(session, "SELECT f(1)")
    assert raised.value.message.startswith("The function 'typed.f': 'NOSUCH' is not a type")
    assert raised.value.message.endswith(", at udfs/typed.py:4.")


def test_an_error_of_a_function_stands_at_its_call() -> None:
    from sqlstream.sql.statements.parsing import parse

    sql = "SELECT UPPER(Mask(a)) FROM t CROSS JOIN LATERAL TABLE(db.words(a)) AS u (w)"
    for message, call in (("The Python function MASK failed for ('a'): x", "Mask"), ("The Python function WORDS returned 1", "db.words")):
        with pytest.raises(JobFailed) as raised, reporting_left_out(parse(sql), Path("none"), Path(), print):
            raise JobFailed(message)
        assert raised.value.at.name == call
    for message in ("The Python function OTHER failed", "The Kafka broker does not answer."):
        assert failed_call(parse(sql), message) is None
