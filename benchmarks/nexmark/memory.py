"""The resident memory of a process with all that it starts, and the files of states that a job leaves. Linux only."""

from __future__ import annotations

import os
import threading
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")


class Peak:
    """Looks at the resident memory of process ``pid`` and its descendants twice a second until ``stop``; ``value`` is in bytes."""

    def __init__(self, pid: int) -> None:
        self.value = 0
        self._pid = pid
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> int:
        self._ended.set()
        self._thread.join()
        return self.value

    def _watch(self) -> None:
        while not self._ended.wait(0.5):
            self.value = max(self.value, resident(self._pid))


def resident(pid: int) -> int:
    """Bytes of resident memory of a process and its descendants; a page that two of them share counts twice."""
    parents: dict[int, int] = {}
    sizes: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # The name, in brackets, may have spaces.
            after = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(folder.name)], sizes[int(folder.name)] = int(after[1]), int(after[21]) * PAGE
    inside = {pid}
    while more := {child for child, parent in parents.items() if parent in inside} - inside:
        inside |= more
    return sum(sizes.get(p, 0) for p in inside)


def state_bytes(jobs: Path, query: str) -> int:
    """Bytes of the files of states, all versions that are kept, of the largest job of ``query`` in a project's folder of jobs."""
    found = [0]
    for job in jobs.glob(f"*.{query}"):
        for checkpoint in job.glob("*/checkpoint"):
            found.append(sum(f.stat().st_size for f in checkpoint.glob("*/state/**/*") if f.is_file()))
    return max(found)
