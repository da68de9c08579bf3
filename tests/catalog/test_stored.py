"""Catalogs that a package's store keeps: when it is asked, what is written to it, and what a user is told where it fails."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from sqlstream.catalog import functions
from sqlstream.catalog.base import CatalogType, Store
from sqlstream.catalog.entries import UserFunction
from sqlstream.catalog.types import CATALOGS
from sqlstream.core.errors import NotSupported, SetupError, SqlStreamError, ValidationError
from sqlstream.core.options import Option
from sqlstream.session.checker import Checker
from sqlstream.session.completion import suggest
from sqlstream.session.help import text
from sqlstream.sql.statements.split import split
from sqlstream.sql.tables import ObjectPath
from tests.support import plugins
from tests.support.sessions import explained, open_session, plans, rows, run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from sqlstream.runtime.engine.session import Engine
    from sqlstream.session.session import Session

CREATE = "CREATE CATALOG c WITH ('type' = 'shelf');"
SOURCE = "CREATE TABLE x (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector' = 'datagen')"
SINK = "CREATE TABLE x (a INT) WITH ('connector' = 'print')"


class Shelf(Store):
    """Definitions in memory; ``asked`` has every call, ``fails`` what calls of a name raise, or answer where it is no exception."""

    kept: dict[str, dict[str, str]] = {}
    asked: list[tuple[str, ...]] = []
    fails: dict[str, object] = {}

    def answer(self, *call: str) -> object:
        self.asked.append(call)
        fault = self.fails.get(call[0])
        if isinstance(fault, Exception):
            raise fault
        return fault

    def databases(self):
        return self.answer("databases") or list(self.kept)

    def tables(self, database):
        return self.answer("tables", database) or list(self.kept[database])

    def read(self, database, name):
        return self.answer("read", database, name) or self.kept[database].get(name)

    def save(self, database, name, definition):
        self.answer("save", database, name)
        self.kept[database][name] = definition

    def remove(self, database, name):
        self.answer("remove", database, name)
        del self.kept[database][name]

    def create_database(self, database):
        self.answer("create_database", database)
        self.kept[database] = {}

    def drop_database(self, database):
        self.answer("drop_database", database)
        del self.kept[database]


class Unchanging(Store):
    def databases(self):
        return ["d"]

    def tables(self, database):
        return ["t"]

    def read(self, database, name):
        return SINK if name == "t" else None


class ShelfType(CatalogType):
    name = "shelf"
    summary = "In memory."
    example = CREATE
    options = (Option("where", summary="Its place."), Option("password", summary="Of its user."))
    opened: list[tuple[Mapping[str, str], Path]] = []

    def open(self, options, project):
        self.opened.append((options, project))
        fault = Shelf.fails.get("open")
        if isinstance(fault, Exception):
            raise fault
        return Shelf() if fault is None else fault


class UnchangingType(ShelfType):
    name = "unchanging"

    def open(self, options, project):
        return Unchanging()


@pytest.fixture(autouse=True)
def shelf(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[type[Shelf]]:
    monkeypatch.setitem(sys.modules, "theirs", sys.modules[__name__])
    entries = tuple(
        ("catalogs", name, value) for name, value in (("shelf", "theirs:ShelfType"), ("unchanging", "theirs:UnchangingType"), ("gone", "no:X"))
    )
    plugins.install(monkeypatch, tmp_path_factory.mktemp("site"), {"plugin": entries})
    monkeypatch.setattr(Shelf, "kept", {"default": {"s": SOURCE, "t": SINK, "v": "CREATE VIEW anything AS SELECT a, ts FROM s"}, "other": {}})
    monkeypatch.setattr(Shelf, "asked", [])
    monkeypatch.setattr(Shelf, "fails", {})
    monkeypatch.setattr(ShelfType, "opened", [])
    return Shelf


@pytest.fixture
def session(tmp_path: Path, engine: Engine) -> Session:
    return open_session(tmp_path, CREATE, engine=engine)


def refused(session: Session, statement: str) -> SqlStreamError:
    with pytest.raises(SqlStreamError) as told:
        run(session, statement)
    assert told.value.code != "S9" and told.value.location is not None, statement
    return told.value


def checked(session: Session, script: str) -> list[str]:
    checker = Checker(session)
    return [error.message for statement in split(script) for error in checker.checked(statement).errors]


def test_names_are_listed_without_definitions(session: Session, shelf: type[Shelf]) -> None:
    assert shelf.asked == [("databases",)]
    assert rows(session, "SHOW DATABASES FROM c;") == [("default",), ("other",)]
    assert rows(session, "SHOW TABLES FROM c.`default`; SHOW TABLES FROM c.`default` LIKE 's%';") == [("s",), ("t",), ("v",), ("s",)]
    assert "c.`default`.s" not in str(refused(session, "SELECT * FROM c.`default`.sx;").hint)
    list(session.context.catalog.objects())
    known = session.completion()
    offered = [s.text for s in suggest("SELECT * FROM c.`default`.", 26, known)]
    assert {"s", "t", "v"} <= set(offered)
    assert shelf.asked == [("databases",), ("tables", "default"), ("read", "default", "sx")]


def test_a_definition_is_read_once_a_session(session: Session, shelf: type[Shelf], tmp_path: Path) -> None:
    for _ in range(2):
        explained(session, "SELECT * FROM c.`default`.v;")
        assert not checked(session, "INSERT INTO c.`default`.t SELECT a FROM c.`default`.v;")
    assert sorted(shelf.asked) == [("databases",), ("read", "default", "s"), ("read", "default", "t"), ("read", "default", "v")]
    shelf.kept["default"]["s"] = SINK.replace("print", "datagen")
    explained(session, "SELECT ts FROM c.`default`.s;")
    assert "ts" in refused(open_session(tmp_path, CREATE), "SELECT ts FROM c.`default`.s;").message


def test_current_names_reach_into_it(session: Session) -> None:
    run(session, "USE CATALOG c;")
    assert session.place == "c.default"
    assert "datagen" in rows(session, "SHOW CREATE TABLE s;")[0][0] and "`s`" in rows(session, "SHOW CREATE VIEW v;")[0][0]
    assert rows(session, "SHOW VIEWS;") == [("v",)] and [r[0] for r in rows(session, "DESCRIBE v;")] == ["a", "ts"]
    explained(session, "INSERT INTO t SELECT a FROM v;")
    run(session, "USE other;")
    assert session.place == "c.other"


def test_statements_write_through_and_another_session_has_it(session: Session, shelf: type[Shelf], tmp_path: Path) -> None:
    run(
        session,
        "USE CATALOG c; CREATE TABLE `ein Häus.chen` (`größe` INT, b AS `größe` + 1) WITH ('connector' = 'datagen');"
        "CREATE TABLE l (z INT) LIKE `ein Häus.chen`; CREATE VIEW w AS SELECT z FROM l; CREATE VIEW w2 AS SELECT z FROM w;"
        "ALTER TABLE l SET ('rows-per-second' = '3'); ALTER TABLE t RENAME TO t2; ALTER VIEW v AS SELECT a FROM s; DROP VIEW w2;"
        "CREATE DATABASE more; CREATE TABLE more.m (a INT) WITH ('connector' = 'print');"
        "USE CATALOG default_catalog; CREATE VIEW c.more.far AS SELECT * FROM c.`default`.w;",
    )
    assert sorted(shelf.kept["default"]) == ["ein Häus.chen", "l", "s", "t2", "v", "w"]
    assert shelf.kept["default"]["w"].split("\nAS ") == ["CREATE VIEW `w`", "SELECT z FROM l;\n"]
    assert sorted(shelf.kept["more"]) == ["far", "m"] and sorted(shelf.kept) == ["default", "more", "other"]
    again = open_session(tmp_path, CREATE)
    for statement in ("SELECT * FROM c.`default`.`ein Häus.chen`;", "SELECT * FROM c.more.far;", "INSERT INTO c.more.m SELECT z FROM c.`default`.w;"):
        assert plans(again, statement) == plans(session, statement)
    assert "'rows-per-second' = '3'" in rows(again, "SHOW CREATE TABLE c.`default`.l;")[0][0]
    assert not list(tmp_path.glob("catalog/**/*.sql"))
    assert refused(again, "DROP DATABASE c.more;").message.endswith("is not empty.")
    run(again, "DROP DATABASE c.more CASCADE; DROP TABLE c.`default`.l; DROP CATALOG c;")
    assert sorted(shelf.kept) == ["default", "other"] and "l" not in shelf.kept["default"] and len(shelf.kept["default"]) == 5


def test_a_database_that_is_made_anew_is_empty(session: Session) -> None:
    run(session, "DROP DATABASE c.`default` CASCADE; CREATE DATABASE c.`default`;")
    assert rows(session, "SHOW TABLES FROM c.`default`;") == []
    assert refused(session, "SELECT * FROM c.`default`.t;").message == "Object 't' not found within 'c.default'"


def test_check_writes_nothing_and_finds_what_would_be_refused(session: Session, shelf: type[Shelf]) -> None:
    before = {d: dict(t) for d, t in shelf.kept.items()}
    script = (
        "CREATE TABLE c.`default`.n (a INT) WITH ('connector' = 'print'); INSERT INTO c.`default`.n SELECT a FROM c.`default`.s;"
        "ALTER TABLE c.`default`.t RENAME TO t2; DROP VIEW c.`default`.v; CREATE DATABASE c.more; DROP DATABASE c.other;"
        "CREATE CATALOG d WITH ('type' = 'shelf'); CREATE TABLE d.other.n (a INT) WITH ('connector' = 'print'); DROP TABLE d.other.n;"
    )
    assert not checked(session, script)
    assert shelf.kept == before and {call[0] for call in shelf.asked} == {"databases", "tables", "read"}
    assert rows(session, "SHOW TABLES FROM c.`default`;") == [("s",), ("t",), ("v",)]
    (told,) = checked(session, "CREATE CATALOG u WITH ('type' = 'unchanging'); DROP TABLE u.d.t;")
    assert told == "Catalog 'u' is read-only: it can't drop a table or a view."


def test_a_temporary_table_stands_before_it(session: Session, shelf: type[Shelf]) -> None:
    run(session, "USE CATALOG c; CREATE TEMPORARY TABLE s (mine INT) WITH ('connector' = 'datagen');")
    assert [r[0] for r in rows(session, "DESCRIBE s;")] == ["mine"]
    assert not [call for call in shelf.asked if call[0] != "databases"]
    run(session, "DROP TEMPORARY TABLE s;")
    assert [r[0] for r in rows(session, "DESCRIBE s;")] == ["a", "ts"]


def test_what_exists_is_told_of_as_in_any_catalog(session: Session, shelf: type[Shelf]) -> None:
    assert "already exists in Catalog c" in refused(session, "CREATE TABLE c.`default`.t (a INT) WITH ('connector' = 'print');").message
    run(session, "CREATE TABLE IF NOT EXISTS c.`default`.t (z INT) WITH ('connector' = 'print'); CREATE DATABASE IF NOT EXISTS c.other;")
    assert shelf.kept["default"]["t"] == SINK
    run(
        session,
        "DROP TABLE IF EXISTS c.`default`.nothing; DROP TABLE c.`default`.t; CREATE TABLE c.`default`.t (z INT) WITH ('connector' = 'print');",
    )
    assert "`z` INT" in shelf.kept["default"]["t"]
    assert "would read itself" in refused(session, "ALTER VIEW c.`default`.v AS SELECT * FROM c.`default`.v;").message


def test_views_that_read_each_other_end(session: Session, shelf: type[Shelf]) -> None:
    shelf.kept["default"] |= {"a": "CREATE VIEW x AS SELECT * FROM b", "b": "CREATE VIEW x AS SELECT * FROM a"}
    assert "would read itself" in refused(session, "SELECT * FROM c.`default`.a;").message
    run(session, "DROP VIEW c.`default`.a;")


@pytest.mark.parametrize(
    ("call", "statement", "doing"),
    [
        ("open", "CREATE CATALOG e WITH ('type' = 'shelf');", "be opened"),
        ("databases", "CREATE CATALOG e WITH ('type' = 'shelf');", "list its databases"),
        ("tables", "SHOW TABLES FROM c.`default`;", "list its tables (default)"),
        ("tables", "DROP DATABASE c.other;", "list its tables (other)"),
        ("read", "SELECT * FROM c.`default`.s;", "read a definition (default.s)"),
        ("read", "DESCRIBE c.`default`.s;", "read a definition (default.s)"),
        ("read", "INSERT INTO c.`default`.t SELECT 1;", "read a definition (default.t)"),
        ("read", "CREATE TABLE n (b INT) LIKE c.`default`.s;", "read a definition (default.s)"),
        ("read", "DROP TABLE c.`default`.s;", "read a definition (default.s)"),
        ("read", "ALTER TABLE c.`default`.s SET ('x' = 'y');", "read a definition (default.s)"),
        ("save", "CREATE TABLE c.`default`.n (a INT) WITH ('connector' = 'print');", "save a table or a view (default.n)"),
        ("save", "ALTER TABLE c.`default`.t SET ('x' = 'y');", "save a table or a view (default.t)"),
        ("save", "ALTER TABLE c.`default`.t RENAME TO n;", "rename a table or a view (default.t)"),
        ("remove", "DROP TABLE c.`default`.t;", "drop a table or a view (default.t)"),
        ("create_database", "CREATE DATABASE c.n;", "create a database (n)"),
        ("drop_database", "DROP DATABASE c.other;", "drop a database (other)"),
    ],
)
def test_a_store_that_fails_is_an_error_at_its_place(session: Session, shelf: type[Shelf], call: str, statement: str, doing: str) -> None:
    before, catalog = {d: dict(t) for d, t in shelf.kept.items()}, "e" if " e " in statement else "c"
    shelf.fails[call] = OSError("no route to host")
    told = refused(session, statement)
    assert isinstance(told, SetupError) and told.message == f"Catalog '{catalog}' can't {doing}: OSError: no route to host."
    assert told.location is not None and (told.location.column > 1 or call in ("databases", "open"))
    shelf.fails[call] = ValidationError("Say please.", hint="Please.")
    told = refused(session, statement)
    assert isinstance(told, ValidationError) and told.message.endswith(f"can't {doing}: Say please.") and told.hint == "Please."
    shelf.fails.clear()
    assert shelf.kept == before
    run(session, statement.replace("'x' = 'y'", "'number-of-rows' = '1'"))


@pytest.mark.parametrize(
    ("call", "answer", "statement", "says"),
    [
        ("open", 5, "CREATE CATALOG e WITH ('type' = 'shelf');", "what its type 'shelf' opens is no Store"),
        ("databases", 5, "CREATE CATALOG e WITH ('type' = 'shelf');", "gave a value of type int for the names of databases"),
        ("tables", [5], "SHOW TABLES FROM c.`default`;", "gave a value of type list for the names of tables"),
        ("tables", "t", "SHOW TABLES FROM c.`default`;", "gave a value of type str for the names of tables"),
        ("read", 5, "DESCRIBE c.`default`.t;", "gave a value of type int for the definition of `c`.`default`.`t`"),
        ("read", " ", "DESCRIBE c.`default`.t;", "it has 0 statements, not one."),
        ("read", f"{SINK};{SINK}", "DESCRIBE c.`default`.t;", "it has 2 statements, not one."),
        ("read", "SELECT 1", "DESCRIBE c.`default`.t;", "it is neither a CREATE TABLE without LIKE and AS nor a CREATE VIEW."),
        ("read", "CREATE TEMPORARY VIEW v AS SELECT 1", "DESCRIBE c.`default`.t;", "it is neither"),
        ("read", "CREATE TABLE t LIKE t", "DESCRIBE c.`default`.t;", "it is neither"),
        ("read", "-- t\nCREATE TABLE t (\n  a INTT)", "DESCRIBE c.`default`.t;", "(line 3:5)."),
        ("read", "CREATE TABLE t (a INT,\n a INT) WITH ('connector' = 'print')", "DESCRIBE c.`default`.t;", "(line 2:2)."),
    ],
)
def test_a_store_that_answers_nonsense_is_told_of(session: Session, shelf: type[Shelf], call: str, answer: object, statement: str, says: str) -> None:
    shelf.fails[call] = answer
    told = refused(session, statement)
    assert says in told.message and ("'e'" in told.message or "`t`" in told.message or "'c'" in told.message)


def test_check_tells_of_a_store_that_fails(session: Session, shelf: type[Shelf]) -> None:
    shelf.fails["read"] = OSError("away")
    told = "Catalog 'c' can't read a definition (other.n): OSError: away."
    assert checked(session, "CREATE TABLE c.other.n (a INT) WITH ('connector' = 'print');") == [told]
    assert checked(session, "INSERT INTO c.other.n SELECT 1;") == [told]
    shelf.fails = {"save": OSError("away")}
    assert not checked(session, "CREATE TABLE c.other.n WITH ('connector' = 'print') AS SELECT a FROM c.`default`.s;")


def test_a_table_that_cannot_be_renamed_keeps_its_name(session: Session, shelf: type[Shelf], monkeypatch: pytest.MonkeyPatch) -> None:
    before, remove = dict(shelf.kept["default"]), Shelf.remove

    def held(self: Shelf, database: str, name: str) -> None:
        if name == "t":
            raise OSError("held by another")
        remove(self, database, name)

    monkeypatch.setattr(Shelf, "remove", held)
    assert "held by another" in refused(session, "ALTER TABLE c.`default`.t RENAME TO n;").message
    assert shelf.kept["default"] == before and rows(session, "SHOW TABLES FROM c.`default`;") == [("s",), ("t",), ("v",)]


def test_a_definition_that_is_gone_is_not_there(session: Session, shelf: type[Shelf]) -> None:
    rows(session, "SHOW TABLES FROM c.`default`;")
    del shelf.kept["default"]["s"]
    assert refused(session, "SELECT * FROM c.`default`.s;").message == "Object 's' not found within 'c.default'"


def test_a_read_only_catalog_refuses_changes(session: Session) -> None:
    run(session, "CREATE CATALOG u WITH ('type' = 'unchanging'); USE CATALOG u;")
    assert session.place == "u.d"
    changes = ("CREATE TABLE n (a INT) WITH ('connector' = 'print')", "CREATE VIEW n AS SELECT 1", "ALTER TABLE t RENAME TO n", "DROP TABLE t",
               "ALTER TABLE t ADD b INT", "CREATE DATABASE n", "DROP DATABASE u.d CASCADE")  # fmt: skip
    for statement in changes[:-1]:
        told = refused(session, f"{statement};")
        assert isinstance(told, NotSupported) and told.message.startswith("Catalog 'u' is read-only: it can't ") and told.hint, statement
    run(session, "USE CATALOG c;")
    assert "read-only" in refused(session, f"{changes[-1]};").message
    run(session, "CREATE TEMPORARY TABLE u.d.mine (a INT) WITH ('connector' = 'print');")


def test_functions_and_remarks_of_databases_are_refused(session: Session) -> None:
    with pytest.raises(NotSupported, match="no functions"):
        functions.create(session.context.catalog, UserFunction(ObjectPath("c", "other", "f"), "m.f"))
    for statement in ("CREATE DATABASE c.n COMMENT 'x';", "ALTER DATABASE c.other SET ('a' = 'b');"):
        assert refused(session, statement).message == "Catalog c keeps no comments and options of databases."


def test_options_are_checked_resolved_and_masked(session: Session, shelf: type[Shelf], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SHELF_PASSWORD", "hunter-2-two")
    run(session, "CREATE CATALOG e WITH ('type' = 'shelf', 'password' = '${env:SHELF_PASSWORD}', 'default-database' = 'other'); USE CATALOG e;")
    assert ShelfType.opened[-1] == ({"password": "hunter-2-two"}, tmp_path) and session.place == "e.other"
    shelf.fails["tables"] = OSError("wrong: hunter-2-two")
    assert refused(session, "SHOW TABLES;").message.endswith("OSError: wrong: ******.")
    run(session, "CREATE CATALOG f WITH ('type' = 'shelf', 'password' = 'hunter-2-two');")
    shown = rows(session, "SHOW CREATE CATALOG f; DESCRIBE CATALOG EXTENDED f;")
    assert "******" in str(shown) and "hunter" not in str(shown)
    for statement, says, hint in (
        ("CREATE CATALOG g WITH ('type' = 'shelf', 'wher' = 'x');", "Unsupported options:\n\nwher\n", "Did you mean 'where'?"),
        ("CREATE CATALOG g WITH ('type' = 'shelf', 'where' = '${env:NOT_SET_AT_ALL}');", "NOT_SET_AT_ALL, which is not set", "export"),
        ("CREATE CATALOG g WITH ('type' = 'shelf', 'default-database' = 'oter');", "Catalog 'g' has no database 'oter'.", "'other'"),
        ("CREATE CATALOG g WITH ('type' = 'shelff');", "Catalog type 'shelff' is not supported.", "Did you mean 'shelf'?"),
        ("CREATE CATALOG g WITH ('type' = 'hive');", "Catalog type 'hive' is not supported.", "generic_in_memory"),
        ("CREATE CATALOG g WITH ('type' = 'gone');", "The catalog 'gone' of package 'plugin' can't be used: 'no:X' can't be loaded", "Install"),
    ):
        told = refused(session, statement)
        assert says in told.message and hint in (told.hint or ""), statement
    assert "shelf" in refused(session, "CREATE CATALOG g WITH ('type' = 'nothing');").message


def test_an_altered_catalog_is_opened_again(session: Session, shelf: type[Shelf]) -> None:
    shelf.fails["open"] = OSError("gone")
    refused(session, "ALTER CATALOG c SET ('where' = 'x');")
    assert rows(session, "SHOW TABLES FROM c.`default`;")
    shelf.fails.clear()
    run(session, "ALTER CATALOG c SET ('where' = 'x');")
    assert ShelfType.opened[-1][0] == {"where": "x"}
    run(session, "ALTER CATALOG c RESET ('where');")
    assert ShelfType.opened[-1][0] == {}


def test_secrets_are_not_saved(session: Session, shelf: type[Shelf]) -> None:
    statement = "CREATE TABLE c.other.t (a INT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/d', 'table-name' = 't', 'password' = '{}');"
    assert "'password' contains a secret in plain text" in refused(session, statement.format("hunter2")).message
    assert shelf.kept["other"] == {}
    run(session, statement.format("${env:SHOP_PASSWORD}"))
    assert "${env:SHOP_PASSWORD}" in shelf.kept["other"]["t"]


def test_the_project_keeps_the_catalog_and_nothing_in_it(tmp_path: Path, shelf: type[Shelf]) -> None:
    lines: list[str] = []
    first = open_session(tmp_path, notify=lines.append, save=True)
    (outcome,) = run(first, CREATE)
    assert outcome.notices == ("Saved catalog/c.catalog.sql",)
    (outcome,) = run(first, "CREATE TABLE c.other.n (a INT) WITH ('connector' = 'datagen');")
    assert outcome.notices == () and "n" in shelf.kept["other"]
    run(first, "CREATE VIEW over_it AS SELECT a FROM c.other.n;")
    assert sorted(f.name for f in tmp_path.glob("catalog/**/*.sql")) == ["c.catalog.sql", "over_it.sql"]
    (tmp_path / "catalog" / "d.sql").write_text("CREATE DATABASE c.mine;")
    for name, statement in (
        ("t.sql", SINK),
        ("f.function.sql", "CREATE FUNCTION f AS 'm.f' LANGUAGE PYTHON"),
        ("v.sql", "CREATE VIEW y AS SELECT 1"),
    ):
        (tmp_path / "catalog" / "c" / "other").mkdir(parents=True, exist_ok=True)
        (tmp_path / "catalog" / "c" / "other" / name).write_text(f"{statement};")
    again = open_session(tmp_path, notify=lines.append)
    assert len(lines) == 4 and all("Nothing in catalog 'c' can be declared by the project's files" in line for line in lines)
    assert plans(again, "SELECT * FROM over_it;") == plans(first, "SELECT * FROM over_it;")
    shelf.fails["databases"] = OSError("away")
    lines.clear()
    open_session(tmp_path, notify=lines.append)
    assert any("c.catalog.sql:1" in line and "Catalog 'c' can't list its databases: OSError: away." in line for line in lines)


def test_help_and_completion_have_its_type(tmp_path: Path) -> None:
    assert text("CATALOG shelf").startswith("Catalog 'shelf'") and "Its place." in text("CATALOG shelf") and "shelf" in text("")
    assert [row.name for row in CATALOGS] == ["generic_in_memory", "iceberg", "jdbc", "shelf", "unchanging"]
    context = open_session(tmp_path, CREATE).completion()

    def offered(written: str) -> set[str]:
        return {s.text for s in suggest(written, len(written), context)}

    assert {"'shelf'", "'generic_in_memory'"} <= offered("CREATE CATALOG d WITH ('type' = '")
    assert {"'where' = '", "'password' = '", "'default-database' = '"} <= offered("CREATE CATALOG d WITH ('type' = 'shelf', '")
    assert "shelf" in offered("HELP CATALOG sh")


def test_completion_survives_a_store_that_fails(session: Session, shelf: type[Shelf]) -> None:
    shelf.fails["tables"] = OSError("away")
    context = session.completion()
    assert list(suggest("SELECT * FROM c.`default`.", 26, context)) == []
    shelf.fails = {"read": OSError("away")}
    context = session.completion()
    assert context.options_of(("c", "default", "t")) == {} and context.columns_of(("c", "default", "t")) == ()
    assert {"t", "v"} <= {s.text for s in suggest("DROP VIEW c.`default`.", 22, context)}


def test_what_another_session_has_changed_is_not_overwritten(shelf: type[Shelf], tmp_path: Path) -> None:
    """What is about to be changed is looked at again."""
    one, other = (open_session(tmp_path / name, CREATE) for name in ("one", "other"))
    rows(other, "SHOW TABLES FROM c.`default`;")
    run(one, f"CREATE TABLE c.`default`.n {SINK[len('CREATE TABLE x ') :]};")
    with pytest.raises(ValidationError, match="already exists in Catalog c"):
        run(other, f"CREATE TABLE c.`default`.n {SINK[len('CREATE TABLE x ') :].replace('a INT', 'b INT')};")
    run(other, "ALTER TABLE c.`default`.n ADD (c INT); DESCRIBE c.`default`.n;")
    run(one, "ALTER TABLE c.`default`.n ADD (d INT);")
    assert [row[0] for row in rows(one, "DESCRIBE c.`default`.n;")] == ["a", "c", "d"]
    run(one, "ALTER TABLE c.`default`.n RENAME TO m;")
    with pytest.raises(ValidationError, match="does not exist"):
        run(other, "DROP TABLE c.`default`.n;")
    run(other, "DROP TABLE IF EXISTS c.`default`.n; DROP TABLE c.`default`.m;")
    assert ("m",) not in rows(other, "SHOW TABLES FROM c.`default`;") and "m" not in shelf.kept["default"]


def test_a_definition_that_can_not_be_used_can_be_dropped(shelf: type[Shelf], tmp_path: Path) -> None:
    shelf.kept["default"]["bad"] = "CREATE TABLE bad (a INTT) WITH ('connector' = 'print')"
    session = open_session(tmp_path, CREATE)
    assert ("bad",) not in rows(session, "SHOW VIEWS FROM c.`default`;")
    run(session, "DROP TABLE c.`default`.bad;")
    assert "bad" not in shelf.kept["default"]


def test_what_is_of_the_other_kind_is_named(tmp_path: Path) -> None:
    session = open_session(tmp_path, "CREATE VIEW v AS SELECT 1; CREATE TABLE t (a INT) WITH ('connector' = 'print');")
    for statement, hint in (("DROP TABLE v", "It is a view: DROP VIEW"), ("DROP VIEW t", "It is a table: DROP TABLE")):
        with pytest.raises(ValidationError, match="does not exist") as refused:
            run(session, statement)
        assert (refused.value.hint or "").startswith(hint)


def test_another_session_does_not_declare_what_a_store_keeps(session: Session) -> None:
    temporary = "CREATE TEMPORARY TABLE w (a INT) WITH ('connector' = 'print')"
    stored = ["CREATE DATABASE d", "CREATE TABLE c.d.u (a INT) WITH ('connector' = 'print')", "DROP TABLE c.d.u", "DROP DATABASE c.d"]
    run(session, ";\n".join(["USE CATALOG c", *stored, temporary, "SHOW TABLES;"]))
    script = session.context.journal.script(session.context)
    assert script is not None
    declared = script.of("x").split("\n;\n")
    assert [text for text in declared if not text.startswith("SET")][:-2] == [CREATE.rstrip(";"), "USE CATALOG c", temporary]
