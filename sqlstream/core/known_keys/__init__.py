"""The options that Flink and Spark know, by which a misspelt one is recognized: in comes a key, out comes what was likely meant.

``flink.txt`` has those of Flink 2.3, deprecated ones too, ``spark.txt`` those of Spark 4.2: the keys in the classes that declare options.
"""

from __future__ import annotations

import difflib
from functools import cache
from pathlib import Path

# Of two keys that are this similar, one is misspelt.
_ALIKE = 0.9
# What follows these is the user's own.
_OWN = ("spark.hadoop.", "spark.executorEnv.", "spark.sql.catalog.", "spark.yarn.appMasterEnv.", "spark.kubernetes.driverEnv.", "metrics.reporter.")


@cache
def known_keys(system: str) -> tuple[str, ...]:
    """The keys of ``flink`` or ``spark``."""
    return tuple(Path(__file__).with_name(f"{system}.txt").read_text("utf-8").split())


@cache
def intended_key(key: str, more: tuple[str, ...] = ()) -> str | None:
    """The option that ``key`` misspells, among those of its system and ``more``; None if it is an option itself, or resembles none."""
    keys = (*known_keys("spark" if key.startswith("spark.") else "flink"), *more)
    if key in keys or key.startswith(_OWN) or any(k.startswith(f"{key}.") for k in keys):
        return None
    close = difflib.get_close_matches(key.lower(), {k.lower(): k for k in keys}, n=1, cutoff=_ALIKE)
    meant = next((k for k in keys if k.lower() == close[0]), None) if close else None
    # Keys that differ only in a digit are different options: the second of several.
    return None if meant is None or _without_digits(meant) == _without_digits(key) else meant


def _without_digits(key: str) -> str:
    return "".join(c for c in key if not c.isdigit())
