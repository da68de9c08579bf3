"""The catalog's files: loading, saving, dropping, and what must never be overwritten."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.catalog import ddl
from sqlstream.catalog.apply import StatementContext, apply
from sqlstream.catalog.namespaces import CatalogManager
from sqlstream.catalog.project import CatalogFiles, ObjectKey, escape, unescape
from sqlstream.core.errors import SetupError, ValidationError
from sqlstream.session.session import Session as WholeSession
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.tables import ObjectPath, Table, View
from tests.support import pace

if TYPE_CHECKING:
    from pathlib import Path


class Session:
    """A session over the project folder ``root``."""

    def __init__(self, root: Path, *, script: bool = False, save: bool = True) -> None:
        self.manager = CatalogManager()
        self.project = CatalogFiles(root, self.manager, parse)
        self.errors = self.project.load(self.manager)
        self.context = StatementContext(project=self.project, script=script, save=save)

    def run(self, text: str) -> list[str]:
        return apply(self.manager, parse(text), self.context)

    def table(self, *parts: str) -> Table:
        found = self.manager.resolve(parts)
        assert isinstance(found, Table)
        return found


def write(root: Path, name: str, text: str) -> Path:
    file = root / "catalog" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


T = "CREATE TABLE t (a INT) WITH ('connector' = 'print');"


def test_a_project_that_cannot_be_written(tmp_path: Path) -> None:
    session = Session(tmp_path)
    (tmp_path / ".sqlstream").write_text("no folder")
    with pytest.raises(SetupError, match=r"The project can't be written: .*: Not a directory.") as caught:
        session.run(T.rstrip(";"))
    assert "CREATE TEMPORARY TABLE" in str(caught.value.hint)


def test_created_table_is_saved_and_loaded_again(tmp_path: Path) -> None:
    lines = Session(tmp_path).run(
        "CREATE TABLE t (id INT, ts TIMESTAMP(3), twice AS id * 2, late AS TO_TIMESTAMP_LTZ(id, 3), "
        "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) "
        "COMMENT 'it''s' WITH ('topic' = 'a', 'connector' = 'kafka', 'properties.bootstrap.servers' = 'b:1')"
    )
    assert lines == ["Saved catalog/t.sql"]
    file = tmp_path / "catalog/t.sql"
    assert (
        file.read_text()
        == """\
CREATE TABLE `t` (
  `id` INT NOT NULL,
  `ts` TIMESTAMP(3),
  `twice` AS `id` * 2,
  `late` AS `TO_TIMESTAMP_LTZ`(`id`, 3),
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `PK_id` PRIMARY KEY (`id`) NOT ENFORCED
)
COMMENT 'it''s'
WITH (
  'topic' = 'a',
  'connector' = 'kafka',
  'properties.bootstrap.servers' = 'b:1'
);
"""
    )
    again = Session(tmp_path)
    assert not again.errors
    table = again.table("t")
    before = file.read_text()
    key = ObjectKey("RELATION", table.path)
    assert again.project.save(key, table, again.manager) == ""
    again.run("ALTER TABLE t SET ('topic' = 'b')")
    assert again.run("ALTER TABLE t SET ('topic' = 'a')") == ["Saved catalog/t.sql"]
    assert file.read_text() == before


def test_unqualified_names_are_in_the_folders_database(tmp_path: Path) -> None:
    write(tmp_path, "shop/a.sql", T)
    write(tmp_path, "b.sql", T.replace(" t ", " u ") + "USE other; CREATE TABLE x (a INT);")
    write(tmp_path, "other/y.sql", "CREATE TABLE `default_database`.y (a INT);")
    session = Session(tmp_path)
    assert [str(e) for e in session.errors] == []
    assert {str(o.path) for o in session.manager.objects()} == {
        "default_catalog.shop.t",
        "default_catalog.default_database.u",
        "default_catalog.other.x",
        "default_catalog.default_database.y",
    }


def test_order_of_files_does_not_matter(tmp_path: Path) -> None:
    write(tmp_path, "a.sql", "CREATE TABLE a LIKE b (EXCLUDING OPTIONS);")
    write(tmp_path, "b.sql", "CREATE TABLE b (x INT) LIKE c;")
    write(tmp_path, "c.sql", "CREATE TABLE c (y INT) WITH ('connector' = 'print');")
    write(tmp_path, "0.sql", "CREATE VIEW v AS SELECT x FROM a;")
    session = Session(tmp_path)
    assert not session.errors
    assert [c.name for c in session.table("a").columns] == ["y", "x"]


def test_a_broken_file_leaves_the_others(tmp_path: Path) -> None:
    write(tmp_path, "a.sql", T + "\n\nCREATE TABLE bad (\n  a INT,\n  a INT\n);\nSELECT 1;\nCREATE TABLE u (a INT);")
    write(tmp_path, "b.sql", "CREATE TABEL x")
    write(tmp_path, "c.sql", "CREATE TABLE c (a INT);")
    (tmp_path / "catalog/d.sql").write_bytes(b"\xff\xfe")
    session = Session(tmp_path)
    assert session.manager.table_names("default_catalog", "default_database") == ["c", "t", "u"]
    assert {str(e.location) for e in session.errors} == {
        "catalog/a.sql:5:3",
        "catalog/a.sql:7:1",
        "catalog/b.sql:1:8",
        "catalog/d.sql:1:1",
    }


def test_file_of_several_objects_is_not_written(tmp_path: Path) -> None:
    file = write(tmp_path, "all.sql", T + "\n" + T.replace(" t ", " u "))
    before = file.read_text()
    session = Session(tmp_path)
    assert session.run("ALTER TABLE t ADD b INT")[0].startswith("Not saved: catalog/all.sql declares other objects too.")
    assert session.run("DROP TABLE u")[0].startswith("Not removed from catalog/all.sql")
    assert file.read_text() == before


def test_alter_rewrites_in_place_and_keeps_the_head(tmp_path: Path) -> None:
    file = write(tmp_path, "odd name.sql", "-- Who owns this: the shop team.\n" + T)
    assert Session(tmp_path).run("ALTER TABLE t ADD b INT") == ["Saved catalog/odd name.sql"]
    assert file.read_text().startswith("-- Who owns this: the shop team.\nCREATE TABLE `t` (\n  `a` INT,\n  `b` INT\n)")
    assert not (tmp_path / "catalog/t.sql").exists()


def test_drop_removes_only_the_file(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.run(T.rstrip(";"))
    assert session.run("DROP TABLE t") == ["Removed catalog/t.sql"]
    assert list((tmp_path / "catalog").iterdir()) == []


def test_rename_moves_the_file(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.run(T.rstrip(";"))
    assert session.run("ALTER TABLE t RENAME TO u") == ["Removed catalog/t.sql", "Saved catalog/u.sql"]
    assert Session(tmp_path).table("u").path.name == "u"


def test_foreign_and_changed_files_stay(tmp_path: Path) -> None:
    session = Session(tmp_path)
    foreign = write(tmp_path, "t.sql", "-- mine")
    assert session.run(T.rstrip(";"))[0].startswith("Not saved: catalog/t.sql exists")
    assert foreign.read_text() == "-- mine"
    session.run("CREATE TABLE u (a INT)")
    changed = tmp_path / "catalog/u.sql"
    changed.write_text("CREATE TABLE u (a INT, mine INT);")
    assert session.run("ALTER TABLE u ADD b INT") == ["Not saved: catalog/u.sql has changed on disk. Start a new session to load it."]
    assert session.run("DROP TABLE u")[0].startswith("Not removed from catalog/u.sql")
    assert "mine" in changed.read_text()


def test_secrets_are_never_written(tmp_path: Path) -> None:
    session = Session(tmp_path)
    lines = session.run("CREATE TABLE t (a INT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:x', 'table-name' = 't', 'password' = 'hunter2')")
    assert "${env:PASSWORD}" in lines[0]
    assert not (tmp_path / "catalog").exists()
    assert session.run("ALTER TABLE t SET ('password' = '${env:PW}')") == ["Saved catalog/t.sql"]
    assert "'password' = '${env:PW}'" in (tmp_path / "catalog/t.sql").read_text()
    assert "hunter2" not in ddl.create_table(session.table("t"))


def test_temporary_objects_are_never_written(tmp_path: Path) -> None:
    session = Session(tmp_path)
    for text in (
        "CREATE TEMPORARY TABLE t (a INT)",
        "CREATE TEMPORARY VIEW v AS SELECT 1",
        "CREATE TEMPORARY FUNCTION f AS 'a.b'",
    ):
        assert session.run(text) == []
    assert not (tmp_path / "catalog").exists()


def test_script_wins_over_the_project_and_writes_nothing(tmp_path: Path) -> None:
    file = write(tmp_path, "t.sql", T)
    session = Session(tmp_path, script=True, save=False)
    lines = session.run("CREATE TABLE t (other STRING)")
    assert lines == ["`default_catalog`.`default_database`.`t` of catalog/t.sql is replaced by this script's own definition."]
    assert session.table("t").columns[0].name == "other"
    with pytest.raises(ValidationError, match="already exists"):
        session.run("CREATE TABLE t (third STRING)")
    session.run("DROP TABLE t")
    assert file.read_text() == T


def test_shell_fails_as_flink_over_a_project_object(tmp_path: Path) -> None:
    write(tmp_path, "t.sql", T)
    with pytest.raises(ValidationError, match=r"Table \(or view\) default_database.t already exists"):
        Session(tmp_path).run("CREATE TABLE t (other STRING)")


def test_script_that_saves_defines_a_table_once(tmp_path: Path) -> None:
    write(tmp_path, "t.sql", T)
    session = Session(tmp_path, script=True, save=True)
    for text in ("CREATE TABLE t (other STRING)", "CREATE TABLE u (a INT)"):
        assert session.run(text)[0].startswith("Saved catalog/")
        with pytest.raises(ValidationError, match="already exists"):
            session.run(text)
    assert Session(tmp_path).table("t").columns[0].name == "other"


def test_if_not_exists_in_a_script_also_wins(tmp_path: Path) -> None:
    write(tmp_path, "t.sql", T)
    session = Session(tmp_path, script=True, save=False)
    session.run("CREATE TABLE IF NOT EXISTS t (other STRING)")
    assert session.table("t").columns[0].name == "other"


def test_view_means_the_same_wherever_its_file_is(tmp_path: Path) -> None:
    session = Session(tmp_path)
    for text in (
        "CREATE DATABASE d",
        "CREATE TABLE t (a INT)",
        "CREATE VIEW d.v AS SELECT a FROM t",
        "CREATE VIEW w AS SELECT a FROM t",
    ):
        session.run(text)
    assert "`default_catalog`.`default_database`.`t`" in (tmp_path / "catalog/d/v.sql").read_text()
    assert (tmp_path / "catalog/w.sql").read_text() == "CREATE VIEW `w`\nAS SELECT a FROM t;\n"
    again = Session(tmp_path)
    assert not again.errors
    for name in (("d", "v"), ("w",)):
        before, after = session.manager.resolve(name), again.manager.resolve(name)
        assert isinstance(before, View) and isinstance(after, View)
        assert before.query == after.query


@pytest.mark.parametrize(
    "names",
    [
        ("t", "T"),
        ("a/b", "a.b", "a b"),
        ("..", "."),
        ("é", "e"),
        ("x" * 200, "x" * 201),
        ("con", "`"),
        ("a-2", "A", "a"),
    ],
    ids=lambda n: n[0][:5],
)
def test_file_names_are_safe_and_unique(tmp_path: Path, names: tuple[str, ...]) -> None:
    session = Session(tmp_path)
    for name in names:
        quoted = "`" + name.replace("`", "``") + "`"
        assert session.run(f"CREATE TABLE {quoted} (a INT)")[0].startswith("Saved catalog/")
    files = [f.name.casefold() for f in (tmp_path / "catalog").iterdir()]
    assert len(files) == len(names) == len(set(files))
    assert all(f.endswith(".sql") and not f.startswith(".") for f in files)
    again = Session(tmp_path)
    assert not again.errors
    assert again.manager.table_names("default_catalog", "default_database") == sorted(names)


@pytest.mark.parametrize("name", ["a", "a b", "é/ü", "%41", "..", "日本"])
def test_folder_names_can_be_read_back(name: str) -> None:
    assert unescape(escape(name)) == name


def test_functions_and_databases_have_files(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.run("CREATE DATABASE d COMMENT 'c' WITH ('k' = 'v')")
    session.run("CREATE FUNCTION Twice AS 'udfs.twice' LANGUAGE PYTHON")
    again = Session(tmp_path)
    assert not again.errors
    assert again.manager.catalogs["default_catalog"].databases["d"].options == {"k": "v"}
    assert again.project.owns(ObjectKey("FUNCTION", ObjectPath("default_catalog", "default_database", "twice")))
    assert again.run("DROP FUNCTION twice") == ["Removed catalog/twice.function.sql"]
    assert again.run("DROP DATABASE d") == ["Removed catalog/d.database.sql"]


def test_a_database_of_another_catalog_is_there_again(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.run("CREATE CATALOG c WITH ('type' = 'generic_in_memory')")
    session.run("CREATE DATABASE c.`d.e`")
    session.run("CREATE TABLE c.`d.e`.t (a INT) WITH ('connector' = 'print')")
    again = Session(tmp_path)
    assert not again.errors
    assert again.table("c", "d.e", "t").path == ObjectPath("c", "d.e", "t")


def test_many_files_load_fast(tmp_path: Path) -> None:
    for i in range(500):
        write(
            tmp_path,
            f"t{i}.sql",
            f"CREATE TABLE t{i} (a INT, b STRING, c AS a + 1, PRIMARY KEY (a) NOT ENFORCED) WITH ('k' = 'v');",
        )

    def loaded() -> None:
        assert not Session(tmp_path).errors

    assert pace.seconds(loaded) < 3


def test_a_session_shows_the_first_errors_of_many(tmp_path: Path) -> None:
    for i in range(30):
        write(tmp_path, f"b{i:02d}.sql", "SELECT 1;")
    lines: list[str] = []
    WholeSession(tmp_path, notify=lines.append).close()
    assert lines[-1] == f"... and 20 more in {tmp_path / 'catalog'}; sqlstream check lists all."
    assert sum("b0" in line for line in lines) == 10


def test_a_prompt_begins_with_what_is_wrong_in_the_options_of_tables(tmp_path: Path) -> None:
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "k.sql").write_text("CREATE TABLE k (a INT) WITH ('connector' = 'kafak'); CREATE VIEW v AS SELECT 1 AS a;")
    (tmp_path / "catalog" / "o.sql").write_text("CREATE TABLE o (a INT) WITH ('connector' = 'datagen');")
    for interactive in (True, False):
        lines: list[str] = []
        WholeSession(tmp_path, notify=lines.append, interactive=interactive).close()
        assert lines == ["catalog/k.sql: There is no connector 'kafak'. Did you mean 'kafka'?"] * interactive


def test_a_catalog_has_a_file_too(tmp_path: Path) -> None:
    session = Session(tmp_path)
    assert session.run("CREATE CATALOG c WITH ('type' = 'generic_in_memory')") == ["Saved catalog/c.catalog.sql"]
    session.run("CREATE TABLE c.`default`.t (a INT) WITH ('connector' = 'print')")
    assert session.run("ALTER CATALOG c COMMENT 'why'") == ["Saved catalog/c.catalog.sql"]
    assert session.run("ALTER CATALOG c COMMENT 'what'") == ["Saved catalog/c.catalog.sql"]
    again = Session(tmp_path)
    assert not again.errors
    assert again.table("c", "default", "t").connector == "print"
    assert again.manager.catalogs["c"].comment == "what"
    script = Session(tmp_path, script=True, save=False)
    assert script.run("CREATE CATALOG c WITH ('type' = 'generic_in_memory')") == []
    assert again.run("DROP CATALOG c") == ["Removed catalog/c.catalog.sql"]


def test_a_view_over_nothing_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, "a.sql", "-- a view of what is not there\nCREATE VIEW v AS\nSELECT * FROM nowhere;")
    write(tmp_path, "b.sql", "CREATE VIEW w AS WITH x AS (SELECT * FROM v) SELECT * FROM x;")
    session = Session(tmp_path)
    assert {(str(e.location), e.message.split(" not found")[0]) for e in session.errors} == {
        ("catalog/a.sql:2:1", "Object 'nowhere'"),
        ("catalog/b.sql:1:1", "Object 'v'"),
    }
    assert not session.project.sources
