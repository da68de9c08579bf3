"""What Spark writes by itself, its log and its settings, shows no secret."""

from __future__ import annotations

import stat
import subprocess
from pathlib import Path

import pytest

from sqlstream.core import jars
from sqlstream.core.java import require_java
from sqlstream.runtime.engine import session
from sqlstream.runtime.java import libraries

LOGS = """
import java.nio.file.*; import org.apache.logging.log4j.*;
public class Logs { public static void main(String[] a) throws Exception {
  Logger log = LogManager.getLogger("org.apache.spark.Some");
  for (String line : Files.readAllLines(Path.of(a[0]))) { log.warn(line); }
  log.error("A query failed", new RuntimeException("outer", new java.sql.SQLException("No suitable driver for jdbc:x://bob:hunter2@h/d?password=hunter2")));
} }
"""
CONFIGURATION = Path(session.__file__).with_name("log4j2.properties")
SECRET = [
    "jdbc:postgresql://bob:hunter2@h:5432/d",
    "jdbc:postgresql://h/d?user=bob&password=hunter2&ssl=true",
    "s3a://AKIAXX:hunter2@bucket/x",
    "https://hunter2@github.com/x",
    "abfss://c@a.dfs.core.windows.net/x?sv=1&sig=hunter2&se=2",
    "fs.s3a.secret.key=hunter2",
    "fs.s3a.access.key = hunter2",
    "fs.azure.account.key.a.dfs.core.windows.net=hunter2",
    "fs.azure.sas.c.a.blob.core.windows.net=hunter2",
    'sasl.jaas.config = x.PlainLoginModule required username="u" password="hunter2";',
    "{user=bob, password=hunter2, url=x}",
    '{"apiKey": "hunter2", "access_token": "hunter2"}',
    "basic.auth.user.info = u:hunter2",
    "Authorization: Bearer hunter2",
    "spark.authenticate.secret=hunter2",
    "client.secret: hunter2",
    "ssl.keystore.key = hunter2",
]  # fmt: skip
PLAIN = [
    "Executor 0 at 127.0.0.1:4040 has 3 tasks; took 12 ms",
    "Reading s3a://bucket/x@1 and file:///a:b, key=5, partitionKey=a, signature f(INT) = 3",
    "mismatched input 'FROM' expecting {<EOF>, ';'}",
]


def test_sparks_log_shows_no_secret(tmp_path: Path) -> None:
    (tmp_path / "Logs.java").write_text(LOGS)
    (tmp_path / "lines").write_text("\n".join([*SECRET, *PLAIN]))
    log4j = ":".join(str(p) for p in libraries() if p.name.startswith("log4j-"))
    (compiler,) = jars.ensure("compiler")
    subprocess.run([require_java(), "-jar", compiler, "-17", "-cp", log4j, "-d", tmp_path, tmp_path / "Logs.java"], check=True)
    log = tmp_path / "spark.log"
    java = [require_java(), "-cp", f"{log4j}:{tmp_path}", f"-Dlog4j2.configurationFile={CONFIGURATION}", f"-Dsqlstream.log={log}"]
    subprocess.run([*java, "Logs", tmp_path / "lines"], check=True)
    written = log.read_text().splitlines()
    assert [line for line in written if "hunter2" in line] == []
    assert [line.partition("Some: ")[2] for line in written[len(SECRET) : len(SECRET) + len(PLAIN)]] == PLAIN
    assert any("No suitable driver for jdbc:x://bob:" in line for line in written), "an exception is told with its cause"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


@pytest.mark.spark
def test_spark_shows_no_secret_of_its_settings(spark) -> None:
    keys = ("fs.s3a.secret.key", "fs.azure.account.key.a.dfs.core.windows.net", "spark.my.passwd", "spark.x.jaas.config")
    for key in keys:
        spark.conf.set(key, "hunter2")
    try:
        shown = {row.key: row.value for row in spark.sql("SET").collect()}
        assert {shown[key] for key in keys} == {"*********(redacted)"}
    finally:
        for key in keys:
            spark.conf.unset(key)
