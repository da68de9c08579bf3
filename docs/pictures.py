"""The pictures of the shell and the page: ``python -m docs.pictures`` uses the real program, in a terminal and a browser, and writes what it shows
into docs/images.

It needs tmux and chromium. Orders are made up, so that the figures are others each time.
"""

from __future__ import annotations

import re
import tempfile
import time
from io import StringIO
from pathlib import Path
from urllib.parse import quote

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from sqlstream.cli import init
from tests.server.page.test_browser import browsing
from tests.support.processes import WITH_PROGRAM
from tests.support.terminal import Tmux

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

WINDOWS = """\
SELECT window_end, `type`, COUNT(*) AS cnt, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE transactions, DESCRIPTOR(eventTime_ltz), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, `type`;
"""
_ENVIRONMENT = {"PATH": WITH_PROGRAM, "TERM": "xterm-256color"}

# How long a change of the screen stays, in seconds, but for one that is to be read; how many letters it is.
_STEP, _READ, _LETTERS = 0.6, 2.5, 20


def drawn(screen: str, title: str, name: str = "t") -> str:
    """A terminal's screen, with the escapes of its colours, as SVG, whose classes begin with ``name``."""
    lines = [line.rstrip() for line in screen.rstrip().splitlines()]
    console = Console(file=StringIO(), record=True, width=COLUMNS, force_terminal=True, color_system="truecolor", legacy_windows=False)
    console.print(Text.from_ansi("\n".join(lines)), no_wrap=True, crop=True, overflow="crop")
    svg = console.export_svg(title=title, theme=_THEME, unique_id=name)
    return "\n".join(line.rstrip() for line in _FONT_FACE.sub("", svg).splitlines()) + "\n"


class Recording:
    """What a terminal shows, one screen after the other."""

    def __init__(self, terminal: Tmux, title: str) -> None:
        self._terminal = terminal
        self._title = title
        self._screens: list[tuple[str, float]] = []

    def keep(self, seconds: float = _STEP) -> None:
        """The screen as it is now, which stays for so long."""
        screen = self._terminal.coloured
        # All are as high as the terminal.
        self._screens.append((screen + "\N{NO-BREAK SPACE}", seconds))

    def type(self, text: str) -> None:
        """Type a line, some letters at a time."""
        for first in range(0, len(text), _LETTERS):
            self._terminal.type(text[first : first + _LETTERS])
            time.sleep(0.3)
            self.keep()

    def svg(self) -> str:
        """All of them as one picture, which begins again at its end. The last one is that of who wants no moving pictures."""
        whole = sum(seconds for _, seconds in self._screens)
        styles, shown, begin = [], [], 0.0
        for number, (screen, seconds) in enumerate(self._screens):
            end = begin + seconds
            first, last = (f"{100 * at / whole:.2f}%" for at in (begin, end))
            before = "" if number == 0 else "0%{visibility:hidden}"
            styles.append(f"@keyframes k{number}{{{before}{first}{{visibility:visible}}{last},100%{{visibility:hidden}}}}")
            styles.append(f"#s{number}{{animation:k{number} {whole:.1f}s step-end infinite}}")
            shown.append(f'<g id="s{number}" class="screen">{drawn(screen, self._title, f"f{number}")}</g>')
            begin = end
        size = re.search(r'viewBox="([^"]*)"', shown[0])
        assert size is not None
        plain = f".screen{{visibility:hidden}}#s{len(shown) - 1}{{visibility:visible}}"
        moving = f"@media (prefers-reduced-motion:no-preference){{{''.join(styles)}}}"
        return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size[1]}"><style>{plain}{moving}</style>\n{"".join(shown)}</svg>\n'


def keep(name: str, terminal: Tmux, title: str, rows: int = ROWS) -> None:
    """What the terminal shows in its first lines."""
    (IMAGES / f"{name}.svg").write_text(drawn("\n".join(terminal.coloured.splitlines()[:rows]), title), "utf-8")


def shell(folder: Path) -> None:
    """A recording of the shell, and some of its screens: a query is typed, with completion, and gives rows; a mistake is found."""
    project = folder / "shop"
    init.main([str(project)])
    terminal = Tmux("sqlstream", columns=COLUMNS, rows=ROWS, env=_ENVIRONMENT, folder=project)
    try:
        terminal.wait_for("jobs running")
        recording = Recording(terminal, "sqlstream")
        recording.keep(1)
        recording.type("SELECT customer, amount FROM orders WHERE ")
        terminal.wait_for("order_time")
        keep("completion", terminal, "sqlstream: completion")
        recording.keep(_READ)
        terminal.keys("C-c")
        terminal.wait_for("sqlstream>", gone="order_time")
        time.sleep(1)
        terminal.keys("C-l")
        terminal.wait_for("sqlstream>", gone="SELECT")
        time.sleep(1)
        for line in QUERY:
            recording.type(line)
            terminal.keys("Enter")
        terminal.wait_for(" rows   1", seconds=120)
        for _ in range(4):
            time.sleep(3)
            recording.keep(1)
        recording.keep(_READ)
        keep("result", terminal, "sqlstream: rows as windows close")
        terminal.keys("q")
        terminal.wait_for("rows in set")
        terminal.keys("C-l")
        terminal.wait_for("sqlstream>", gone="rows in set")
        time.sleep(1)
        recording.type("SELECT customer, SUM(amout) FROM orders GROUP BY customer;")
        terminal.keys("Enter")
        terminal.wait_for("hint")
        recording.keep(2 * _READ)
        (IMAGES / "shell.svg").write_text(recording.svg(), "utf-8")
        keep("mistake", terminal, "sqlstream: what is wrong, where, and what was meant", rows=7)
        terminal.type("\\q")
        terminal.keys("Enter")
    finally:
        terminal.close()


def page() -> None:
    """The page of the demo: one of its jobs, and a query as a chart."""
    terminal = Tmux("sqlstream", "demo", columns=160, rows=ROWS, env=_ENVIRONMENT)
    try:
        address = re.search(r"http://[\w.:]+", terminal.wait_for("Ctrl-C ends the demo", seconds=300))
        assert address is not None
        with browsing(viewport={"width": 1280, "height": 860}) as browser:
            # The charts have a past by then.
            browser.goto(f"{address[0]}/job/per_minute")
            browser.wait_for_timeout(120_000)
            browser.screenshot(path=IMAGES / "job.png")
            browser.goto(f"{address[0]}/query?sql={quote(WINDOWS)}")
            browser.keyboard.press("F5")
            browser.wait_for_timeout(60_000)
            browser.get_by_role("button", name="Chart").click()
            browser.wait_for_timeout(10_000)
            browser.screenshot(path=IMAGES / "query.png")
    finally:
        terminal.keys("C-c")
        time.sleep(10)
        terminal.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        shell(Path(folder))
    page()


if __name__ == "__main__":
    main()
