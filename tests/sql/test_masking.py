"""What must not be shown: secrets in statements and values, and every place that shows some of these."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import pytest

from sqlstream.cli import main as cli
from sqlstream.core.errors import JobFailed, SqlStreamError
from sqlstream.core.secrets import masked_option, masked_value
from sqlstream.runtime.jobs.run import runner
from sqlstream.session.backslash import expanded
from sqlstream.session.runs.on_spark import OnSpark
from sqlstream.session.session import Session
from sqlstream.shell.history import StatementHistory
from sqlstream.shell.screen import error_lines
from sqlstream.sql.masking import masked_text
from tests.support import pace

if TYPE_CHECKING:
    from pathlib import Path

# Everywhere it is hunter2 that must not be shown. Each is a statement of which a session takes what it can.
BEARERS = (
    "CREATE TABLE t (a INT) WITH ('connector' = 'print', 'password' = 'hunter2')",
    "CREATE TABLE t (a INT) WITH ('connector' = 'print', 'password' /* of bob */ = 'hunter2')",
    "CREATE TABLE t (a INT) WITH ('connector' = 'print', 'password' -- of bob\n = 'hunter2')",
    "CREATE TABLE t (a INT) WITH ('connector' = 'print', U&'pass\\0077ord' = 'hunter2')",
    "CREATE TABLE t (a INT) WITH ('connector' = 'print', U&'pass!0077ord' UESCAPE '!' = 'hunter2')",
    "CREATE TABLE t (a INT) WITH ('connector' = 'print', E'pass\\u0077ord' = E'hunter2\\'')",
    "CREATE TABLE t (a INT) WITH ('connector' = 'print', 'password' = 'bob''s hunter2')",
    "CREATE TABLE t (a INT) WITH ('connector' = 'print', 'password' = 'hunter2'\n'hunter2')",
    "CREATE TABLE t (a INT) WITH ('connector' = 'print', 'properties.sasl.jaas.config' = 'x.PlainLoginModule required\n username=\"bob\" password=\"hunter2\";')",
    *(f"CREATE TABLE t (a INT) WITH ('connector' = 'print', '{key}' = 'hunter2')" for key in (
        "fs.s3a.access.key", "fs.azure.account.key.me.dfs.core.windows.net", "fs.azure.sas.c.me", "fs.azure.sas.fixed.token", "ssl.private.key",
        "ssl.keystore.key", "basic.auth.user.info", "avro-confluent.basic-auth.user-info", "passwd", "pwd", "db.passwd", "sslkey", "ssl-key",
        "http-headers", "lookup.header.Authorization", "PASSWORD", "secret.key", "api_key",
        "pasword", "passowrd",
    )),
    *(f"CREATE TABLE t (a INT) WITH ('connector' = 'print', 'url' = '{url}')" for url in (
        "jdbc:postgresql://bob:hunter2@h/d", "jdbc:postgresql://bob:p@/hunter2@h/d", "jdbc:postgresql://h/d?user=bob&password=hunter2&ssl=true",
        "jdbc:postgresql://h/d?pass%77ord=hunter2", "jdbc:sqlserver://h;user=bob;password=hunter2", "jdbc:oracle:thin:bob/hunter2@//h:1521/s",
        "jdbc:mysql://address=(host=h)(user=bob)(password=hunter2)/d", "jdbc:postgresql://h/d?sslkey=hunter2", "s3a://KEY:hunter2@b/x",
        "s3a://KEY:a/hunter2@b/x", "https://hunter2@h/x", "abfss://c@a.dfs.core.windows.net/x?sv=1&sig=hunter2",
        "https://b.s3.amazonaws.com/x?X-Amz-Signature=hunter2&X-Amz-Expires=9", "redis://:hunter2@h", "amqp://h1:5672,bob:hunter2@h2", "{\"password\": \"hunter2\"}",
    )),
    "CREATE TABLE t (a INT) WITH ('connector' = 'print', 'url' = U&'jdbc:x://bob:hunter\\0032@h/d')",
    "CREATE TABLE t (a INT COMMENT 'see jdbc:x://bob:hunter2@h') COMMENT 'password=hunter2' WITH ('connector' = 'print')",
    "CREATE VIEW v AS SELECT n FROM clicks /*+ OPTIONS('password' = 'hunter2') */",
    "CREATE VIEW v AS SELECT n FROM clicks /*+ OPTIONS('rows-per-second' = '1', U&'\\0070wd'='hunter2') */ -- why",
    "CREATE VIEW v AS SELECT n FROM clicks WHERE who = 'https://bob:hunter2@h'",
    "CREATE VIEW v AS SELECT n FROM clicks WHERE password = 'hunter2'",
    "SELECT * FROM clicks /*+ OPTIONS('password' = 'hunter2') */",
    "SELECT * FROM clicks AS c /*+ OPTIONS(password = 'hunter2') */",
    "EXPLAIN SELECT n FROM clicks WHERE password = 'hunter2' OR clicks.password IN ('hunter2', 'x') OR who <> 'jdbc:x://bob:hunter2@h'",
    "EXPLAIN SELECT 'hunter2' AS password FROM clicks WHERE password LIKE 'hunter2%'",
    "INSERT INTO users (n, password) VALUES (1, 'hunter2'), (2, 'hunter2')",
    "INSERT INTO clicks /*+ OPTIONS('password' = 'hunter2') */ SELECT 1, 'a', 'b'",
    "EXECUTE STATEMENT SET BEGIN INSERT INTO clicks /*+ OPTIONS('password' = 'hunter2') */ SELECT n FROM clicks; END",
    "EXECUTE QUERY login (password => 'hunter2', n => 1)",
    "EXECUTE QUERY login (password /* his */ => 'hunter2', n => 'x')",
    "EXECUTE QUERY login (`password`=>'hunter2')",
    "EXECUTE QUERY nosuch (pwd => 'hunter2')",
    "\\n login password=hunter2",
    "\\n login password='hunter2 and more' n=1",
    "\\n login \"pass\"word=hunter2",
    "\\n login n=1 password = hunter2",
    "SET 'spark.hadoop.fs.s3a.access.key' = 'hunter2'",
    "SET spark.hadoop.fs.s3a.access.key=hunter2",
    "SET spark.my-app.pwd = hunter2 and hunter2",
    "SET U&'spark.passwor\\0064' = 'hunter2'",
    "SET 'spark.password' = /* his */ 'hunter2'",
    "SET pipeline.global-job-parameters = 'n:1,api_key:hunter2'",
    "SET 'pipeline.jars' = 's3a://KEY:hunter2@b/x.jar'",
    "ALTER TABLE users SET ('password' = 'hunter2')",
    "CREATE CATALOG c WITH ('type' = 'generic_in_memory', 'password' = 'hunter2')",
    "CREATE DATABASE d COMMENT 'https://hunter2@h' WITH ('pwd' = 'hunter2')",
    "CREATE FUNCTION f AS 'a.b' LANGUAGE JAVA USING JAR 's3a://KEY:hunter2@b/x.jar'",
    "ADD JAR 's3a://KEY:hunter2@b/x.jar'",
    "CREATE MODEL m WITH ('provider' = 'x', 'x.api-key' = 'hunter2')",
    "SELECT 1 -- 'password' = 'hunter2'",
    "SELECT 1 /* jdbc:x://bob:hunter2@h */",
    # What does not parse.
    "CREATE TABEL t (a INT) WITH ('password' = 'hunter2')",
    "CREATE TABLE t (a INT) WITH (password = hunter2)",
    "CREATE TABLE t (a INT) WITH ('password' 'hunter2')",
    "CREATE TABLE t (a INT) WITH ('password' : 'hunter2')",
    "CREATE TABLE t (a INT) WITH ('password' == 'hunter2'",
    "CREATE TABLE t (a INT) WITH (`password` = 'hunter2, hunter2",
    "CREATE TABLE t (a INT) WITH ('password' = E'hunter2\\uD8')",
    "CREATE TABLE t (a INT) WITH (U&'pass\\0077ord\\00' = 'hunter2')",
    "CREATE TABLE t (a INT) WITH (\"password\" = 'hunter2')",
    "SELEC n FORM clicks WHERE password = 'hunter2'",
    "SELECT n FROM clicks WHERE password = 'hunter2' AND",
    "EXECUTE QUERY login (password = 'hunter2')",
    "/* password = 'hunter2'",
    "SET 'spark.password'='hunter2",
)  # fmt: skip
HARMLESS = (
    "CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'properties.group.id' = 'x', 'key.fields' = 'k', 'ssl.keystore.location' = '/x')",
    "CREATE TABLE t (a INT) WITH ('password' = '${env:PW}', 'url' = 'jdbc:x://bob:${env:PW}@h:1/d?password=${env:PW}&a=b')",
    "CREATE TABLE t (a INT) WITH ('properties.sasl.jaas.config' = 'x required username=\"bob\" password=\"${env:PW}\";')",
    "CREATE TABLE t (a INT) WITH ('http.header.Authorization' = 'Bearer ${env:TOKEN}', 'path' = 'abfss://box@me.dfs.core.windows.net/x')",
    "CREATE TABLE t (a INT) WITH ('path' = 'hdfs://h:9000/a@b', 'properties.bootstrap.servers' = 'h1:9092,h2:9092', 'topic' = 'token')",
    "SELECT token, COUNT(*) FROM t WHERE token = other AND u.token <> t.token GROUP BY token",
    "SET 'spark.hadoop.fs.s3a.aws.credentials.provider' = 'org.apache.X'",
    "EXECUTE QUERY q (n => 1, name => 'bob')",
    "\\n q n=1 name='bob x'",
    "\\d tokens",
)
LOGIN = "-- Who is it?\n-- :password STRING = 'unset99'\n-- :n INT = 1\nSELECT n FROM clicks WHERE who = :password AND n = :n;\nSELECT UPPER(:password) FROM nowhere;\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "catalog").mkdir()
    (tmp_path / "queries").mkdir()
    (tmp_path / "catalog" / "clicks.sql").write_text("CREATE TABLE clicks (n INT, who STRING, password STRING) WITH ('connector' = 'datagen');")
    (tmp_path / "catalog" / "users.sql").write_text("CREATE TABLE users (n INT, password STRING) WITH ('connector' = 'print');")
    (tmp_path / "queries" / "login.sql").write_text(LOGIN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shown(project: Path, script: str, monkeypatch, capsys) -> dict[str, str]:
    """What is shown and kept of a script that a shell runs, and of one that is checked."""
    places: dict[str, str] = {}
    StatementHistory(str(project / "history")).store_string(script)
    notices: list[str] = []
    monkeypatch.setattr(runner.JobRunner, "start", lambda self, resumed: None)
    monkeypatch.setattr(OnSpark, "select", lambda self, context, node: (_ for _ in ()).throw(JobFailed(f"Connection to {node.sql('flink')} refused")))
    session = Session(project, interactive=True, notify=notices.append, engine=argparse.Namespace(spark=None, started=False, options=dict))
    for number, text in enumerate((script, f"{script} ;\nSELECT nosuch FROM nowhere", f"SELECT nosuch FROM nowhere; {script}")):
        if number == 2 and script.startswith("\\"):
            continue
        places[f"masked {number}"] = masked_text(text)
        try:
            for outcome in session.run(expanded(text), "s.sql"):
                places[f"outcome {number}"] = repr(outcome)
        except SqlStreamError as error:
            places[f"error {number}"] = "\n".join(
                [*error_lines(error, verbose=False), str(error), error.message, str(error.hint), (error.location and error.location.caret()) or ""]
            )
    for number, text in enumerate(("SHOW CREATE TABLE t", "SHOW CREATE VIEW v", "SHOW CREATE CATALOG c", "DESCRIBE t", "DESCRIBE CATALOG EXTENDED c", "DESCRIBE DATABASE EXTENDED d",
        "DESCRIBE FUNCTION EXTENDED f", "SHOW QUERIES", "SHOW JOBS", "SET", "EXPLAIN SELECT * FROM v", "EXPLAIN SELECT * FROM t")):  # fmt: skip
        try:
            places[text] = "\n".join(map(repr, session.run(text)))
        except SqlStreamError as error:
            places[text] = "\n".join([*error_lines(error, verbose=False), str(number)])
    places["notices"] = "\n".join(notices)
    for job in session.jobs:
        job.release()
    (project / "checked.sql").write_text(script)
    for output in ("text", "json"):
        cli.main(["check", "--output", output, "checked.sql"])
        places[f"check {output}"] = capsys.readouterr().out
    for file in project.rglob("*"):
        if file.is_file() and file.name != "checked.sql":
            places[str(file.relative_to(project))] = file.read_text()
    return places


@pytest.mark.parametrize("statement", BEARERS)
def test_no_place_shows_a_secret(statement, project, monkeypatch, capsys):
    places = shown(project, statement, monkeypatch, capsys)
    # A constant beside a column of that name is data: what is saved has it, what is shown has not.
    data = "WHERE password" in statement and "VIEW" in statement
    assert {place: text for place, text in places.items() if "hunter2" in text} == ({"catalog/v.sql": places["catalog/v.sql"]} if data else {})


@pytest.mark.parametrize("statement", BEARERS)
def test_masked_text_keeps_every_place(statement):
    for text in (statement, f"{statement};\nSELECT 1;", f"{statement}\n;\nSELECT 'it''s'"):
        masked = masked_text(text)
        assert [len(line) for line in masked.split("\n")] == [len(line) for line in text.split("\n")]
        assert "hunter2" not in masked


@pytest.mark.parametrize("statement", HARMLESS)
def test_what_is_no_secret_stays(statement):
    assert masked_text(statement) == statement


def test_a_definition_with_references_is_saved(project):
    session = Session(project, interactive=True, notify=lambda line: None)
    for number, statement in enumerate(HARMLESS[1:4]):
        (done,) = session.run(statement.replace("CREATE TABLE t", f"CREATE TABLE t{number}"))
        assert done.notices == (f"Saved catalog/t{number}.sql",)


def test_a_view_with_a_secret_is_not_saved(project, monkeypatch):
    session = Session(project, interactive=True, notify=lambda line: None)
    monkeypatch.setenv("PW", "x")
    list(session.run("CREATE TABLE people (n INT, password STRING) WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/d', 'table-name' = 't')"))
    (done,) = session.run("CREATE VIEW v AS SELECT n FROM people /*+ OPTIONS('password' = 'hunter2') */")
    assert done.notices[0].startswith("Not saved: 'password' contains a secret in plain text. Write '${env:PASSWORD}' there")
    (done,) = session.run("ALTER VIEW v AS SELECT n FROM people WHERE password = 'jdbc:x://bob:hunter2@h'")
    assert done.notices == ("Not saved: its text contains a password in plain text; the definition lasts for this session.",)
    (done,) = session.run("ALTER VIEW v AS SELECT n FROM people /*+ OPTIONS('password' = '${env:PW}') */ WHERE password = 'x'")
    assert done.notices == ("Saved catalog/v.sql",)


def test_a_variable_with_the_name_of_a_secret(project):
    session = Session(project, variables={"DB_PASSWORD": "hunter2"}, notify=lambda line: None)
    for text in (
        "SELECT '${DB_PASSWORD}' FROM nowhere",
        "CREATE TABLE t (a INT) WITH ('connector' = 'p${DB_PASSWORD}')",
        "SELECT nosuch('${DB_PASSWORD}')",
    ):
        with pytest.raises(SqlStreamError) as raised:
            list(session.run(f"{text};\nSELECT ${{DB_PASSWORD}} FROM clicks"))
        assert "hunter2" not in "\n".join(error_lines(raised.value, verbose=False))


def test_many_words_are_read_in_no_time():
    for text in ("token" * 2000, "password=" * 2000, "a" * 20_000, "'" * 2001, "://" * 2000, "-- " + "=" * 2000):
        assert pace.seconds(lambda text=text: (masked_value(text), masked_text(text))) < 2


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("WITH ('password' = 'hunter2', 'a' = 'b')", "WITH ('password' = '*******', 'a' = 'b')"),
        ("('properties.sasl.jaas.config'='x \n y;''z')", "('properties.sasl.jaas.config'='**\n***''*')"),
        ("SET 'spark.secret' = 'hunter2'; SELECT 'token'", "SET 'spark.secret' = '*******'; SELECT 'token'"),
        ("SET spark.my.password = hunter2;", "SET spark.my.password = *******;"),
        ("('password' = '${env:PASSWORD}')", "('password' = '${env:PASSWORD}')"),
        ("('password' = 'hun", "('password' = '***"),
        ("SELECT 'a' = 'b', token = other, 'token'", "SELECT 'a' = 'b', token = other, 'token'"),
    ],
)
def test_secrets_in_a_statement_are_struck_out(sql, shown):
    assert masked_text(sql) == shown


def test_no_error_and_no_echo_shows_a_secret(tmp_path):
    session = Session(tmp_path, notify=lambda line: None)
    secret = "'properties.ssl.key.password' = 'hunter2'"
    (done,) = session.run(f"CREATE TABLE a (x INT) WITH ('connector' = 'kafka', {secret});")
    assert done.statement.endswith("'properties.ssl.key.password' = '*******')")
    for script in (f"CREATE TABLE b (x INTT) WITH ({secret});", f"CREATE TABLE c (x INT) WITH ({secret}); SELECT * FROM nowhere;"):
        with pytest.raises(SqlStreamError) as e:
            list(session.run(script))
        assert "*******" in e.value.location.text
        assert "hunter2" not in e.value.location.text


def test_passwords_are_masked():
    assert masked_option("password", "hunter2") == "******"
    assert masked_option("pipeline.global-job-parameters", "a:b,api_key:tok3n99,x-token: y z,n:1") == "a:b,api_key:******,x-token:******,n:1"
    assert masked_option("pipeline.global-job-parameters", "api_key:${env:KEY},password:x") == "api_key:${env:KEY},password:******"
    assert masked_option("url", "jdbc:postgresql://h/d?user=me&password=hunter2&ssl=true") == "jdbc:postgresql://h/d?user=me&password=******&ssl=true"
    assert masked_option("url", "jdbc:postgresql://h/d?password=${env:PW}") == "jdbc:postgresql://h/d?password=${env:PW}"
    assert "hunter2" not in masked_text("CREATE TABLE t (a INT) WITH ('url' = 'jdbc:x://h/d?password=hunter2', 'password' = 'hunter2')")
    ddl = "WITH (\n  'url' = 'jdbc:x://h/d?password={}',\n  'a' = 'jdbc:x://h/d?b=c&password={}')"
    assert masked_value(ddl.format("hunter2", "o'hunt''er2")) == ddl.format("******", "******")
