"""Processes that tests start are not those that others ask after."""

from __future__ import annotations

import pytest

from sqlstream.runtime.engine.java_process import JavaProcess


@pytest.fixture(autouse=True)
def latest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JavaProcess, "latest", JavaProcess.latest)
