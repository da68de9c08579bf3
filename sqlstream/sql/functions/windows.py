"""The window functions, which stand in FROM: a row each. The plan, completion, HELP and the documentation read them.

How rows come into their windows is beside the row of the same name in ``runtime/lower/windows``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class WindowFunction:
    """``lengths`` are its INTERVALs behind TABLE and DESCRIPTOR, the size last; another one before it is how far windows are apart.

    ``plan_names`` are what Flink's plans call them, the size first. ``arguments`` are those of an example. ``merges``: windows are known when they
    close, and have no OFFSET but keys of their own. ``in_multiples``: in FROM the size must be a multiple of the length before it.
    ``in_group_by``: it has the older form ``GROUP BY TUMBLE(time, size)`` as well.
    """

    name: str
    lengths: tuple[str, ...]
    plan_names: tuple[str, ...]
    summary: str
    arguments: str
    aliases: tuple[str, ...] = ()
    merges: bool = False
    in_multiples: bool = False
    in_group_by: bool = True

    @property
    def signature(self) -> str:
        """The arguments that a call needs."""
        keys = " [PARTITION BY columns]" if self.merges else ""
        return f"TABLE table{keys}, DESCRIPTOR(time), {', '.join(self.lengths).lower()}"

    @property
    def syntax(self) -> str:
        """How it stands in FROM."""
        return f"TABLE({self.name}({self.signature}{'' if self.merges else ' [, offset]'}))"


WINDOW_FUNCTIONS = (
    WindowFunction(
        "TUMBLE",
        ("SIZE",),
        ("size",),
        "Puts each row into the window of its time: windows of one size that follow one another. They add the columns window_start, window_end "
        "and window_time; group by the first two for one row a window, given when the watermark passes its end.",
        "TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTES",
        ("WINDOW", "WINDOWS"),
    ),
    WindowFunction(
        "HOP",
        ("SLIDE", "SIZE"),
        ("size", "slide"),
        "Windows of one size that begin every slide, so that a row is in several: sliding windows. The size must be a multiple of the slide.",
        "TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES",
        ("SLIDE",),
        in_multiples=True,
    ),
    WindowFunction(
        "CUMULATE",
        ("STEP", "SIZE"),
        ("max_size", "step"),
        "Windows that begin together and grow by a step up to the size: the totals of the day so far, every hour. "
        "The size must be a multiple of the step.",
        "TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTES, INTERVAL '1' HOUR",
        in_multiples=True,
        in_group_by=False,
    ),
    WindowFunction(
        "SESSION",
        ("GAP",),
        ("gap",),
        "A window for rows that follow one another within the gap, for each value of the PARTITION BY columns.",
        "TABLE orders PARTITION BY item, DESCRIPTOR(ts), INTERVAL '1' MINUTE",
        merges=True,
    ),
)
_BY_NAME = {function.name: function for function in WINDOW_FUNCTIONS}


def window_function(name: str) -> WindowFunction | None:
    """The window function called ``name``, in any case."""
    return _BY_NAME.get(name.upper())
