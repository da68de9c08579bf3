"""What nobody has foreseen is told as a defect, without Python's words; the session goes on. What was one is a refusal now."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sqlstream.cli import check
from sqlstream.cli.main import main
from sqlstream.core.errors import Defect, SqlStreamError
from sqlstream.core.project_folder import ProjectFolder
from sqlstream.lint.scripts import script_findings
from sqlstream.plan.builder import queries as build
from sqlstream.session.checker import Checker
from sqlstream.session.completion import suggest
from sqlstream.sql.statements.split import is_complete, split, statement_at
from tests.support.sessions import open_session

if TYPE_CHECKING:
    from sqlstream.session.session import Session

ROOT = Path(__file__).parents[2]
COLUMNS = ", ".join(f"c{k} INT" for k in range(20))
TABLE = f"CREATE TABLE t (i INT, s STRING, {COLUMNS}) WITH ('connector' = 'datagen', 'number-of-rows' = '1');"


def opened(folder: Path) -> Session:
    return open_session(folder, f"{TABLE} CREATE TABLE bare WITH ('connector' = 'datagen');")


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planner that fails on every VALUES."""

    def fails(*_: object) -> None:
        raise ValueError("invalid literal for int() with base 10: 'geheim'")

    monkeypatch.setattr(build, "_values", fails)


@pytest.mark.usefixtures("broken")
def test_it_has_a_place_and_a_file_of_its_own(tmp_path: Path) -> None:
    session = opened(tmp_path)
    with pytest.raises(Defect) as told:
        list(session.run("SET 'a' = 'b';\n  EXPLAIN VALUES (1);", "q.sql"))
    error = told.value
    assert str(error.location) == "q.sql:2:3"
    assert "defect in sqlstream" in error.message
    (file,) = ProjectFolder(tmp_path).defects.iterdir()
    assert str(file) in error.hint
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert "invalid literal" in file.read_text()
    assert "invalid literal" not in error.message + error.hint
    assert next(iter(session.run("EXPLAIN SELECT i FROM t"))).rows


@pytest.mark.usefixtures("broken")
def test_a_script_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--project", str(tmp_path), "-e", "EXPLAIN VALUES (1)"]) == 1
    told = capsys.readouterr().err
    assert "Defect [S9]: This is a defect in sqlstream" in told
    assert " --> line 1:1" in told
    assert "ValueError" not in told
    assert "geheim" not in told


@pytest.mark.usefixtures("broken")
def test_check_and_files_of_the_catalog_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "t.sql").write_text(TABLE)
    (tmp_path / "catalog" / "v.sql").write_text("CREATE VIEW v AS VALUES (1);")
    (tmp_path / "q.sql").write_text("SELECT none_of FROM t;\nVALUES (1);\nSELECT nothing FROM t;")
    files = [str(tmp_path / name) for name in ("catalog/v.sql", "q.sql")]
    assert check.main([*files], tmp_path, {}) == check.FAILED
    found = [re.sub(r"^\S*/", "", line).split(" ")[:2] for line in capsys.readouterr().out.splitlines()]
    assert found == [["v.sql:1:1:", "S9"], ["q.sql:1:8:", "S2"], ["q.sql:2:1:", "S9"], ["q.sql:3:8:", "S2"]]


def test_a_folder_that_can_not_be_written_to(tmp_path: Path, broken: None) -> None:
    session = opened(tmp_path)
    (tmp_path / ".sqlstream").mkdir(exist_ok=True)
    ProjectFolder(tmp_path).defects.write_text("a file")
    with pytest.raises(Defect) as told:
        list(session.run("EXPLAIN VALUES (1)"))
    file = Path(re.search(r"the file (\S+\.txt)", told.value.hint)[1])
    assert file.stat().st_mode & 0o777 == 0o600
    file.unlink()
    file.parent.rmdir()


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT U&'\\D800'", "The string holds half of a surrogate pair."),
        ("SELECT E'a\\uD800'", "The string holds half of a surrogate pair."),
        ("SELECT E'\\uDE00\\uD83D'", "The string holds half of a surrogate pair."),
        (f"SELECT {'9' * 5000}", "out of range"),
        (f"SELECT -1.{'9' * 5000}", "out of range"),
        (f"SELECT 1e{'9' * 5000}", "out of range"),
        (f"SELECT i FROM t LIMIT {'9' * 5000}", "at most 2147483647 rows"),
        (f"SELECT CAST(i AS DECIMAL({'9' * 5000})) FROM t", "out of range"),
        (f"SELECT CAST(i AS VARCHAR({'9' * 5000})) FROM t", "out of range"),
        (f"SELECT * FROM t MATCH_RECOGNIZE (MEASURES A.i AS x PATTERN (A{{{'9' * 5000}}}) DEFINE A AS i > 1)", "out of range"),
        (f"SELECT INTERVAL '{'9' * 5000}' DAY", r"exceeds precision of DAY\(2\) field"),
        ("SELECT INTERVAL '9999999999' YEAR(10)", r"Interval field value 9,999,999,999 exceeds precision of YEAR\(10\) field"),
        ("SELECT INTERVAL '2147483648' MONTH(10)", "exceeds precision"),
        (f"SELECT SUM(i) OVER (ORDER BY i ROWS {'9' * 5000} PRECEDING) FROM t", "out of range"),
        (f"SELECT INTERVAL '1' DAY({'9' * 5000})", "out of range"),
        (f"SELECT COUNT(*) FROM t GROUP BY CUBE({', '.join(f'c{k}' for k in range(20))})", "GROUP BY has 1,048,576 grouping sets"),
        ("SELECT COUNT(*) FROM bare", "has no columns"),
        ("SELECT COUNT(*) FROM t GROUP BY CUBE(c0, c1, c2, c3, c4, c5, c6), CUBE(c7, c8, c9, c10, c11, c12)", "GROUP BY has 8,192 grouping sets"),
    ],
)
def test_what_was_one_is_refused(tmp_path: Path, query: str, message: str) -> None:
    with pytest.raises(SqlStreamError, match=message) as refused:
        list(opened(tmp_path).run(f"EXPLAIN {query}"))
    assert not isinstance(refused.value, Defect)
    assert refused.value.offset


def test_a_value_of_nothing_but_constants(tmp_path: Path) -> None:
    (explained,) = opened(tmp_path).run("EXPLAIN SELECT (SELECT 1 LIMIT 1), (SELECT (SELECT 'a' LIMIT 1)) || 'b'")
    assert "Join" in explained.rows[0][0]


def test_halves_of_a_character_that_stand_together_are_it(tmp_path: Path) -> None:
    (explained,) = opened(tmp_path).run("EXPLAIN SELECT U&'\\D83D\\DE00', E'\\uD83D\\uDE00'")
    assert explained.rows[0][0].count("😀") >= 2


@pytest.mark.parametrize(
    ("declared", "value", "read"),
    [
        ("DECIMAL(10, 2)", "1e50000000", None), ("DECIMAL(10, 2)", "1e-50000000", None), ("DECIMAL(10, 2)", "NaN", None),
        ("DECIMAL(38, 2)", "123456789012345678901234.5", "CAST('123456789012345678901234.5' AS DECIMAL(38, 2))"),
        ("DECIMAL(10, 2)", "1e3", "CAST(1000 AS DECIMAL(10, 2))"), ("DOUBLE", "1e400", None), ("DOUBLE", "1e300", "CAST('1e+300' AS DOUBLE)"),
        ("BIGINT", "1_000", None), ("BIGINT", "9" * 5000, None), ("INT", "7", "7"),
    ],
)  # fmt: skip
def test_numbers_for_parameters(tmp_path: Path, declared: str, value: str, read: str | None) -> None:
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "q.sql").write_text(f"-- What?\n-- :p {declared}\nEXPLAIN SELECT :p AS x;")
    run = opened(tmp_path).run(f"EXECUTE QUERY q (p => '{value}')")
    if read is not None:
        assert next(iter(run)).rows
        return
    with pytest.raises(SqlStreamError, match=re.escape(f"is not a value of type {declared}")):
        list(run)


# --- mutated scripts --------------------------------------------------------------------------------------------------

_TOKEN = re.compile(r"'(?:[^']|'')*'|`[^`]*`|\w+|\s+|.", re.S)
_ODD = (
    "''",
    "NULL",
    "-1",
    "99999999999999999999",
    "1e999",
    "(",
    ")",
    "[",
    "]",
    ",",
    ".",
    "`",
    "'",
    "\ud800",
    "U&'\\D83D'",
    "/*+",
    "--",
    ";",
    "ROW",
    "OVER",
)


def _mutated(tokens: list[str], pool: list[str], chance: random.Random) -> str:
    tokens = list(tokens)
    for _ in range(chance.choice((1, 1, 2, 4))):
        place, end = chance.randrange(len(tokens)), chance.randrange(1, 12)
        match chance.randrange(5):
            case 0:
                tokens[place] = chance.choice(pool)
            case 1:
                tokens.insert(place, f" {chance.choice(pool)} ")
            case 2:
                tokens[place : place + 1] = tokens[place : place + end]
            case 3:
                del tokens[place : place + min(end, len(tokens) - 1)]
            case 4:
                other = chance.randrange(len(tokens))
                tokens[place], tokens[other] = tokens[other], tokens[place]
        tokens = tokens or [";"]
    return "".join(tokens)


def test_mutated_statements_meet_no_defect(tmp_path: Path) -> None:
    chance = random.Random(20261122)
    session = opened(tmp_path)
    list(session.run((ROOT / "tests" / "plan" / "planned.sql").read_text().partition("EXPLAIN")[0]))
    context = session.completion()
    statements = [s.text for path in sorted((ROOT / "tests" / "goldens" / "scripts").rglob("*.sql")) for s in split(path.read_text())]
    pool = [*_ODD, *(token for text in statements for token in _TOKEN.findall(text) if not token.isspace())]
    for _ in range(120):
        text = _mutated(_TOKEN.findall(chance.choice(statements)), pool, chance)
        cursor = chance.randrange(len(text) + 1)
        is_complete(text)
        statement_at(text, cursor)
        suggest(text, cursor, context)
        assert [f for f in script_findings(text, "x.sql", Checker(session)) if f.code == "S9"] == [], text
