"""Variables that options name, where the project's development broker may stand for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.core import environment
from sqlstream.core.errors import ValidationError
from sqlstream.core.options import resolve_environment
from sqlstream.core.project_folder import ProjectFolder

if TYPE_CHECKING:
    from pathlib import Path

NAMED = {"properties.bootstrap.servers": "${env:KAFKA_BOOTSTRAP}"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("KAFKA_BOOTSTRAP", raising=False)
    monkeypatch.setattr(environment, "_project", None)
    environment.use_project(tmp_path)
    return tmp_path


def kept(project: Path, text: str) -> None:
    folder = ProjectFolder(project).kafka
    folder.mkdir(parents=True, exist_ok=True)
    (folder / environment.BROKER_SETTINGS).write_text(text)


def test_the_development_broker_is_found_until_the_variable_is_set(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValidationError, match="KAFKA_BOOTSTRAP, which is not set"):
        resolve_environment(NAMED)
    # As by sqlstream kafka start, in another terminal.
    kept(project, '{"port": 9093, "cluster": "c"}')
    assert resolve_environment(NAMED) == {"properties.bootstrap.servers": "127.0.0.1:9093"}
    monkeypatch.setenv("KAFKA_BOOTSTRAP", "there:1")
    assert resolve_environment(NAMED) == {"properties.bootstrap.servers": "there:1"}
    monkeypatch.setenv("KAFKA_BOOTSTRAP", "")
    assert resolve_environment(NAMED) == {"properties.bootstrap.servers": ""}
    with pytest.raises(ValidationError):
        resolve_environment({"url": "${env:ANOTHER_OF_NO_VALUE}"})


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"port": null}', '{"port": "x"}', "{"])
def test_a_broker_of_which_nothing_is_known_is_none(project: Path, text: str) -> None:
    kept(project, text)
    assert environment.variable("KAFKA_BOOTSTRAP") is None
