"""``sqlstream jobs``: the jobs of a project, of whatever process: listed, shown, stopped, saved, started in the background,
deleted. No JVM starts, unless jobs are kept on another file system than this machine's."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import signal
import sys
import time
from collections import deque
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from sqlstream.cli import background, served, starting
from sqlstream.cli.arguments import Parser, take_project_behind
from sqlstream.core import storage
from sqlstream.core.counts import counted
from sqlstream.core.errors import JobFailed, ValidationError, did_you_mean
from sqlstream.core.job_names import short_name, short_names
from sqlstream.runtime.jobs.control import handed_over, registry
from sqlstream.runtime.jobs.control.requests import Action
from sqlstream.runtime.monitor.figures import SUMMARY, size, summaries
from sqlstream.session.joined.place import served_at
from sqlstream.shell import fitting, tableau
from sqlstream.shell.screen import Screen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sqlstream.cli.background import Background
    from sqlstream.core.storage import Place
    from sqlstream.runtime.jobs.begin.placement import Preview
    from sqlstream.runtime.jobs.control.registry import JobRecord
    from sqlstream.runtime.jobs.folder.locks import Owner
    from sqlstream.session.joined.place import ServerPlace

# What ALL_COLUMNS say of a job: who has it, the script in the background that it is of, the number of its version, bytes, of its last progress the
# second since 1970; None where that is not known.
Row: TypeAlias = "tuple[str, str, Owner | None, Background | None, int | None, int | None, float | None, str | None, str | None]"
ALL_COLUMNS = ("job name", "status", "process", "background", "version", "size", "last progress", "last error", "job id")
_OF_FILES = {
    "diff": "say what would become of each job of a script that has changed, and do nothing; exit code 1 where state would be lost",
    "upgrade": "resume the jobs of a changed script in the background with their state, unless state would be lost",
}
_ENDING_SECONDS = 100.0
_GOES_ON = "its server has ended, and starts it again when it is started"
_DRAINED = "all that had arrived is processed, and every window closed"
# By whether it is drained, and saved.
_STOPS = {
    (False, False): Action.STOP, (False, True): Action.STOP_WITH_SAVEPOINT, (True, False): Action.DRAIN, (True, True): Action.DRAIN_WITH_SAVEPOINT,
}  # fmt: skip
EPILOG = """\
NAME is a job's name, a part of it that no other job has (not for drop), or the
beginning of the id that its last run had; stop and logs take the file of a script,
too. In the place of a FILE stands the name of a job as well that runs in the
background, or ran there. Exit codes: 0, 1 where it was not done, 2 for wrong usage."""


def parser() -> argparse.ArgumentParser:
    """The arguments of ``sqlstream jobs``."""
    top = Parser(prog="sqlstream jobs", description="The jobs of a project, of every process.", epilog=EPILOG,
                 formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    top.add_argument("--project", metavar="DIR", type=Path, help="the project's folder (default: found from here upwards)")
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")

    def verb(name: str, text: str, *, job: bool = True) -> argparse.ArgumentParser:
        one = verbs.add_parser(name, help=text, description=text)
        take_project_behind(one)
        if job:
            one.add_argument("name", metavar="NAME")
        return one

    listed = verb("list", "list them", job=False)
    listed.add_argument("--extended", action="store_true", help="with their processes, versions, sizes, last errors and ids")
    listed.add_argument("--json", action="store_true", help="one object per line, with all of this")
    verb("why", "why one emits nothing, or nothing more, and what to do")
    verb("show", "all that is known of one, its versions and its statement")
    stop = verb("stop", "stop one, or all of a script in the background; its state is kept, and the same statement continues from there")
    stop.add_argument("--drain", action="store_true", help="after what has arrived is processed and every open window closed")
    stop.add_argument("--timeout", type=float, metavar="SECONDS", help="wait no longer than so")
    stop.add_argument("--savepoint", action="store_true", help="with a savepoint, whose path is printed")
    savepoint = verb("savepoint", "make a savepoint of one that runs, and print its path")
    savepoint.add_argument("--timeout", type=float, metavar="SECONDS", help="wait no longer than so")
    drop = verb("drop", "delete one that is stopped: its state, offsets and versions; tables keep their rows")
    drop.add_argument("-y", "--yes", action="store_true", help="without a question")
    logs = verb("logs", "what a script in the background has said: of a job, or of a file")
    logs.add_argument("-n", type=int, default=100, metavar="LINES", help="the last so many lines (default 100)")
    logs.add_argument("-f", "--follow", action="store_true", help="and what follows")
    for name, text in _OF_FILES.items():
        of_file = verb(name, text, job=False)
        of_file.add_argument("file", metavar="FILE", type=Path)
        of_file.epilog = "What follows FILE goes to the client: -D, --var, -i and the like."
    verb("restart", "stop one and start it again in its process, alone")
    start = verb("start", "run a script in the background of this machine, or start a job of one again that was stopped, alone", job=False)
    start.epilog = "What follows FILE goes to the client: -D, --var, -i and the like."
    start.add_argument("file", metavar="FILE|NAME", type=Path)
    where = start.add_mutually_exclusive_group()
    where.add_argument("--detach", action="store_true", help="at the project's server; where none runs, under a supervisor, which starts it again")
    start.add_argument("--embedded", action="store_true", help="with --detach: under a supervisor, also where a server runs")
    where.add_argument("--systemd", action="store_true", help="write a user unit of systemd, which also starts it after a reboot")
    return top


def main(
    argv: list[str], project: Path, options: Mapping[str, str], preview: Callable[[list[str]], Sequence[Preview]],
    submit: Callable[[list[str], ServerPlace], int],
) -> int:  # fmt: skip
    """Carry out ``sqlstream jobs``; the exit code comes back. What follows ``start FILE`` goes to the client. Raises SqlStreamError.

    ``options`` are the project's; ``preview`` says what would become of the jobs of a script, run by the client with these arguments, and
    ``submit`` runs it so in a session of a server.
    """
    own = parser()
    arguments, more = own.parse_known_args(argv)
    one = arguments.verb == "start" and not (arguments.detach or arguments.systemd)
    if one and arguments.file.is_file():
        own.error(f"start {arguments.file}: --detach runs the script in the background, --systemd writes a unit that does")
    if more and arguments.verb not in ("start", *_OF_FILES):
        own.error(f"unrecognized arguments: {' '.join(more)}")
    with _jobs(project, {**options, **_set_by(more)}) as jobs:
        if one and len(arguments.file.parts) > 1 and not registry.exists(jobs, str(arguments.file)):
            there = sorted(path.name for path in arguments.file.parent.glob("*.sql"))
            raise ValidationError(f"There is no file '{arguments.file}'.", hint=did_you_mean(arguments.file.name, there))
        if arguments.verb in ("start", *_OF_FILES) and not one:
            arguments.file = _script(project, jobs, arguments.file)
        match arguments.verb:
            case "diff":
                return _diff(project, jobs, arguments.file, preview(["--project", str(project), "-f", str(arguments.file), *more]))
            case "start" if arguments.systemd:
                return starting.systemd(project, arguments.file, more)
            case "list":
                return _list(project, jobs, as_json=arguments.json, extended=arguments.extended)
            case "show":
                return _show(project, registry.find(jobs, arguments.name))
            case "why":
                return _why(registry.find(jobs, arguments.name))
            case "stop":
                return _stop(project, jobs, arguments.name, _STOPS[arguments.drain, arguments.savepoint], arguments.timeout)
            case "restart":
                return _restart(registry.find(jobs, arguments.name))
            case "start" if one:
                return _start(project, registry.find(jobs, str(arguments.file)), submit, more)
            case "savepoint":
                return _ask(registry.find(jobs, arguments.name), Action.SAVEPOINT, arguments.timeout)
            case "drop":
                return _drop(project, registry.find(jobs, arguments.name, whole=True), sure=arguments.yes)
            case "upgrade":
                return _upgrade(project, jobs, arguments.file, more, preview(["--project", str(project), "-f", str(arguments.file), *more]))
            case "logs":
                return _logs(project, jobs, arguments.name, arguments.n, follow=arguments.follow)
            case _ if not (arguments.embedded or background.is_running(background.folder_of(project, arguments.file))) and (
                server := served_at(project)
            ):
                served.check_runs_not(project, jobs, arguments.file)
                return submit(["--project", str(project), "-f", str(arguments.file.resolve()), *more], server)
            case _:
                return starting.detached(project, jobs, arguments.file, more)


@contextmanager
def _jobs(project: Path, options: Mapping[str, str]) -> Iterator[Place]:
    """The folder of all jobs. Where another file system has it Spark's JVM runs meanwhile."""
    from sqlstream.runtime.engine.session import Engine

    engine = Engine(project, lambda: options, Screen().notify)
    try:
        yield storage.job_folders(options, project, storage.Hadoop(lambda: engine)).jobs
    finally:
        engine.stop()


def _set_by(arguments: Sequence[str]) -> dict[str, str]:
    """The options that arguments of the client set with -D."""
    found = Parser(add_help=False)
    found.add_argument("-D", action="append", default=[])
    pairs = (pair.partition("=") for pair in found.parse_known_args(list(arguments))[0].D)
    return {key: value for key, _, value in pairs}


def _diff(project: Path, jobs: Place, file: Path, seen: Sequence[Preview]) -> int:
    # A job of a script that runs which somebody has stopped stays so. Of a script that does not run all are to start.
    stopped = {} if not _runs(background.folder_of(project, file.resolve())) else {
        job.path: job for job in registry.records(jobs) if job.folder.stays_stopped
    }  # fmt: skip
    said = (one.lines if (job := stopped.get(one.folder)) is None else _stays(job, one.lines, file) for one in seen)
    print("\n\n".join("\n".join(_within(lines)) for lines in said) or "There is no job in it.")
    return int(any(one.loses for one in seen))


def _stays(job: JobRecord, would: Sequence[str], file: Path) -> Sequence[str]:
    """What becomes of a job of the script ``file``, which runs, that is not started with it: how it is, and what it ``would`` do then."""
    if job.finished is not None:
        return (f"Job '{short_name(job.name)}' {job.finished}, and sqlstream jobs upgrade does not begin it anew. {_anew(file)}",)
    start = f"sqlstream jobs start {shlex.quote(short_name(job.name))}"
    return (*would, f"It was stopped, and sqlstream jobs upgrade does not start it. {start}, after the upgrade, does.")


def _anew(file: Path | str) -> str:
    """How a job that has finished begins again while its script runs."""
    written = shlex.quote(str(file))
    both = f"sqlstream jobs stop {written}, then sqlstream jobs start {written} --detach, begins it anew, where the options of its sources say"
    return f"{both}; the other jobs of the script resume."


def _within(lines: Iterable[str]) -> list[str]:
    """``lines`` as a terminal has room for them."""
    from sqlstream.shell import prose

    return prose.within(shutil.get_terminal_size().columns if sys.stdout.isatty() else None, lines)


def _upgrade(project: Path, jobs: Place, file: Path, options: list[str], seen: Sequence[Preview]) -> int:
    if _diff(project, jobs, file, seen) or not seen:
        if not seen:
            raise ValidationError(f"There is no job in '{file}'.")
        written = shlex.quote(str(file))
        begin = f"sqlstream jobs start {written} --detach -D execution.upgrade-mode=stateless"
        hint = f"sqlstream jobs stop {written}, then {begin}, begins with empty state where the offsets are."
        raise ValidationError("Nothing was stopped or started: state would be lost.", hint=hint)
    folder = background.folder_of(project, file.resolve())
    keep_stopped = []
    if _runs(folder):
        keep_stopped.append(background.KEEP_STOPPED)
        _end_script(folder, str(file), _ENDING_SECONDS)
    return starting.detached(project, jobs, file, [*keep_stopped, "-D", "execution.upgrade-mode=last-state", *options])


def _list(project: Path, jobs: Place, *, as_json: bool, extended: bool) -> int:
    known, scripts = registry.records(jobs), background.supervised(project)
    of_jobs = {job.status.pid for job in known if job.status is not None and job.held}
    # A script whose jobs have not begun yet, or whose process is started again.
    waiting = [s for p, s in scripts.items() if p not in of_jobs]
    if not (as_json or extended):
        rows = [(job.name, job.state_since, job.figures) for job in known] + [(Path(s.file).name, None, {"status": "STARTING"}) for s in waiting]
        _print_table(SUMMARY, [tuple(cell or "" for cell in row) for row in summaries(rows, _time)])
        return 0
    all_rows = [_row(project, job, scripts) for job in known]
    all_rows += [(Path(s.file).name, "STARTING", None, s, None, None, None, None, None) for s in waiting]
    if as_json:
        for row in all_rows:
            print(json.dumps(_object(row)))
    else:
        _print_table(ALL_COLUMNS, [_texts(row) for row in all_rows])
    return 0


def _print_table(names: Sequence[str], rows: Sequence[tuple[str, ...]]) -> None:
    shown = [tuple(tableau.escaped(cell) for cell in row) for row in rows]
    table = fitting.lines(names, (), shown, shutil.get_terminal_size().columns) if sys.stdout.isatty() else tableau.table(names, shown)
    print("\n".join(table) or "There are no jobs.")


def _row(project: Path, job: JobRecord, scripts: dict[int, Background]) -> Row:
    status, version = job.status, job.version
    script = scripts.get(status.pid) if status is not None and job.held else None
    number = None if version is None else version.number
    error = job.error or (_GOES_ON if job.state == "CANCELED" and served.starts_again(project, job) else None)
    return job.name, job.state, job.holder, script, number, job.size(), job.progressed, error, job.id or None


def _texts(row: Row) -> tuple[str, ...]:
    name, state, process, by, number, bytes_, progressed, error, id_ = row
    where = None if process is None else f"{process.pid}@{process.host}"
    supervised = None if by is None else f"supervisor {by.supervisor}, {counted(by.restarts, 'restart')}"
    written = None if bytes_ is None else size(bytes_)
    shown = name, state, where, supervised, number, written, None if progressed is None else _time(progressed), error, id_
    return tuple("" if cell is None else str(cell) for cell in shown)


def _object(row: Row) -> dict[str, str | int | None]:
    name, state, process, by, number, bytes_, progressed, error, id_ = row
    return {
        "job name": name, "status": state,
        "process": None if process is None else process.pid or None, "host": None if process is None else process.host or None,
        "supervisor": None if by is None else by.supervisor or None, "restarts": None if by is None else by.restarts,
        "version": number, "size": bytes_,
        "last progress": None if progressed is None else datetime.fromtimestamp(progressed, UTC).isoformat(timespec="milliseconds"),
        "last error": error, "job id": id_,
    }  # fmt: skip


def _show(project: Path, job: JobRecord) -> int:
    pairs: list[tuple[str, str | None]] = list(zip(ALL_COLUMNS, _texts(_row(project, job, background.supervised(project))), strict=True))
    pairs.append(("folder", str(job.path)))
    if job.status is not None:
        pairs.append(("start time", _time(job.status.since)))
        pairs += [(k, v) for k, v in job.status.figures.items() if k not in ("job", "status", "last error", "job id")]
    lines = [f"{name:<16}  {'' if value is None else value}".rstrip() for name, value in pairs]
    lines += [f"failed            {_time(failure.at)} {failure.error}" for failure in ([] if job.status is None else job.status.failures)]
    print("\n".join(_within(lines)))
    for version in job.versions():
        print(f"\nversion {version.number}, {_time(version.created)}, sqlstream {version.sqlstream}\n{version.sql}")
    return 0


def _why(job: JobRecord) -> int:
    from sqlstream.session.results import Advice
    from sqlstream.shell import prose

    advice = Advice(rows=tuple((short_name(job.name), text, hint) for text, hint in job.why()))
    print("\n".join(prose.advice(advice, shutil.get_terminal_size().columns)))
    return 0


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(seconds))


def _stop(project: Path, jobs: Place, name: str, action: Action, seconds: float | None) -> int:
    if (folder := _running(project, name) or _running_alone(project, jobs, name)) is not None:
        script = background.Background.read(folder)
        mine = [job for job in registry.records(jobs) if script is not None and job.held and job.process_id == script.process]
        if action is not Action.STOP:
            for job in mine:
                _ask(job, action, seconds)
        _end_script(folder, name, _ENDING_SECONDS if seconds is None else seconds)
        if action is not Action.STOP:
            for job in mine:
                # It is the script that was stopped: with it they start again.
                job.folder.let_start()
        Screen().notify(f"{folder.name if script is None else Path(script.file).name} has ended{_with([job.name for job in mine], action.drains)}.")
        return 0
    if not registry.exists(jobs, name) and (of := _by_file(project, name)) is not None:
        unknown = "has ended after its supervisor was killed, or could not write how it ended"
        how = unknown if of.exit_code is None else f"has ended with exit code {of.exit_code}"
        raise ValidationError(f"'{name}' is not running: it {how}.", hint=f"sqlstream jobs logs {shlex.quote(name)} has what it said.")
    if not registry.exists(jobs, name) and (at_server := served.of_script(project, jobs, name)):
        for job in at_server:
            if job.held or served.starts_again(project, job):
                _stop(project, jobs, job.name, action, seconds)
        return 0
    job = registry.find(jobs, name)
    if action is Action.STOP and (job.state == "SUSPENDED" or served.starts_again(project, job)):
        job.folder.keep_stopped()
        Screen().notify(f"Job '{short_name(job.name)}' has no process; it stays stopped where its script, or its server, is started again.")
        return 0
    again = _again(project, jobs, job)
    _ask(job, action, seconds)
    how = f"drained: {_DRAINED}" if action.drains else f"stopped; its state is kept. {again}"
    Screen().notify(f"Job '{short_name(job.name)}' is {how}.")
    return 0


def _again(project: Path, jobs: Place, job: JobRecord) -> str:
    """How a job is started again when it has been stopped: the process of a script in the background ends with its last job."""
    script = _ran(project, job)
    if script is not None and not any(o.held and o.process_id == job.process_id and o.name != job.name for o in registry.records(jobs)):
        return f"sqlstream jobs start {shlex.quote(script.file)} --detach starts it again"
    return f"sqlstream jobs start {shlex.quote(short_name(job.name))} starts it again in its process, its statement in another"


def _with(ended: Sequence[str], drained: bool) -> str:
    how = f"drained ({_DRAINED})" if drained else "stopped, and their state is kept"
    return f"; its jobs are {how}: {', '.join(short_names(ended))}" if ended else ""


def _runs(folder: Path) -> bool:
    """Whether a supervisor has a script, or its process runs without one."""
    return background.held(folder) or background.is_running(folder)


def _end_script(folder: Path, name: str, seconds: float) -> int:
    """End a script, and its supervisor, which would start it again, within so many seconds."""
    end = time.monotonic() + seconds
    ended = process = 0
    while _runs(folder):
        script = background.Background.read(folder)
        if script is not None:
            process = script.supervisor if background.held(folder) else script.process
        # One that has just begun has not said its number.
        if process not in (0, ended):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
            ended = process
        if time.monotonic() > end:
            raise JobFailed(f"{name} has not ended within {seconds:.0f} s: process {process}.")
        time.sleep(0.1)
    return 0


def _by_file(project: Path, name: str) -> Background | None:
    return next((script for _, script in background.scripts(project) if Path(script.file) == Path(name).resolve()), None)


def _running(project: Path, name: str) -> Path | None:
    """The folder of a script in this file that runs now."""
    resolved = Path(name).resolve()
    return next((folder for folder, script in background.scripts(project) if Path(script.file) == resolved and _runs(folder)), None)


def _running_alone(project: Path, jobs: Place, name: str) -> Path | None:
    """The same of a job's own, which was written when it was handed over to the background: it has no other job."""
    if not registry.exists(jobs, name):
        return None
    job = registry.find(jobs, name)
    folder = _running(project, str(handed_over.file_of(project, job.path)))
    script = None if folder is None else background.Background.read(folder)
    return folder if script is not None and script.runs(job.process_id) else None


def _comes_again(project: Path, job: JobRecord) -> bool:
    """Whether the process that ran the job is not there, and a supervisor is about to start its script again."""
    return not job.held and any(script.runs(job.process_id) and background.held(folder) for folder, script in background.scripts(project))


def _script(project: Path, jobs: Place, file: Path) -> Path:
    """The script ``file``; where there is none, that of the job which is called so. Raises ValidationError where that has none either."""
    if file.is_file():
        return file
    if not registry.exists(jobs, str(file)):
        raise ValidationError(f"There is no file '{file}', and no job of that name.", hint="sqlstream jobs list lists the jobs.")
    job = registry.find(jobs, str(file))
    of = _ran(project, job)
    script = Path(of.file) if of is not None and Path(of.file).is_file() else handed_over.file_of(project, job.path)
    if not script.is_file():
        raise ValidationError(f"Job '{short_name(job.name)}' has no script that could run in the background.", hint=_submitted(job))
    return script


def _submitted(job: JobRecord) -> str:
    """How a job is begun again that no script in the background has run."""
    return f"Run its script, or submit its statement in a shell; sqlstream jobs show {shlex.quote(short_name(job.name))} has it."


def _ran(project: Path, job: JobRecord) -> Background | None:
    """The script in the background whose process runs the job, or ran it last."""
    return next((script for _, script in background.scripts(project) if script.runs(job.process_id)), None)


def _ask(job: JobRecord, action: Action, seconds: float | None) -> int:
    if made := job.ask(action, seconds):
        print(made)
    return 0


def _restart(job: JobRecord) -> int:
    if not job.held and job.has_process():
        return _start_again(job)
    job.ask(Action.RESTART)
    Screen().notify(f"Job '{short_name(job.name)}' was stopped and started again, in process {job.process_id}.")
    return 0


def _start(project: Path, job: JobRecord, submit: Callable[[list[str], ServerPlace], int], more: list[str]) -> int:
    """Start a job alone, in the process of its script; one that does not run now, and comes again by itself, starts it then. One that a server of
    before had is submitted again, with the arguments ``more`` of the client.
    """
    if more and (job.held or job.has_process() or served.kept(project, job) is None or served_at(project) is None):
        hint = "Options are given to a script: sqlstream jobs start FILE --detach .."
        raise ValidationError(f"Job '{short_name(job.name)}' is started as its script says: {' '.join(more)} can't be given.", hint=hint)
    if job.held or job.has_process():
        if job.finished is not None and (script := _ran(project, job)) is not None and _runs(background.folder_of(project, Path(script.file))):
            raise ValidationError(f"Job '{short_name(job.name)}' {job.finished}.", hint=_anew(script.file))
        try:
            return _start_again(job)
        except JobFailed:
            if job.has_process():
                raise
    job.folder.let_start()
    now = registry.find(job.path.parent, job.name)
    if now.held or now.has_process():
        # It has come again meanwhile.
        return _start_again(now)
    if _comes_again(project, job):
        Screen().notify(f"Job '{short_name(job.name)}' starts with its script, whose process is being started again.")
        return 0
    kept = served.kept(project, job)
    if kept is not None:
        if (server := served_at(project)) is not None:
            return submit(["--project", str(project), "-f", str(kept.file), *more], server)
        how = "sqlstream serve starts it, with the other jobs of the server."
    elif (of := _ran(project, job)) is not None:
        how = f"sqlstream jobs start {shlex.quote(of.file)} --detach runs it, with all of its jobs."
    elif handed_over.file_of(project, job.path).is_file():
        how = f"sqlstream jobs start {shlex.quote(short_name(job.name))} --detach runs it in the background."
    else:
        how = _submitted(job)
    if job.finished is not None:
        raise ValidationError(f"Job '{short_name(job.name)}' {job.finished}, and its process has ended.", hint=f"{how} {registry.ANEW}")
    raise ValidationError(f"The process of job '{short_name(job.name)}' has ended.", hint=how)


def _start_again(job: JobRecord) -> int:
    job.ask(Action.START)
    Screen().notify(f"Job '{short_name(job.name)}' is started, in process {job.process_id}.")
    return 0


def _drop(project: Path, job: JobRecord, *, sure: bool) -> int:
    job.check_stopped()
    what = f"job '{short_name(job.name)}' ({size(job.size())} in {job.path})"
    if not sure and not _agrees(f"Delete {what}? Its state and offsets are lost; tables keep their rows."):
        Screen().notify("Nothing was done.")
        return 1
    job.drop()
    handed_over.forget(project, job.path)
    return 0


def _agrees(question: str) -> bool:
    if not sys.stdin.isatty():
        raise ValidationError(f"{question}", hint="There is no terminal to answer at: -y says yes.")
    from sqlstream.shell.confirm import confirmed

    return confirmed(question, Screen(), lambda: False)


def _logs(project: Path, jobs: Place, name: str, count: int, *, follow: bool) -> int:
    log = background.log_of(_of_logs(project, jobs, name))
    with log.open("rb") as file:
        sys.stdout.buffer.write(b"".join(deque(file, max(count, 0))))
        sys.stdout.buffer.flush()
        while follow:
            if log.stat().st_size < file.tell():
                file.seek(0)
            if part := file.read():
                sys.stdout.buffer.write(part)
                sys.stdout.buffer.flush()
            time.sleep(0.5)
    return 0


def _of_logs(project: Path, jobs: Place, name: str) -> Path:
    folders = list(background.scripts(project))
    resolved = Path(name).resolve()
    if by_file := next((f for f, s in folders if Path(s.file) == resolved), None):
        return by_file
    if not registry.exists(jobs, name) and served.of_script(project, jobs, name):
        raise ValidationError(f"'{name}' does not run in the background.", hint=served.LOG)
    job = registry.find(jobs, name)
    if by_job := next((f for f, s in folders if s.runs(job.process_id)), None):
        return by_job
    before = background.folder_of(project, handed_over.file_of(project.resolve(), job.path))
    if background.log_of(before).is_file():
        return before
    hint = served.LOG if served.kept(project, job) is not None else f"What Spark has said is in {project}/.sqlstream/log."
    raise ValidationError(f"Job '{short_name(job.name)}' does not run in the background.", hint=hint)
