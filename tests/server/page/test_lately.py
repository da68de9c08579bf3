"""Values that are made anew once they are too old."""

from __future__ import annotations

import threading
import time

import pytest

from sqlstream.server.page.lately import Lately


def test_a_value_is_made_once_for_all_who_ask_at_once() -> None:
    lately: Lately[str, int] = Lately(60.0)
    made: list[int] = []

    def make() -> int:
        time.sleep(0.05)
        made.append(1)
        return len(made)

    found: list[int] = []
    asking = [threading.Thread(target=lambda: found.append(lately.get("a", make))) for _ in range(8)]
    for each in asking:
        each.start()
    for each in asking:
        each.join()
    assert found == [1] * 8 and lately.get("b", make) == 2 and lately.get("a", make) == 1


def test_it_is_made_anew_when_it_is_old_and_an_error_is_not_kept() -> None:
    lately: Lately[None, float] = Lately(0.05)
    first = lately.get(None, time.monotonic)
    assert lately.get(None, time.monotonic) == first
    time.sleep(0.1)
    assert lately.get(None, time.monotonic) > first
    time.sleep(0.1)
    with pytest.raises(ZeroDivisionError):
        lately.get(None, lambda: 1 / 0)
    assert lately.get(None, lambda: 7.0) == 7.0


def test_one_that_takes_long_holds_up_no_other() -> None:
    lately: Lately[str, str] = Lately(60.0)
    go_on = threading.Event()
    slow = threading.Thread(target=lambda: lately.get("slow", lambda: "x" if go_on.wait(30) else "y"))
    slow.start()
    assert lately.get("fast", lambda: "z") == "z"
    go_on.set()
    slow.join()
