"""The pictures of the shell: ``python -m docs.pictures`` types into the real program in a terminal, and writes what it shows into docs/images.

It needs tmux. Orders are made up, so that the figures are others each time.
"""

from __future__ import annotations

import re
import tempfile
import time
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from sqlstream.cli import init
from tests.support.processes import WITH_PROGRAM
from tests.support.terminal import Tmux

if TYPE_CHECKING:
    from collections.abc import Sequence

IMAGES = Path(__file__).parent / "images"
COLUMNS, ROWS = 84, 22
_THEME = TerminalTheme(
    (24, 26, 31), (222, 225, 230),
    [(40, 44, 52), (224, 108, 117), (152, 195, 121), (229, 192, 123), (97, 175, 239), (198, 120, 221), (86, 182, 194), (171, 178, 191)],
    [(92, 99, 112), (240, 128, 137), (172, 215, 141), (245, 212, 143), (127, 195, 255), (218, 150, 241), (116, 202, 214), (255, 255, 255)],
)  # fmt: skip
# rich's own picture fetches its font from another host.
_FONT_FACE = re.compile(r"@font-face \{.*?\}\s*", re.S)
QUERY = (
    "SELECT window_end, customer, COUNT(*) AS orders, SUM(amount) AS total",
    "FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '5' SECONDS))",
    "GROUP BY window_start, window_end, customer;",
)


def drawn(screen: str, title: str) -> str:
    """A terminal's screen, with the escapes of its colours, as SVG."""
    lines = [line.rstrip() for line in screen.rstrip().splitlines()]
    console = Console(file=StringIO(), record=True, width=COLUMNS, force_terminal=True, color_system="truecolor", legacy_windows=False)
    console.print(Text.from_ansi("\n".join(lines)), no_wrap=True, crop=True, overflow="crop")
    svg = console.export_svg(title=title, theme=_THEME, unique_id="t")
    return "\n".join(line.rstrip() for line in _FONT_FACE.sub("", svg).splitlines()) + "\n"


def write(name: str, terminal: Tmux, title: str, rows: int = ROWS) -> None:
    """Keep what the terminal shows in its first lines."""
    screen = "\n".join(terminal.coloured.splitlines()[:rows])
    (IMAGES / f"{name}.svg").write_text(drawn(screen, title), "utf-8")


def enter(terminal: Tmux, lines: Sequence[str]) -> None:
    for line in lines:
        terminal.type(line)
        terminal.keys("Enter")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "shop"
        init.main([str(project)])
        env = {"PATH": WITH_PROGRAM, "TERM": "xterm-256color"}
        terminal = Tmux("sqlstream", columns=COLUMNS, rows=ROWS, env=env, folder=project)
        try:
            terminal.wait_for("jobs running")
            # Completion, as one types.
            terminal.type("SELECT customer, amount FROM orders WHERE ")
            terminal.wait_for("order_time")
            write("completion", terminal, "sqlstream: completion")
            terminal.keys("C-c", "C-l")
            # Rows, live.
            enter(terminal, QUERY)
            terminal.wait_for(" rows   1", seconds=120)
            time.sleep(12)
            write("result", terminal, "sqlstream: rows as windows close")
            terminal.keys("q")
            terminal.wait_for("rows in set")
            # A mistake.
            terminal.keys("C-l")
            enter(terminal, ["SELECT customer, SUM(amout) FROM orders GROUP BY customer;"])
            terminal.wait_for("hint")
            write("mistake", terminal, "sqlstream: what is wrong, where, and what was meant", rows=7)
            enter(terminal, ["\\q"])
        finally:
            terminal.close()


if __name__ == "__main__":
    main()
