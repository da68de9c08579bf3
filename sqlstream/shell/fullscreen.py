"""Results on the whole screen, refreshed in place: the modes ``table`` and ``changelog`` of a terminal."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from prompt_toolkit.application import Application
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import FormattedTextControl, Layout, Window
from prompt_toolkit.styles import Style

from sqlstream.core.counts import counted
from sqlstream.core.errors import SqlStreamError
from sqlstream.shell import live
from sqlstream.shell.screen import error_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.input import Input
    from prompt_toolkit.output import Output

    from sqlstream.sql.types import Type

T = TypeVar("T", contravariant=True)
# So often it is looked whether the screen is to be left.
_LOOK_SECONDS = 0.1
# After so long without any row the user reads what the reason is, or may be. It is asked for so often.
_NOTHING_SECONDS = 5
_ASK_SECONDS = 2
_NOTHING = (
    "The first rows take some seconds. A window gives its rows when a later record closes it. A topic is read from where its table says:"
    " 'scan.startup.mode'."
)
_STYLE = Style.from_dict({"title": "bold", "head": "reverse", "selected": "underline", "keys": "reverse"})
_PLAIN = Style.from_dict({})
# Keys that the view knows, beside digits; r makes no other view, but draws it anew.
_KEYS = ("n", "p", "l", "g", "s", "o", "r", "+", "-", "?", "h", "home", "end", "pageup", "pagedown", "up", "down", "left", "right", "escape", "enter")


class Result(Protocol[T]):
    """Rows that are updated by news; ``count`` says how many there are."""

    @property
    def rows(self) -> list[live.Row]: ...

    @property
    def count(self) -> str: ...

    def apply(self, news: T, /) -> None: ...


class FullScreen(Generic[T]):
    """A running result on the screen. ``show`` returns what is left of it when the user quits: the rows."""

    def __init__(
        self, names: Sequence[str], result: Result[T], limit: int, *, types: Sequence[Type | None] = (), colour: bool = True,
        reasons: Callable[[], Sequence[str]] = lambda: (), keyboard: Input | None = None, terminal: Output | None = None,
    ) -> None:  # fmt: skip
        """``reasons`` says why no row has come yet, as far as it is known."""
        self._names = names
        self._reasons = reasons
        self._said: Sequence[str] = ()
        self._result = result
        self._limit = limit
        self._types = types
        self._view = live.LiveView()
        self._lock = threading.Lock()
        self._state = "Running"
        self._error: BaseException | None = None
        self._shown: list[live.Line] = []
        self._stale = True
        self._heard = False
        self._began = time.monotonic()
        window = Window(FormattedTextControl(self._text, focusable=True, show_cursor=False))
        style = _STYLE if colour else _PLAIN
        self._app: Application[None] = Application(
            layout=Layout(window), key_bindings=self._bindings(), full_screen=True, style=style, input=keyboard, output=terminal
        )

    def show(self, news: Iterable[T], stop: Callable[[], None], left: Callable[[], bool] = lambda: False) -> BaseException | None:
        """Show what the result becomes by ``news`` until the user quits, or it is to be ``left``, then ``stop`` them.

        The error that ended them comes back.
        """
        reader = threading.Thread(target=self._read, args=(news,), name="result", daemon=True)
        ticker = threading.Thread(target=self._tick, args=(left,), name="refresh", daemon=True)
        reader.start()
        ticker.start()
        threading.Thread(target=self._ask, name="reasons", daemon=True).start()
        # The foreground thread, where statements run, is not the one that takes signals.
        self._app.run(handle_sigint=False)
        stop()
        reader.join(10)
        return self._error

    def _read(self, news: Iterable[T]) -> None:
        try:
            for one in news:
                with self._lock:
                    self._result.apply(one)
                    self._heard = True
            self._state = "Finished"
        except Exception as error:
            self._error = error
            self._state = "Failed"
        self._refresh()

    def _tick(self, left: Callable[[], bool]) -> None:
        due = 0.0
        while not self._app.is_done:
            time.sleep(_LOOK_SECONDS)
            if left() and self._app.is_running and self._app.loop is not None:
                self._app.loop.call_soon_threadsafe(self._leave)
            if time.monotonic() >= due:
                due = time.monotonic() + self._view.refresh_seconds
                self._refresh()

    @property
    def _without_rows(self) -> float:
        """For how many seconds no row has come, if none has come at all; 0 else."""
        return 0 if self._heard or self._state != "Running" else time.monotonic() - self._began

    def _ask(self) -> None:
        while self._without_rows and not self._app.is_done:
            time.sleep(_ASK_SECONDS)
            if self._without_rows >= _NOTHING_SECONDS - _ASK_SECONDS:
                with suppress(SqlStreamError):
                    self._said = self._reasons()

    def _leave(self) -> None:
        if self._app.is_running and not self._app.is_done:
            self._app.exit()

    def _refresh(self) -> None:
        self._stale = True
        if self._app.is_running:
            self._app.invalidate()

    def _text(self) -> StyleAndTextTuples:
        if self._stale:
            self._shown = self._lines()
            self._stale = False
        ends = ["\n"] * (len(self._shown) - 1) + [""]
        return [(f"class:{style}" if style else "", text + end) for (style, text), end in zip(self._shown, ends, strict=True)]

    def _lines(self) -> list[live.Line]:
        size = self._app.output.get_size()
        with self._lock:
            rows, count = self._result.rows, self._result.count
        rows = live.ordered(rows, self._view)
        title = f"{self._state}   {count}   refresh {self._view.refresh_seconds:g} s   {time.strftime('%H:%M:%S')}"
        said: list[str] = []
        if self._error is not None:
            title, said = f"Failed   {counted(len(rows), 'row')}", error_lines(self._error, verbose=False)
        elif (passed := self._without_rows) >= _NOTHING_SECONDS:
            said = [f"Nothing has come in {passed:.0f} s.", *(self._said or [_NOTHING])]
        return live.screen(self._names, rows, self._view, (size.columns, size.rows), title, self._limit, self._types, said)

    def _bindings(self) -> KeyBindings:
        keys = KeyBindings()

        def press(_event: KeyPressEvent, name: str) -> None:
            with self._lock:
                count = len(self._result.rows)
            height = self._app.output.get_size().rows
            self._view = live.pressed(name, self._view, len(self._names), count, height)
            self._stale = True

        for key in (*_KEYS, *"0123456789"):
            keys.add(key)(partial(press, name=key))
            if key.isalpha() and len(key) == 1:
                keys.add(key.upper())(partial(press, name=key))

        @keys.add("q")
        @keys.add("Q")
        def _(event: KeyPressEvent) -> None:
            if self._view.covered:
                press(event, "q")
            else:
                event.app.exit()

        @keys.add("c-c")
        def _(event: KeyPressEvent) -> None:
            event.app.exit()

        return keys
