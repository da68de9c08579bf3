"""SET, RESET and the rest of the client's statements."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlstream.core import known_keys, settings
from sqlstream.core.errors import NotSupported, SqlStreamError, SyntaxProblem, ValidationError
from sqlstream.session.results import Cleared, Exit, Rows, Text
from sqlstream.session.session import Session


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path, options={"a.b": "c"}, variables={"NAME": "orders"}, notify=lambda line: None)


def run(session: Session, sql: str) -> list:
    return list(session.run(sql, "script.sql"))


@pytest.mark.parametrize("sql", ["SET 'x.y' = 'a b'", "SET x.y = a b", "SET x.y='a b'", "set 'x.y'='a b';"])
def test_set_forms(session: Session, sql: str) -> None:
    run(session, sql)
    assert session.options["x.y"] == "a b"


def test_set_lists_and_masks(session: Session) -> None:
    run(session, "SET 'my.password' = 'hidden'")
    (listed,) = run(session, "SET")
    assert isinstance(listed, Rows)
    assert ("a.b", "c") in listed.rows
    assert ("my.password", "******") in listed.rows


def test_reset(session: Session) -> None:
    run(session, "SET 'x' = '1'; SET 'a.b' = 'other'; RESET 'a.b'")
    assert session.options == {"x": "1", "a.b": "c"}
    run(session, "RESET")
    assert session.options == {"a.b": "c"}


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SET 'execution.runtime-mode' = 'stream'", "Invalid value for 'execution.runtime-mode'"),
        ("SET 'table.local-time-zone' = 'Europe/Prag'", "The supplied zone ID 'Europe/Prag' is not valid"),
        ("SET 'table.exec.emit.allow-lateness' = '1 h'", "is not supported"),
        ("SET 'table.exec.sink.nested-constraint-enforcer' = 'rows'", "is not supported"),
        ("SET 'table.exec.emit.early-fire.enabled' = 'true'", "is not supported"),
        ("SET 'table.exec.emit.late-fire.delay' = '0 ms'", "is not supported"),
        ("SET 'table.exec.emit.early-fire.delay' = 'ignore'", "Invalid value for 'table.exec.emit.early-fire.delay'"),
        ("SET 'table.exec.legacy-cast-behaviour' = 'enabled'", "is not supported"),
        ("SET 'table.exec.legacy-cast-behaviour' = 'false'", "Invalid value for 'table.exec.legacy-cast-behaviour'"),
        ("SET 'python.requirements' = 'false'", "is not supported"),
        ("SET 'table.sql-dialect' = 'hive'", "The Hive dialect is not supported"),
        ("SET 'table.exec.source.idle-timeout' = 'soon'", "Invalid value for 'table.exec.source.idle-timeout'"),
    ],
)
def test_refused_settings(session: Session, sql: str, message: str) -> None:
    with pytest.raises(SqlStreamError, match=message):
        run(session, sql)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("table.exec.emit.early-fire.enabled", "FALSE"),
        ("table.exec.emit.allow-lateness", "0 s"),
        ("table.exec.legacy-cast-behaviour", "DISABLED"),
        ("table.exec.sink.nested-constraint-enforcer", "IGNORE"),
    ],
)
def test_flinks_default_of_what_is_not_supported_is_taken(session: Session, key: str, value: str) -> None:
    run(session, f"SET '{key}' = '{value}'")
    assert session.options[key] == value


@pytest.mark.parametrize(
    ("key", "other"),
    [
        ("table.exec.state.tll", "table.exec.state.ttl"),
        ("tabel.exec.state.ttl", "table.exec.state.ttl"),
        ("table.exec.stat.ttl", "table.exec.state.ttl"),
        ("Table.Exec.State.TTL", "table.exec.state.ttl"),
        ("execution.runtime.mode", "execution.runtime-mode"),
        ("table.dml.sync", "table.dml-sync"),
        ("table.local-timezone", "table.local-time-zone"),
        ("pipeline.nam", "pipeline.name"),
        ("parallelism.defualt", "parallelism.default"),
        ("sql-client.execution.result_mode", "sql-client.execution.result-mode"),
        ("execution.checkpointing.intervall", "execution.checkpointing.interval"),
        ("table.optimizer.join-reorder-enable", "table.optimizer.join-reorder-enabled"),
    ],
)
def test_a_slip_is_refused_and_what_was_meant_is_named(session: Session, key: str, other: str, tmp_path: Path) -> None:
    before = dict(session.options)
    with pytest.raises(ValidationError, match=f"There is no option '{key}'") as raised:
        run(session, f"SET '{key}' = '1'")
    assert raised.value.hint is not None and raised.value.hint.startswith(f"Did you mean '{other}'?")
    assert session.options == before
    assert raised.value.location is not None and raised.value.location.column == len("SET ") + 1
    with pytest.raises(ValidationError, match="There is no option"):
        Session(tmp_path, options={key: "1"}, notify=print)
    (done,) = run(session, f"RESET '{key}'")
    assert done.notices == (f"There is no option '{key}'; did you mean '{other}'?",)


@pytest.mark.parametrize(
    ("key", "notice"),
    [
        (
            "spark.sql.shufle.partitions",
            "Spark has no option 'spark.sql.shufle.partitions'; did you mean 'spark.sql.shuffle.partitions'? It is passed on as it is.",
        ),
        ("spark.sql.shuffle.partitions", None),
        ("spark.hadoop.fs.s3a.acces.key", None),
        ("spark.mine.whatever", None),
        ("table.exec.mine.whatever", "SET 'table.exec.mine.whatever' has no effect: Spark does this in its own way."),
        ("table.mine.whatever", "No option is called 'table.mine.whatever': it has no effect."),
        ("tabel.mine.whatever", "No option is called 'tabel.mine.whatever': it has no effect."),
        ("table.exec.rank.topn-cache-size", "SET 'table.exec.rank.topn-cache-size' has no effect: Spark does this in its own way."),
        ("my.own.key", "No option is called 'my.own.key': it has no effect."),
        ("x", "No option is called 'x': it has no effect."),
        ("tables.x2", "No option is called 'tables.x2': it has no effect."),
        ("my.password", "No option is called 'my.password': it has no effect."),
    ],
)
def test_other_keys_are_taken(session: Session, key: str, notice: str | None) -> None:
    (done,) = run(session, f"SET '{key}' = '1'")
    assert done.notices == ((notice,) if notice else ())
    assert session.options[key] == "1"


def test_every_key_of_flink_and_spark_is_no_slip_of_another() -> None:
    for key in (*known_keys.known_keys("flink"), *known_keys.known_keys("spark"), *(o.key for o in settings.SETTINGS)):
        assert settings.misspelt(key.replace("*", "x")) is None or "*" in key, key


@pytest.mark.parametrize(
    "sql",
    [
        "SET 'sql-client.execution.result-mode' = 'tabl'",
        "SHOW TABLES;\n SET sql-client.execution.result-mode=  tabl",
        "SET 'table.local-time-zone' = 'tabl'",
    ],
)
def test_the_value_of_a_setting_is_pointed_at(session: Session, sql: str) -> None:
    with pytest.raises(SqlStreamError) as caught:
        run(session, sql)
    line, caret = caught.value.location.caret().split("\n")
    assert line[caret.index("^") : caret.rindex("^") + 1].strip("'") == "tabl"


def test_a_setting_without_effect_gets_a_notice(session: Session) -> None:
    (done,) = run(session, "SET 'state.backend.type' = 'rocksdb'")
    assert "has no effect" in done.notices[0]
    (done,) = run(session, "SET 'table.exec.state.ttl' = '0'")
    assert done.notices == ()


def test_client_statements(session: Session) -> None:
    assert isinstance(run(session, "HELP")[0], Text)
    assert isinstance(run(session, "CLEAR")[0], Cleared)
    assert isinstance(run(session, "QUIT")[0], Exit)


def test_variables(session: Session) -> None:
    run(session, "CREATE TABLE ${NAME} (id INT) WITH ('connector' = 'blackhole') -- ${OTHER}")
    (tables,) = run(session, "SHOW TABLES")
    assert tables.rows == (("orders",),)
    with pytest.raises(SyntaxProblem, match="NAM"):
        run(session, "SELECT ${NAM}")


def test_an_error_says_file_line_and_column(session: Session) -> None:
    with pytest.raises(ValidationError) as caught:
        run(session, "SET 'x' = '1';\n-- a comment; with a semicolon\nSELECT 1,\n  nope;\nSELECT 2;")
    assert str(caught.value.location) == "script.sql:4:3"
    assert caught.value.location.caret() == "  nope;\n  ^^^^"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT {} FROM orders", "SELECT id AS a, {}(1) FROM orders", "CREATE TABLE `{}` (a INT) WITH ('connector' = '{}'); SELECT * FROM `{}`",
        "SELECT CAST('{}' AS DATE)", "SELECT 1 WHERE '{} {}'",
    ],
)  # fmt: skip
def test_what_is_very_long_is_cut(session: Session, sql: str) -> None:
    with pytest.raises(SqlStreamError) as caught:
        run(session, sql.replace("{}", "x" * 100_000))
    error = caught.value
    assert len(error.message) < 1_000 and len(error.hint or "") < 1_000
    line, carets = error.location.caret().split("\n")
    assert carets.index("^") < len(line) <= 300 and len(carets) <= 300


def test_a_path_is_whole() -> None:
    path = "/".join(["x" * 90] * 8)
    assert ValidationError(f"There is no {path}.").message == f"There is no {path}."


@pytest.mark.parametrize(
    ("sql", "caret"),
    [
        ("SELECT *\nFROM default_database.missing AS m", "     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"),
        ("SELECT ABS(1, 2)", "       ^^^^^^^^^"),
        ("INSERT INTO missing\nSELECT 1", "            ^^^^^^^"),
        ("SHOW CREATE TABLE `no such`", "                  ^^^^^^^^^"),
        ("SELECT 1 FROMM t", "         ^^^^^"),
    ],
)
def test_carets_are_below_the_clause(session: Session, sql: str, caret: str) -> None:
    with pytest.raises(SqlStreamError) as caught:
        run(session, sql)
    assert caught.value.location.caret().split("\n")[1] == caret


def test_statements_before_an_error_are_done(session: Session) -> None:
    with pytest.raises(SqlStreamError):
        run(session, "SET 'x' = '1'; FROBNICATE; SET 'y' = '2'")
    assert "x" in session.options and "y" not in session.options


def test_source(session: Session, tmp_path: Path) -> None:
    (tmp_path / "more.sql").write_text("SET 'from.file' = 'yes';")
    run(session, "SOURCE 'more.sql'")
    assert session.options["from.file"] == "yes"
    (tmp_path / "loop.sql").write_text("SOURCE 'loop.sql';")
    with pytest.raises(ValidationError, match="runs itself"):
        run(session, "SOURCE 'loop.sql'")


def test_spark_settings_that_meaning_needs_are_kept() -> None:
    from sqlstream.runtime.engine.session import spark_conf

    conf = spark_conf({"spark.executor.memory": "3g", "parallelism.default": "7"}, [Path("/x/a.jar")])
    assert conf["spark.executor.memory"] == "3g"
    assert conf["spark.sql.shuffle.partitions"] == "7"
    assert conf["spark.jars"] == "/x/a.jar"
    with pytest.raises(ValidationError, match="can't be set"):
        spark_conf({"spark.sql.ansi.enabled": "true"}, [])


@pytest.mark.parametrize(
    ("options", "slots", "parts"),
    [
        ({}, "local[6]", "3"),
        ({"spark.version": "4.3"}, "local[24]", "3"),
        ({"spark.master": "local[16]", "parallelism.default": "5"}, "local[16]", "3"),
        ({"spark.master": "local[2]"}, "local[2]", "2"),
        ({"spark.master": "local[*]"}, "local[*]", "3"),
    ],
)
def test_slots_are_more_than_what_is_done_at_once(options: dict[str, str], slots: str, parts: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlstream.runtime.engine import session as engine

    monkeypatch.setattr(engine, "cores", lambda: 3)
    conf = engine.spark_conf(options, [])
    shuffled = options.get("parallelism.default", parts)
    assert (conf["spark.master"], conf["spark.sql.leafNodeDefaultParallelism"], conf["spark.sql.shuffle.partitions"]) == (slots, parts, shuffled)


def test_jars_of_users_are_files(tmp_path: Path) -> None:
    from sqlstream.core.user_jars import named as jars

    (tmp_path / "a b.jar").write_text("")
    (tmp_path / "c.jar").write_text("")
    named = f"{(tmp_path / 'a b.jar').as_uri()}; c.jar"
    assert jars({"pipeline.jars": named}, tmp_path) == [tmp_path / "a b.jar", tmp_path / "c.jar"] and jars({}, tmp_path) == []
    for wrong in ("d.jar", "s3a://b/c.jar", "."):
        with pytest.raises(ValidationError, match="which 'pipeline.jars' names"):
            jars({"pipeline.jars": wrong}, tmp_path)


def test_jobs_of_a_new_session(session: Session) -> None:
    (jobs,) = run(session, "SHOW JOBS EXTENDED")
    assert [c.name for c in jobs.columns] == [
        "job id", "job name", "status", "start time", "restarts", "late rows", "last error", "process", "version", "size", "last progress",
    ]  # fmt: skip
    with pytest.raises(ValidationError, match="Job abc does not exist"):
        run(session, "STOP JOB 'abc'")


def test_hive_and_modules(session: Session) -> None:
    with pytest.raises(ValidationError, match="There is no module 'hive'"):
        run(session, "LOAD MODULE hive WITH ('hive-version' = '3.1.3')")
    with pytest.raises(NotSupported):
        run(session, "TRUNCATE TABLE t")


def test_a_key_and_a_value_are_strings_of_any_kind(session: Session) -> None:
    run(session, "SET U&'pass\\0077ord' = E'hunter\\u0032'")
    try:
        assert session.options["password"] == "hunter2"
        (listed,) = run(session, "SET")
        assert ("password", "******") in [tuple(row) for row in listed.rows]
    finally:
        run(session, "RESET U&'pass\\0077ord'")
    assert "password" not in session.options
    run(session, "SET 'it''s' = 'a''b'; SET x = 'y' z; RESET 'it''s'; RESET x")
