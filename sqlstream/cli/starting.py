"""``sqlstream jobs start``: a script in the background of this machine, under a supervisor of ours or as a user unit of systemd."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING

from sqlstream.cli import background
from sqlstream.cli.background import Background
from sqlstream.core import private
from sqlstream.core.errors import JobFailed, SetupError, ValidationError
from sqlstream.core.job_names import short_names
from sqlstream.core.options import OF_ENVIRONMENT
from sqlstream.runtime.jobs.control import registry
from sqlstream.runtime.jobs.control.handed_over import InBackground

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlstream.core.storage import Place

# So long a script is watched that begins: until it has a job, or has ended.
_BEGIN_SECONDS = 120.0
# So long a script of the same file may take to end that a job is handed over to.
_END_SECONDS = 60.0
# And one whose jobs have ended.
_ENDING_SECONDS = 10.0
# Of what a script has said that has ended at once so many lines are shown.
_SHOWN = 8
# They live on when this process ends, and are its children until then.
_supervisors: list[subprocess.Popen[bytes]] = []
# Variables of the environment that sqlstream, Spark and file systems look at; how systemd reads them.
_TAKEN = ("AWS_", "HADOOP_", "JAVA_HOME", "KRB5", "LANG", "LC_", "PATH", "PYSPARK_", "PYTHONPATH", "SPARK_", "SQLSTREAM_", "TZ")
_VARIABLE = re.compile(r'^(\w+)=(?:"(?:[^"\\]|\\[^\0])*"|[^\n]*)', re.M)
_SPECIAL, _BACKSLASH = re.compile(r'["\\$`]'), r"\\\g<0>"
_UNIT = """\
[Unit]
Description={description}
After=network-online.target

[Service]
Type=exec
WorkingDirectory={directory}
EnvironmentFile={environment}
ExecStart={command}
# A script that a signal has killed is started again, and one that could not go on; one that has ended has ended.
Restart=on-abnormal
RestartForceExitStatus={try_again}
RestartSec=5
TimeoutStopSec=90
# The JVM ends with its driver, in order.
KillMode=mixed

[Install]
WantedBy=default.target
"""


def command_of(project: Path, file: Path, options: Sequence[str]) -> tuple[str, ...]:
    """What runs the script ``file``."""
    return sys.executable, "-m", "sqlstream", "--project", str(project), "-f", str(file.resolve()), *options


def detached(project: Path, jobs: Place, file: Path, options: Sequence[str]) -> int:
    """Start a script under a supervisor, and wait until it has a job, whose folder is in ``jobs``. Raises ValidationError where it runs,
    JobFailed where it ends at once. One whose jobs have ended, as those that were stopped a moment ago, is awaited.
    """
    running = _jobs_of(background.folder_of(project, file.resolve()), jobs)
    try:
        begun = _begin(project, jobs, file, options, seconds=0.0 if running else _ENDING_SECONDS)
    except EndedAtOnce as error:
        sys.stderr.write(error.said)
        raise
    if begun.ended:
        print(f"'{file}' has run to its end. Log: {begun.log}")
        return 0
    # Further ones begin behind these.
    names = short_names(begun.jobs)
    jobs_so_far = f"its first {'job is' if len(names) == 1 else 'jobs are'} {', '.join(names)}" if names else "it has no job yet"
    print(f"'{file}' runs in the background, under supervisor {begun.supervisor}; {jobs_so_far}. Log: {begun.log}")
    return 0


def _jobs_of(folder: Path, jobs: Place) -> tuple[str, ...]:
    """The names of the jobs that run in the process of a script, which is known in ``folder``."""
    script = Background.read(folder)
    if script is None:
        return ()
    return tuple(r.name for r in registry.records(jobs) if r.status is not None and r.status.pid == script.process and r.held)


def handed_over(project: Path, jobs: Place, file: Path, stop: Callable[[], None], interrupted: Callable[[], bool]) -> InBackground:
    """See StartsInBackground. A script of that file which is about to end is awaited."""
    try:
        begun = _begin(project, jobs, file, (), stop=stop, seconds=_END_SECONDS, interrupted=interrupted)
    except EndedAtOnce as error:
        said = [line for line in error.said.splitlines() if line.strip() and "[supervisor]" not in line]
        error.hint = "\n".join([*said[-_SHOWN:], f"All that it said is in {error.log}."])
        raise
    return InBackground(begun.log, begun=bool(begun.jobs) or begun.ended)


class EndedAtOnce(JobFailed):
    """A script has ended before it had a job."""

    def __init__(self, file: Path, code: int, log: Path, said: str) -> None:
        """``said``: what it has written into its ``log``."""
        super().__init__(f"'{file}' has ended with exit code {code}.", hint=f"What it said is above, and in {log}.")
        self.log = log
        self.said = said


@dataclass(frozen=True)
class _Begun:
    """A script that was started: its supervisor, its log, the names of its jobs; whether it has ended, as it should."""

    supervisor: int
    log: Path
    jobs: tuple[str, ...] = ()
    ended: bool = False


def _begin(
    project: Path, jobs: Place, file: Path, options: Sequence[str], *,
    stop: Callable[[], None] = lambda: None, seconds: float = 0.0, interrupted: Callable[[], bool] = lambda: False,
) -> _Begun:  # fmt: skip
    """Start a script, and wait until it has a job. One that runs may take so many ``seconds`` to end; ``stop``: see StartsInBackground."""
    command = command_of(project, file, [background.TIMESTAMPS, *options])
    background.forget(project)
    folder = background.folder_of(project, file.resolve())
    log = background.log_of(folder)
    with _hold(folder, file, seconds, interrupted) as lock, private.open_file(log, "ab") as out:
        Background(str(file.resolve()), command).write(folder)
        start = out.tell()
        stop()
        lock.close()
        supervisor = subprocess.Popen(
            [sys.executable, "-m", "sqlstream.cli.supervisor", str(folder)],
            stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
        )  # fmt: skip
    _supervisors.append(supervisor)
    return _begun(jobs, file, folder, supervisor, start, interrupted)


def _hold(folder: Path, file: Path, seconds: float, interrupted: Callable[[], bool]) -> IO[str]:
    """The lock of the supervisor of a script. Raises ValidationError where one has it, or its process runs, for so many seconds."""
    end = time.monotonic() + seconds
    while True:
        lock = background.hold(folder)
        if lock is not None and not background.is_running(folder):
            return lock
        if lock is not None:
            lock.close()
        if time.monotonic() >= end or interrupted():
            break
        time.sleep(0.2)
    running, by = Background.read(folder), ""
    if running is not None and lock is None:
        by = f" under supervisor {running.supervisor}, as process {running.process}"
    elif running is not None:
        by = f", as process {running.process}, whose supervisor has ended"
    raise ValidationError(f"'{file}' runs already{by}.", hint=f"sqlstream jobs stop {shlex.quote(str(file))} ends it.")


def _begun(
    jobs: Place, file: Path, folder: Path, supervisor: subprocess.Popen[bytes], start: int, interrupted: Callable[[], bool]
) -> _Begun:  # fmt: skip
    end = time.monotonic() + _BEGIN_SECONDS
    log = background.log_of(folder)
    while time.monotonic() < end and not interrupted():
        code = supervisor.poll()
        begun = _jobs_of(folder, jobs)
        if code == 0:
            return _Begun(supervisor.pid, log, ended=True)
        if code is not None:
            if code == 3:
                raise ValidationError(f"'{file}' runs already.", hint=f"sqlstream jobs stop {shlex.quote(str(file))} ends it.")
            with log.open("rb") as said:
                said.seek(start)
                raise EndedAtOnce(file, code, log, said.read().decode("utf-8", "replace"))
        if begun:
            return _Begun(supervisor.pid, log, begun)
        time.sleep(0.2)
    return _Begun(supervisor.pid, log)


def systemd(project: Path, file: Path, options: Sequence[str]) -> int:
    """Write a user unit for a script; what starts it is printed. Raises SetupError where systemd does not accept it."""
    folder = background.folder_of(project, file.resolve())
    unit = units() / f"sqlstream-{folder.name}.service"
    environment = unit.with_suffix(".env")
    # systemd does not tell a start by a user from its own.
    command = command_of(project, file, [background.KEEP_STOPPED, *options])
    text = _UNIT.format(
        description=_escaped(f"sqlstream {file.name}"), directory=_escaped(str(project)), environment=_escaped(str(environment)),
        command=" ".join(map(_quoted, command)), try_again=background.TRY_AGAIN,
    )  # fmt: skip
    private.folder(unit.parent)
    private.write_file(unit, text)
    init = [Path(value) for flag, value in pairwise(options) if flag in ("-i", "--init")]
    unset = _write_environment(environment, [file, *init, project / "sqlstream.toml", *(project / "catalog").rglob("*.sql")])
    if verify := shutil.which("systemd-analyze"):
        checked = subprocess.run([verify, "--user", "verify", str(unit)], capture_output=True, text=True, check=False)
        if checked.returncode and unit.name in checked.stderr:
            raise SetupError(f"systemd does not accept {unit}.", hint=checked.stderr.strip())
    if unset:
        print(f"Not set here, and so not in {environment}: {', '.join(unset)}", file=sys.stderr)
    print(f"{unit}\nsystemctl --user daemon-reload\nsystemctl --user enable --now {unit.name}\nloginctl enable-linger  # it starts with the machine")
    return 0


def _write_environment(path: Path, read: Sequence[Path]) -> list[str]:
    """Write down the variables that a script needs where nobody has logged in; names that the files ``read`` refer to and nobody has set.

    What the file has besides stays there.
    """
    referred = {name for one in read if one.is_file() for name in OF_ENVIRONMENT.findall(one.read_text("utf-8", "replace"))}
    before = path.read_text("utf-8") if path.is_file() else ""
    kept = {match[1]: match[0] for match in _VARIABLE.finditer(before)}
    now = {n: f'{n}="{_SPECIAL.sub(_BACKSLASH, v)}"' for n, v in os.environ.items() if n in referred or n.startswith(_TAKEN)}
    variables = {**kept, **now}
    private.write_file(path, "".join(f"{variables[name]}\n" for name in sorted(variables)))
    return sorted(referred - variables.keys())


def units() -> Path:
    """Where systemd looks for a user's units."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "systemd" / "user"


def _escaped(text: str) -> str:
    return text.replace("%", "%%")


def _quoted(argument: str) -> str:
    """An argument of ExecStart, which knows specifiers, variables and escapes."""
    text = _escaped(argument).replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$").replace("\n", "\\n")
    return text if re.fullmatch(r"[\w@%+=:,./-]+", text) else f'"{text}"'
