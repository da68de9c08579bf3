"""The tutorial, typed into a terminal of 80 columns, shows what the page shows."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from itertools import groupby
from pathlib import Path

import pytest

from tests.support import needs
from tests.support.pages import BLOCKS, Block
from tests.support.processes import WITH_PROGRAM
from tests.support.terminal import Tmux
from tests.support.waiting import until

PAGE = [block for block in BLOCKS if block.page == "docs/tutorial.md"]
PROMPT = re.compile(r"(\$|sqlstream>|>) ")
# What another day, folder and job have otherwise: the path of the project, a clock, an id, the pace of the machine.
VARIES = {r"/\S*(?=/\.sqlstream/)": "PROJECT", r"\b\d\d:\d\d:\d\d(?!\.)": "CLOCK", r"\b[0-9a-f]{32}\b": "ID"}


def plain(line: str) -> str:
    """A line without what varies, and without the blanks at its end."""
    for pattern, name in VARIES.items():
        line = re.sub(pattern, name, line)
    return line.rstrip()


class Reader:
    """Types what the page has behind a prompt, and compares the lines below it with the screen."""

    def __init__(self, folder: Path) -> None:
        env = {
            "PS1": "$ ",
            "HOME": str(folder.parent),
            "XDG_CACHE_HOME": str(Path.home() / ".cache"),
            "PATH": WITH_PROGRAM,
        }
        self.terminal = Tmux("bash", "--noprofile", "--norc", columns=80, rows=60, folder=folder, env=env)

    def enter(self, text: str) -> None:
        self.terminal.type(text)
        self.terminal.keys("Enter")

    def sees(self, lines: list[str], seconds: float = 180) -> None:
        """Wait until the screen has the lines one below the other; where the page has ``...`` any number of others."""
        # A narrow terminal has longer lines than it is wide in several, which end between words.
        wanted = "".join(r"(?:.*\n)*" if line.strip() == "..." else re.sub(r"(\\ )+", r"\\s+", re.escape(plain(line))) + r"\s*\n" for line in lines)

        def shown() -> str:
            return "\n".join([*map(plain, self.terminal.unwrapped.splitlines()), ""])

        until(lambda: re.search(wanted, shown()), seconds, every=0.2, said=lambda: f"not what the page shows:\n{lines}\n{shown()}")

    def read(self, block: Block) -> None:
        for typed, group in groupby(block.text.splitlines(), lambda line: PROMPT.match(line) is not None or line in ("y", "n")):
            lines = list(group)
            if not typed:
                self.sees(lines)
                continue
            for line in lines:
                self.enter(PROMPT.sub("", line, count=1))


def counted(folder: Path) -> int:
    """How many rows the job has written: windows come a micro-batch after their records."""
    commits = "".join(path.read_text() for path in (folder / "per_minute" / "_delta_log").glob("*.json"))
    return sum(int(rows) for rows in re.findall(r'\\"numRecords\\":(\d+)', commits))


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.kafka
def test_the_tutorial(tmp_path: Path) -> None:
    with socket.socket() as usual:
        usual.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            usual.bind(("127.0.0.1", 9092))
        except OSError:
            needs.missing("port 9092, Kafka's usual one, to itself")
    folder = tmp_path / "bank"
    folder.mkdir()
    reader = Reader(folder)
    try:
        for block in PAGE:
            # What the text between the blocks says.
            if block.language == "sql":
                (folder / "queries").mkdir()
                (folder / "queries" / "per_minute.sql").write_text(block.text)
                continue
            if block.text.startswith("sqlstream> \\plot"):
                reader.terminal.keys("q")
            if block.text.startswith("sqlstream> QUIT"):
                until(lambda: counted(folder) == 18, said=lambda: counted(folder))
            reader.read(block)
            if "sqlstream -f" in block.text:
                reader.terminal.keys("C-c")
    finally:
        reader.terminal.close()
        subprocess.run([sys.executable, "-m", "sqlstream", "kafka", "stop"], cwd=folder, check=True)
