"""The check of the machine's Java: one clear line where it does not do."""

from pathlib import Path

import pytest

from sqlstream.core.errors import SetupError
from sqlstream.core.java import require_java


def java_home(folder: Path, release: str | None, script: str = "exit 1") -> Path:
    (folder / "bin").mkdir(parents=True)
    java = folder / "bin" / "java"
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(0o755)
    if release is not None:
        (folder / "release").write_text(f'IMPLEMENTOR="X"\nJAVA_VERSION="{release}"\n')
    return folder


@pytest.mark.parametrize("release", ["17.0.15", "21", "25-ea"])
def test_new_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path / "jdk", release)))
    assert require_java() == tmp_path / "jdk" / "bin" / "java"


@pytest.mark.parametrize(("release", "named"), [("11.0.2", "Java 11"), ("1.8.0_292", "Java 8")])
def test_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str, named: str) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path / "jdk", release)))
    with pytest.raises(SetupError, match=f"Java 17 or newer is needed.*{named}") as caught:
        require_java()
    assert "Install" in (caught.value.hint or "")


def test_java_home_without_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SetupError, match="JAVA_HOME"):
        require_java()


def test_none_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match="none was found"):
        require_java()


def test_without_release_file_the_command_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = java_home(tmp_path / "jdk", None, "echo 'openjdk version \"21.0.1\" 2023-10-17' >&2")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{home / 'bin'}:/bin:/usr/bin")
    assert require_java() == home / "bin" / "java"


def test_a_java_that_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path / "jdk", None)))
    with pytest.raises(SetupError, match="can't be run"):
        require_java()
