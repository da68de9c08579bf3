"""How fast this machine is at the moment: times that tests measure are compared with it, as others' load changes a processor's speed."""

from __future__ import annotations

import time


def unit() -> float:
    """Seconds that a piece of Python takes, the best of five: about 11 ms on a machine without load."""

    def once() -> float:
        before = time.process_time()
        sum(len(str(i)) for i in range(200_000))
        return time.process_time() - before

    return min(once() for _ in range(5))
