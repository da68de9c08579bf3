"""A state that is another operator's is refused by name, though its bytes could be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from printing import PrintingJob

from sqlstream.core.errors import JobFailed

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark


def test_another_operators_state_is_refused(tmp_path: Path, engine) -> None:
    inputs = {"l": "k INT, d DECIMAL(10,2)", "r": "k INT"}
    job = PrintingJob(tmp_path, engine, inputs, "k INT, d DECIMAL(10,2)", "SELECT l.k, d FROM l JOIN r ON l.k = r.k")
    assert job.feed("l", (1, 12.34)) == []
    (described,) = job.job.checkpoint.glob("*/state/0/_sqlstream")
    text = described.read_text()
    assert text.startswith("KeyedJoin ")
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
