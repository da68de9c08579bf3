"""Two processes, three threads each, do to the same jobs whatever comes: nothing runs twice, nothing is left behind, and every refusal has a reason."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from sqlstream.core import private
from sqlstream.runtime.jobs.control import registry
from sqlstream.runtime.jobs.folder import locks
from sqlstream.runtime.jobs.machine import LIVING

if TYPE_CHECKING:
    import pytest

STEPS = 600
ALL = {"submit", "stop", "save", "stop saving", "drain", "retry", "fail", "finish", "restart", "drop"}


def test_whatever_is_asked_at_once(tmp_path: Path) -> None:
    worker = str(Path(__file__).with_name("race_worker.py"))
    with ExitStack() as stack:
        started = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, worker, str(tmp_path), str(seed), str(STEPS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                )
            )
            for seed in (1, 2)
        ]
        assert [one.stdout.readline() for one in started if one.stdout is not None] == ["ready\n"] * 2
        for one in started:
            assert one.stdin is not None
            one.stdin.write("go\n")
            one.stdin.flush()
        told = [json.loads(one.communicate(timeout=300)[0].splitlines()[-1]) for one in started]
    assert [one.returncode for one in started] == [0, 0]
    assert [t["wrong"] for t in told] == [[], []]
    assert [t["unended"] for t in told] == [[], []]
    happened = {what for t in told for what in t["done"]}
    assert happened >= ALL, told
    assert sum(n for t in told for what, n in t["done"].items()) == 2 * STEPS
    left = registry.records(tmp_path / ".sqlstream" / "jobs")
    for record in left:
        assert not record.is_held() and not (record.path / "running").exists()
        assert record.status is None or record.status.status not in LIVING, record
    names = [record.name for record in left]
    assert len(names) == len({*names}), names


def test_a_folder_that_is_dropped_before_it_is_held_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "jobs" / "one"
    opened = private.open_file

    def after_a_drop(path: Path, mode: str) -> IO[Any]:
        monkeypatch.setattr(private, "open_file", opened)
        folder.rmdir()
        return opened(path, mode)

    monkeypatch.setattr(private, "open_file", after_a_drop)
    with locks.lock(folder, "one"):
        assert locks.holder(folder) is not None
    assert locks.holder(folder) is None
