"""Processes of this machine, by what the system tells of them (``/proc``)."""

from __future__ import annotations

from pathlib import Path


def children(pid: int) -> list[tuple[int, str]]:
    """The processes that this one has started, and those that these have, each with its name."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            name, _, rest = (process / "stat").read_text().partition("(")[2].rpartition(")")
        except OSError:  # it has ended
            continue
        if int(rest.split()[1]) == pid:
            found += [(int(process.name), name), *children(int(process.name))]
    return found


def jvms_of(pid: int) -> list[int]:
    """The JVMs that this process, or one that it has started, runs."""
    return [child for child, name in children(pid) if name == "java"]
