"""Processes of this machine, as numbers that were written down say of them."""

from __future__ import annotations

from pathlib import Path


def machine() -> str:
    """What the machine is called, as long as it runs, and the processes that see each other on it; empty where that is not known."""
    try:
        return f"{Path('/proc/sys/kernel/random/boot_id').read_text().strip()} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def lives(pid: int) -> bool:
    """Whether the process ``pid`` of this machine has not ended."""
    try:
        # One that has ended may still be waited for.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False
