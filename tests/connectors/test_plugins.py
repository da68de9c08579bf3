"""The example of a plug-in as its users have it: a wheel that is built and installed, whose connector, format and catalog a script uses."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest

from tests.support.pages import ROOT, blocks

if TYPE_CHECKING:
    from pathlib import Path

PLUGIN = ROOT / "examples" / "plugin"
SCRIPT = """
CREATE CATALOG shared WITH ('type' = 'folder', 'path' = 'shared');
CREATE DATABASE shared.sums;
CREATE TABLE shared.sums.numbers (number BIGINT, `square` BIGINT) WITH ('connector' = 'squares', 'last' = '4');
CREATE VIEW shared.sums.`not nine` AS SELECT number, NULLIF(`square`, 9) AS `square` FROM shared.sums.numbers;
CREATE TABLE written (number BIGINT, `square` BIGINT) WITH ('connector' = 'filesystem', 'path' = 'written', 'format' = 'pairs', 'pairs.separator' = '&');
SET 'table.dml-sync' = 'true';
INSERT INTO written SELECT number, `square` FROM shared.sums.`not nine`;
SET 'execution.runtime-mode' = 'batch';
SELECT number, `square` FROM written ORDER BY number;
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package, installed of its wheel without a network."""
    source, folder = tmp_path_factory.mktemp("source") / "plugin", tmp_path_factory.mktemp("site")
    shutil.copytree(PLUGIN, source, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    options = ("--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--no-build-isolation", "--target", folder)
    done = subprocess.run([sys.executable, "-m", "pip", "install", *map(str, options), str(source)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def sqlstream(site: Path, project: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(site), str(ROOT), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "sqlstream", *map(str, arguments)]
    return subprocess.run(command, cwd=project, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=300)


def test_it_is_checked_without_a_jvm(site: Path, tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "script.sql").write_text(SCRIPT)
    done = sqlstream(site, tmp_path, "check", "script.sql")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not list((tmp_path / "shared").iterdir())
    (tmp_path / "script.sql").write_text(SCRIPT.replace("'last'", "'lst'").replace("'&'", "'+'"))
    done = sqlstream(site, tmp_path, "check", "script.sql")
    shown = done.stdout + done.stderr
    assert done.returncode and "Did you mean 'last'?" in shown and "'pairs.separator'" in shown, shown
    assert "Connector 'squares'" in sqlstream(site, tmp_path, "-e", "HELP squares;").stdout
    assert "Catalog 'folder'" in sqlstream(site, tmp_path, "-e", "HELP CATALOG folder;").stdout


def test_the_page_shows_the_example() -> None:
    """What is left out of the page is what stands around it."""
    (entries,), shown = blocks("docs/plugins.md", "toml"), blocks("docs/plugins.md", "python")
    for block, file in zip(shown, ("squares.py", "folder.py"), strict=True):
        assert block.text in (PLUGIN / "sqlstream_example" / file).read_text()
    declared, project = (tomllib.loads(text)["project"] for text in (entries.text, (PLUGIN / "pyproject.toml").read_text()))
    assert declared.items() <= project.items()


@pytest.mark.spark
def test_a_script_runs(site: Path, tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "script.sql").write_text(SCRIPT)
    done = sqlstream(site, tmp_path, "-D", "spark.master=local[2]", "--output", "csv", "-f", "script.sql")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-5:] == ["number,square", "1,1", "2,4", "3,", "4,16"]
    lines = sorted(line for file in (tmp_path / "written").glob("part-*") for line in file.read_text().splitlines())
    assert lines == ["number=1&square=1", "number=2&square=4", "number=3", "number=4&square=16"]
    assert [f.name for f in sorted((tmp_path / "shared" / "sums").iterdir())] == ["not%20nine.sql", "numbers.sql"]
    (tmp_path / "written" / "wrong").write_text("number=5&square=many\n")
    done = sqlstream(
        site,
        tmp_path,
        "-D",
        "spark.master=local[2]",
        "-e",
        SCRIPT[SCRIPT.index("CREATE TABLE written") :].partition("SET")[0] + "SELECT * FROM written;",
    )
    assert done.returncode == 1 and "'square' is not of type BIGINT" in done.stderr and "wrong" in done.stderr, done.stderr
