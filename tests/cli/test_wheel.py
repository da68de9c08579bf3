"""What is released: an sdist, a wheel built of it, and that wheel in an environment and a folder that know nothing of the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

# All of them: what is built is built once.
pytestmark = pytest.mark.long
ROOT = Path(__file__).resolve().parents[2]
RELEASED = ("pyproject.toml", "README.md", "LICENSE", "sqlstream", "catalog", "queries", "udfs")
DATA = (".sql", ".java", ".lock", ".txt", ".properties", ".typed", ".html", ".js", ".css", ".svg")


def run(*command: str | Path, cwd: Path, unset: Sequence[str] = (), **environment: str) -> subprocess.CompletedProcess[str]:
    """A command that knows nothing of the repository."""
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "KAFKA_BOOTSTRAP", *unset)} | environment
    return subprocess.run([str(c) for c in command], cwd=cwd, env=env, text=True, capture_output=True, timeout=500, check=False)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the sdist, and the wheel that was built of it."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for name in RELEASED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name, **({"symlinks": True, "ignore": shutil.ignore_patterns("__pycache__")} if copy is shutil.copytree else {}))
    done = run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, source, cwd=out)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``sqlstream`` of an environment with the wheel; what it depends on is that of the tests."""
    home = tmp_path_factory.mktemp("venv")
    venv.create(home)
    (wheel,) = built.glob("*.whl")
    done = run(sys.executable, "-m", "pip", "--python", home / "bin" / "python", "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=home)
    assert done.returncode == 0, done.stdout + done.stderr
    (site,) = home.glob("lib/python*/site-packages")
    # A folder that is named in a .pth file has no .pth files of its own: nothing leads to the repository.
    (site / "dependencies.pth").write_text("\n".join(p for p in sys.path if p.endswith("site-packages")))
    where = run(home / "bin" / "python", "-c", "import sqlstream; print(sqlstream.__file__)", cwd=home).stdout
    assert Path(where.strip()).is_relative_to(home), where
    return home / "bin" / "sqlstream"


@pytest.fixture(scope="module")
def project(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example project, written out by what is installed."""
    folder = tmp_path_factory.mktemp("projects") / "bank"
    done = run(installed, "init", folder, "--example", "bank", cwd=folder.parent)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_file_of_the_package_is_released(built: Path) -> None:
    there = {
        path.relative_to(ROOT).as_posix()
        for folder in (ROOT / "sqlstream", *(ROOT / "sqlstream/cli/example").iterdir())
        for path in folder.rglob("*")
        if path.is_file() and path.suffix in (".py", *DATA)
    }
    assert {Path(name).suffix for name in there} == {".py", *DATA}
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    in_wheel = set(zipfile.ZipFile(wheel).namelist())
    assert {name for name in in_wheel if name.startswith("sqlstream/")} == there
    assert any(name.endswith("licenses/LICENSE") for name in in_wheel)
    with tarfile.open(sdist) as archive:
        in_sdist = {member.name.partition("/")[2] for member in archive if member.isfile()}
    assert {*there, "LICENSE", "README.md", "pyproject.toml"} <= in_sdist


def test_version(installed: Path, tmp_path: Path) -> None:
    assert run(installed, "--version", cwd=tmp_path).stdout.startswith("sqlstream 0")


def test_the_example_has_no_findings(installed: Path, project: Path) -> None:
    done = run(installed, "check", cwd=project)
    assert (done.returncode, "0 findings" in done.stdout + done.stderr) == (0, True), done.stdout + done.stderr


def test_a_script_is_planned(installed: Path, project: Path) -> None:
    """Without a JVM: the plan of a query over the project's tables, with a function of its ``udfs/``."""
    script = "EXPLAIN SELECT mask_account(accountId), SUM(amount) FROM transactions GROUP BY mask_account(accountId);"
    done = run(installed, "-e", script, cwd=project, KAFKA_BOOTSTRAP="localhost:1")
    assert done.returncode == 0, done.stderr
    assert "GroupAggregate" in done.stdout and "MASK_ACCOUNT(accountId)" in done.stdout


@pytest.mark.spark
def test_a_script_runs(installed: Path, project: Path) -> None:
    """Operators and functions in Java are compiled from the package's own texts; Python functions run in Spark's workers."""
    script = "SELECT mask_account(a), COUNT(*) AS n FROM (VALUES ('12345'), ('12345')) AS t (a) GROUP BY a; SELECT SPLIT_INDEX('a-b', '-', 1);"
    done = run(installed, "-D", "spark.master=local[2]", "--output", "csv", "-e", script, cwd=project, SQLSTREAM_CLASS_ARCHIVE="off")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["op,EXPR$0,n", "+I,***45,2", "op,EXPR$0", "+I,b"]
    assert not (project / "spark-warehouse").exists()


@pytest.mark.spark
@pytest.mark.kafka
def test_demo(installed: Path, tmp_path: Path) -> None:
    """On a machine that has Python and nothing else: no Java but the one that comes along, and no shell."""
    path = str(installed.parent)
    assert not {"java", "bash", "sh"} & {program.name for program in installed.parent.iterdir()}
    command = (installed, "demo", "--transactions", "1200")
    done = run(*command, cwd=tmp_path, unset=["JAVA_HOME"], PATH=path, SQLSTREAM_CLASS_ARCHIVE="off")
    assert done.returncode == 0, done.stderr
    assert "The Delta table that the job wrote, read back" in done.stderr
    assert "rows in set" in done.stdout, done.stdout
    assert list(tmp_path.iterdir()) == []
