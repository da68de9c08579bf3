"""A job goes on with a state that an earlier release has written."""

from __future__ import annotations

import shutil
import zipfile
from typing import TYPE_CHECKING

import pytest

from tests.support.state_cases import CASES, PLACE, STATES

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]


@pytest.mark.parametrize("name", CASES)
def test_a_state_of_the_first_layouts_is_read(name: str, tmp_path: Path, engine) -> None:
    case = CASES[name]
    job = case.job(tmp_path, engine)
    job.session.jobs.stop(job.job.id)
    shutil.rmtree(job.job.checkpoint)
    with zipfile.ZipFile(STATES) as archive:
        for path in (p for p in archive.namelist() if p.startswith(f"{name}/")):
            file = job.job.checkpoint / path.removeprefix(f"{name}/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(archive.read(path).replace(PLACE, str(job.job.checkpoint).encode()))
    try:
        job.start()
        for table, rows, expected in case.after:
            assert job.feed(table, *rows) == expected
    finally:
        job.close()
