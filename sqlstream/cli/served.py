"""The jobs that the server of a project keeps, as ``sqlstream jobs`` sees them: each has a script of its own, and may be of a file."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.core.errors import ValidationError
from sqlstream.runtime.jobs.control import registry
from sqlstream.runtime.jobs.machine import JobStatus
from sqlstream.server.kept_jobs import KeptJobs

if TYPE_CHECKING:
    from sqlstream.core.storage import Place
    from sqlstream.runtime.jobs.control.registry import JobRecord
    from sqlstream.server.kept_jobs import KeptJob

LOG = "It runs at the project's server, in whose log is what it says."


def kept(project: Path, job: JobRecord) -> KeptJob | None:
    """``job`` as the server keeps it; None where it is none of its own."""
    return KeptJobs(project).find(job.path.name)


def of_script(project: Path, jobs: Place, name: str) -> list[JobRecord]:
    """The jobs that the server keeps of the script in the file ``name``. ``jobs``: the folder of all."""
    file = str(Path(name).resolve())
    folders = {one.folder for one in KeptJobs(project).jobs() if one.of == file}
    return [record for record in registry.records(jobs) if record.path.name in folders]


def starts_again(project: Path, job: JobRecord) -> bool:
    """Whether a job that does not run is started again with its server."""
    return not job.held and job.state != JobStatus.FAILED.value and not job.folder.stays_stopped and kept(project, job) is not None


def check_runs_not(project: Path, jobs: Place, file: Path) -> None:
    """Raises ValidationError where jobs of the script run at the server."""
    if running := [job.name for job in of_script(project, jobs, str(file)) if job.held]:
        hint = f"sqlstream jobs stop {shlex.quote(str(file))} stops them; their state is kept."
        raise ValidationError(f"'{file}' runs at the project's server already: {', '.join(running)}.", hint=hint)
