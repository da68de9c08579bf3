"""A state that is another operator's, or of a newer layout, is refused by name, though its bytes could be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import JobFailed
from tests.support.printing import PrintingJob

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark


def test_another_operators_state_is_refused(tmp_path: Path, engine) -> None:
    inputs = {"l": "k INT, d DECIMAL(10,2)", "r": "k INT"}
    job = PrintingJob(tmp_path, engine, inputs, "k INT, d DECIMAL(10,2)", "SELECT l.k, d FROM l JOIN r ON l.k = r.k")
    assert job.feed("l", (1, 12.34)) == []
    (described,) = job.job.checkpoint.glob("*/state/0/_sqlstream")
    text = described.read_text()
    assert text.startswith("KeyedJoin 1, KeptRows 1 by (")
    assert "decimal(10,2)" in text
    job.restart()
    assert job.feed("r", (1,)) == ["+I[1, 12.34]"]
    job.session.jobs.stop(job.job.id)
    described.with_name("._sqlstream.crc").unlink(missing_ok=True)
    described.write_text(text.replace("decimal(10,2)", "decimal(10,4)"))
    job.start()
    job.write("r", (1,))
    assert job.job.done.wait(60)
    assert isinstance(job.job.error, JobFailed)
    assert "The job's state does not match its operators." in job.job.error.message
    assert "decimal(10,4)" in job.job.error.message
    assert "pipeline.name" in job.job.error.hint
    job.close()


def test_a_newer_layout_is_refused(tmp_path: Path, engine) -> None:
    job = PrintingJob(tmp_path, engine, {"l": "k INT", "r": "k INT"}, "k INT", "SELECT l.k FROM l JOIN r ON l.k = r.k")
    assert job.feed("l", (1,)) == []
    job.session.jobs.stop(job.job.id)
    (described,) = job.job.checkpoint.glob("*/state/0/_sqlstream")
    described.with_name("._sqlstream.crc").unlink(missing_ok=True)
    described.write_text(described.read_text().replace("KeptRows 1", "KeptRows 7"))
    job.start()
    job.write("r", (1,))
    assert job.job.done.wait(60)
    assert isinstance(job.job.error, JobFailed)
    assert job.job.error.message.startswith("The job's state is of a newer release. (The state of KeyedJoin in ")
    assert "has version 7 of the layout KeptRows, of which this release reads version 1." in job.job.error.message
    assert job.job.error.hint is not None
    assert job.job.error.hint.startswith("Run the job with that release.")
    job.close()


def test_what_was_written_before_the_first_commit_binds_nobody(tmp_path: Path, engine) -> None:
    """A job that was killed in its first micro-batch goes on with another release, whose layouts are newer."""
    job = PrintingJob(tmp_path, engine, {"l": "k INT", "r": "k INT"}, "k INT", "SELECT l.k FROM l JOIN r ON l.k = r.k")
    assert job.feed("l", (1,)) == []
    job.session.jobs.stop(job.job.id)
    (checkpoint,) = job.job.checkpoint.iterdir()
    for commit in (checkpoint / "commits").iterdir():
        commit.unlink()
    described = checkpoint / "state" / "0" / "_sqlstream"
    described.with_name("._sqlstream.crc").unlink(missing_ok=True)
    text = described.read_text()
    described.write_text(text.replace("KeptRows 1", "KeptRows 7"))
    job.start()
    assert job.feed("r", (1,)) == ["+I[1]"]
    assert described.read_text() == text
    job.close()
