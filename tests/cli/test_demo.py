"""The demo with its page."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.page.browser import Browser
from tests.support.waiting import until


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.slow
def test_its_page_shows_it_until_somebody_has_seen_enough() -> None:
    command = [sys.executable, "-m", "sqlstream.cli.demo", "--page", "--transactions", "1200"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as demo:
        assert demo.stdout is not None
        told: list[str] = []
        try:
            for line in demo.stdout:
                told.append(line)
                if "Ctrl-C ends the demo" in line:
                    break
            found = re.search(r"http://127.0.0.1:\d+/", told[-1])
            assert found, told
            browser = Browser(found[0])
            until(lambda: browser.get("/").text.count("running") > 2)
            page = browser.get("/")
            assert "transactions_per_minute" in page.text and "large_transactions" in page.text
            assert browser.get("/query?saved=totals_per_type").status == 200
            demo.send_signal(signal.SIGINT)
            rest = demo.stdout.read()
        finally:
            demo.kill()
    assert demo.returncode == 0, rest
    assert (
        "drained and stopped" in rest
        and "The Delta table that the job wrote, read back, its first rows:" in rest
        and "sqlstream init bank --example bank" in rest
    )


@pytest.mark.kafka
def test_its_broker_ends_with_its_terminal(tmp_path: Path) -> None:
    """Nobody reads what it says by then."""
    command = [sys.executable, "-m", "sqlstream.cli.demo", "--no-page", "--transactions", "1200"]
    ours, its = pty.openpty()
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=its, start_new_session=True, env={**os.environ, "TMPDIR": str(tmp_path)}) as demo:
        os.close(its)
        try:
            known = until(lambda: next(iter(tmp_path.glob("sqlstream-demo-*/.sqlstream/kafka/broker.pid")), None))
            broker = int(until(known.read_text).split()[0])
            os.close(ours)
            demo.send_signal(signal.SIGHUP)
            assert demo.wait(60) == 129
        finally:
            demo.kill()
    until(lambda: not Path(f"/proc/{broker}").exists(), 30)
    assert not list(tmp_path.glob("sqlstream-demo-*"))
