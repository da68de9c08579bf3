"""How long the shell takes to begin, in a terminal: the prompt, and the first row of a datagen query that is typed at once.

    python -m benchmarks.startup [--runs 3]

Each is measured without and with the archive of the JVM's classes, which is built first where there is none.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import select
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sqlstream.core import jars
from sqlstream.runtime.engine import archive, jvm
from sqlstream.runtime.java import jar, libraries

TABLE = "CREATE TABLE numbers (n INT, word STRING) WITH ('connector' = 'datagen', 'rows-per-second' = '10');"
TYPED = "SELECT n, word FROM numbers;\r"
# The first row: a border, then a cell.
ROW = re.compile(r"\| \+I \|")
PROMPT = re.compile(r"sqlstream>")
LONGEST = 120


class Terminal:
    """The shell in a terminal of its own."""

    def __init__(self, project: Path, env: dict[str, str]) -> None:
        self._master, slave = pty.openpty()
        self._shown = ""
        self._began = time.monotonic()
        command = [sys.executable, "-m", "sqlstream", "--project", str(project), "-D", "sql-client.execution.result-mode=tableau"]
        given = {**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", **env}
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=given, start_new_session=True)
        os.close(slave)

    def until(self, text: re.Pattern[str]) -> float:
        """The seconds from the start until ``text`` is shown."""
        while not text.search(self._shown):
            if time.monotonic() - self._began > LONGEST:
                raise TimeoutError(self._shown)
            if select.select([self._master], [], [], 0.1)[0]:
                self._shown += os.read(self._master, 65536).decode("utf-8", "replace")
        return time.monotonic() - self._began

    def send(self, text: str) -> None:
        os.write(self._master, text.encode())

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(60)
        os.close(self._master)


def one(project: Path, env: dict[str, str], wait: float) -> tuple[float, float]:
    """Seconds to the prompt, and from there, or from ``wait`` seconds later, to the first row."""
    terminal = Terminal(project, env)
    try:
        prompt = terminal.until(PROMPT)
        time.sleep(wait)
        terminal.send(TYPED)
        return prompt, terminal.until(ROW) - wait
    finally:
        terminal.end()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    place = archive.archive_path(jvm.class_path(libraries(), [*jars.ensure("spark", print), jar(print)]))
    if not archive.is_intact(place):
        began = time.monotonic()
        subprocess.run([sys.executable, "-m", "sqlstream.cli.archiving", str(place)], check=True, stdout=subprocess.DEVNULL)
        print(f"archive built in {time.monotonic() - began:.0f} s, {place.stat().st_size / 1e6:.0f} MB")
    print(f"{'':42} {'prompt':>8} {'first row':>10}")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "catalog").mkdir()
        (Path(folder) / "catalog" / "numbers.sql").write_text(TABLE)
        for title, switch, wait in (
            ("without archive, typed at once", "off", 0), ("with archive, typed at once", "on", 0), ("with archive, typed after 15 s", "on", 15),
        ):  # fmt: skip
            runs = [one(Path(folder), {archive.SWITCH: switch}, wait) for _ in range(arguments.runs)]
            prompt, row = (statistics.median(column) for column in zip(*runs, strict=True))
            print(f"{title:42} {prompt:8.2f} {row:10.2f}", flush=True)


if __name__ == "__main__":
    main()
