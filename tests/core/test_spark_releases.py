"""Which Spark a process runs on, and how one that is missing comes."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from sqlstream.core import jars, settings, spark_releases
from sqlstream.core.errors import SetupError
from sqlstream.core.spark_releases import INSTALLED, RELEASES

if TYPE_CHECKING:
    from pathlib import Path

NEW = RELEASES["4.3"]
PROGRAM = """
import sys
from sqlstream.core import spark_releases as s
from sqlstream.core.errors import SetupError
s.use(s.RELEASES[sys.argv[1]], print)
import pyspark
print(pyspark.__version__, s.running().name)
try:
    s.use(s.RELEASES[sys.argv[2]], print)
except SetupError as error:
    print(error.message)
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    jars.cache_dir().mkdir(parents=True)
    return tmp_path / "sqlstream"


def test_it_is_that_of_the_option() -> None:
    assert spark_releases.wanted({}) is RELEASES[INSTALLED]
    assert spark_releases.wanted({"spark.version": "4.3"}) is NEW
    declared = settings.setting(spark_releases.OPTION)
    assert declared is not None and (declared.values, declared.default) == (tuple(RELEASES), INSTALLED)


@pytest.mark.parametrize(("first", "then", "told"), [("4.3", "4.2", "4.3.0 4.3\nThis process runs on Spark 4.3.0, and 'spark.version' is 4.2."),
                                                     ("4.3", "4.3", "4.3.0 4.3"),
                                                     ("4.2", "4.3", "4.2.0 4.2\nThis process runs on Spark 4.2.0, and 'spark.version' is 4.3.")])  # fmt: skip
def test_a_process_stays_with_one(cache: Path, first: str, then: str, told: str) -> None:
    package = cache / "spark-4.3.0" / "pyspark"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("__version__ = '4.3.0'\n")
    done = subprocess.run([sys.executable, "-c", PROGRAM, first, then], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == told


def test_it_is_there_once_it_was_installed(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not where that was interrupted: what is left over is removed."""
    (cache / ".spark-left-over").mkdir()
    said: list[str] = []
    commands: list[list[str]] = []

    def install(command: list[str], **more: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        assert not (cache / "spark-4.3.0").exists()
        monkeypatch.setattr(sys, "path", list(sys.path))
        spark = command[command.index("--target") + 1]
        (cache.joinpath(spark) / "pyspark").mkdir(parents=True)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", install)
    monkeypatch.setattr(spark_releases, "running", lambda: RELEASES[INSTALLED])
    monkeypatch.delitem(sys.modules, "pyspark", raising=False)
    spark_releases.use(NEW, said.append)
    assert (cache / "spark-4.3.0" / "pyspark").is_dir() and sys.path[0] == str(cache / "spark-4.3.0")
    assert said == [f"Downloading Spark 4.3.0 (456 MB) to {cache / 'spark-4.3.0'}, once"]
    assert "--require-hashes" in commands[0] and not list(cache.glob(".spark-*"))


def test_why_it_could_not_be_installed(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = subprocess.CompletedProcess([], 1, "", "ERROR: first\nERROR: No matching distribution found for pyspark==4.3.0\n")
    monkeypatch.setattr(subprocess, "run", lambda *a, **more: failed)
    monkeypatch.setattr(spark_releases, "running", lambda: RELEASES[INSTALLED])
    monkeypatch.delitem(sys.modules, "pyspark", raising=False)
    with pytest.raises(SetupError, match=r"Spark 4.3.0 could not be installed: ERROR: No matching distribution found for pyspark==4.3.0") as met:
        spark_releases.use(NEW, print)
    assert met.value.hint is not None and "'spark.version' = '4.2'" in met.value.hint
    assert not (cache / "spark-4.3.0").exists()
