"""What the README shows is what a user gets."""

from __future__ import annotations

import io
import re
import time
from pathlib import Path

import pytest

from sqlstream.session.help import function_list
from sqlstream.session.session import Session
from sqlstream.shell.screen import Screen
from sqlstream.shell.views import show

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")


@pytest.mark.spark
def test_script_and_its_output(tmp_path: Path, engine) -> None:
    script = re.search(r"```sql\n(.*?)```", README, re.S)[1]
    (tmp_path / "bids").mkdir()
    (tmp_path / "bids" / "1.json").write_text(
        '{"item": "pen", "price": 1.50, "ts": "2026-01-01 00:00:01"}\n{"item": "pen", "price": 3.25, "ts": "2026-01-01 00:00:09"}\n'
    )
    out = io.StringIO()
    session = Session(tmp_path, options={"table.local-time-zone": "UTC"}, engine=engine, notify=lambda line: None)
    for outcome in session.run(script):
        show(outcome, Screen(out=out, err=io.StringIO()), session.options, time.monotonic(), lambda: False)
    shown = re.search(r"prints:\n\n```\n(.*?)```", README, re.S)[1]
    assert out.getvalue().startswith(shown)


def test_functions_are_those_of_the_table() -> None:
    assert README.partition("lists them by group:\n\n")[2].partition("\n\n")[0] == function_list()


def test_every_folder_and_file_it_names_is_there() -> None:
    root = Path(__file__).parent.parent
    named = re.findall(r"(?:^| |`)((?:sqlstream|sql|plan|spark|shell|catalog|queries|benchmarks|tests)/[\w/]*[\w/](?:\.py|\.sql)?)", README, re.M)
    assert len(named) > 10
    for name in named:
        assert (root / name).exists() or (root / "sqlstream" / name).exists(), name
