"""What the tab key gives: the program is asked as bash asks it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from sqlstream.cli.completing import SHELLS
from sqlstream.cli.main import SUBCOMMANDS, main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    main(["init", str(tmp_path / "p")])
    (tmp_path / "p/queries/big.sql").write_text("-- Which are big?\n-- :least INT\nSELECT * FROM orders WHERE amount > :least;\n")
    for name in ("insert-into_c.d.per_minute", "daily totals", "insert-into_c.d.per_hour"):
        folder = tmp_path / "p/.sqlstream/jobs" / name
        folder.mkdir(parents=True)
        (folder / "job.json").write_text(f'{{"layout": 2, "name": "{name}", "sinks": []}}')
    return tmp_path / "p"


def completed(line: str, folder: Path, **more: str) -> list[str]:
    """The words that bash is given for a line whose end the cursor is at."""
    asks = {"COMP_LINE": line, "COMP_POINT": str(len(line)), "_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n", **more}
    call = [sys.executable, "-m", "sqlstream"]
    answer = folder / "answer"
    with answer.open("w") as out:
        environment = os.environ | asks | {"_ARGCOMPLETE_STDOUT_FILENAME": str(answer)}
        subprocess.run(call, cwd=folder, env=environment, stdout=out, check=True)
    return sorted(word.strip() for word in answer.read_text().split("\n") if word.strip())


def test_commands(project: Path) -> None:
    assert completed("sqlstream ", project) == sorted((*SUBCOMMANDS, "query", "embedded", "gateway"))
    assert completed("sqlstream jo", project) == ["jobs"]
    assert completed("sqlstream jobs st", project) == ["start", "stop"]
    assert completed("sqlstream kafka st", project) == ["start", "status", "stop"]


@pytest.mark.parametrize("command", SUBCOMMANDS)
def test_every_command_has_options(project: Path, command: str) -> None:
    assert "--help" in completed(f"sqlstream {command} --", project)


def test_options_and_their_values(project: Path) -> None:
    assert completed("sqlstream --output ", project) == ["csv", "json", "tableau"]
    assert completed("sqlstream -D table.exec.state.t", project) == ["table.exec.state.ttl="]
    assert completed("sqlstream jobs stop --d", project) == ["--drain"]


def test_jobs_are_named_as_the_screen_names_them(project: Path) -> None:
    assert completed("sqlstream jobs stop per_", project) == ["per_hour", "per_minute"]
    assert completed(f"sqlstream jobs --project {project} show per_m", project.parent) == ["per_minute"]
    assert completed("sqlstream jobs stop d", project) == ["daily\\ totals"]
    assert completed("sqlstream jobs stop min", project) == ["per_minute"]
    assert completed("sqlstream jobs stop x", project) == []


def test_jobs_of_another_file_system_are_not_asked_for(project: Path) -> None:
    (project / "sqlstream.toml").write_text("[options]\nexecution.checkpointing.dir = 'hdfs://nobody:1/jobs'\n")
    assert completed("sqlstream jobs stop ", project) == []


def test_a_broken_settings_file_breaks_no_line(project: Path) -> None:
    (project / "sqlstream.toml").write_text("[[[")
    assert completed("sqlstream jobs st", project) == ["start", "stop"]


def test_saved_queries_and_their_parameters(project: Path) -> None:
    assert completed("sqlstream query b", project) == ["big"]
    assert completed("sqlstream query ", project) == ["big", "orders_per_customer"]
    assert completed("sqlstream query big ", project) == ["least="]


def test_scripts(project: Path) -> None:
    assert completed("sqlstream -f queries/o", project) == ["queries/orders_per_customer.sql"]
    assert completed("sqlstream jobs start queries/b", project) == ["queries/big.sql"]


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_takes_what_it_is_given(capsys, shell: str) -> None:
    assert main(["completion", shell]) == 0
    code = capsys.readouterr().out
    if shutil.which(shell):
        subprocess.run([shell, "-n", "-c", code], check=True)
    assert "sqlstream" in code
