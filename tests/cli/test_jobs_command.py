"""``sqlstream jobs``: the commands, the supervisor of scripts in the background, kill -9 and the question before a job is deleted."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from benchmarks.torture.tables import DeltaTable
from sqlstream.cli import background, starting
from sqlstream.cli import jobs as jobs_command
from sqlstream.cli.background import Background
from sqlstream.core import private, processes
from sqlstream.core.errors import JobFailed, ValidationError
from sqlstream.runtime.jobs.begin.placement import Preview
from sqlstream.runtime.jobs.control import handed_over as handing
from sqlstream.runtime.jobs.control.status import Status
from sqlstream.runtime.jobs.folder.generations import JobFolder
from sqlstream.runtime.jobs.script import JobScript, write
from tests.support.sessions import feed
from tests.support.waiting import until

COUNTED = """
CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'read', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE counted (k INT, c BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'counted');
SET 'pipeline.name' = 'counting';
INSERT INTO counted SELECT 1, COUNT(*) FROM numbers {} GROUP BY n > 99;
"""
COPIED = """
CREATE TABLE copied (n BIGINT) WITH ('connector' = 'delta', 'table-path' = 'copied');
SET 'pipeline.name' = 'copying';
INSERT INTO copied SELECT n FROM numbers;
"""


def jobs(project: Path, *arguments: str, **more: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sqlstream", "jobs", "--project", str(project), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=project, timeout=180, **more)  # type: ignore[call-overload, no-any-return]


@pytest.fixture
def stopped(tmp_path: Path) -> JobFolder:
    folder = JobFolder(tmp_path / ".sqlstream" / "jobs" / "a", "a")
    (folder.path / "1").mkdir(parents=True)
    folder.describe(())
    Status("77", "CANCELED", 1.0, "1").write(folder.path)
    return folder


def test_there_are_none(tmp_path: Path) -> None:
    assert jobs(tmp_path, "list").stdout == "There are no jobs.\n"
    unknown = jobs(tmp_path, "stop", "x")
    assert (unknown.returncode, "Job x does not exist" in unknown.stderr) == (1, True)
    assert jobs(tmp_path, "list", "--nonsense").returncode == 2


def test_one_that_is_stopped(tmp_path: Path, stopped: JobFolder) -> None:
    (listed,) = map(json.loads, jobs(tmp_path, "list", "--json").stdout.splitlines())
    assert (listed["job name"], listed["status"], listed["job id"]) == ("a", "CANCELED", "77")
    assert not any(listed[name] for name in ("process", "host", "supervisor", "restarts", "version", "last progress", "last error"))
    again = jobs(tmp_path, "stop", "a")
    assert (again.returncode, "Job 'a' is not running: it was stopped." in again.stderr) == (1, True)


@pytest.fixture
def gone() -> dict[str, object]:
    """Of a Status: a process that has ended."""
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    return {"pid": ended.pid, "machine": processes.machine()}


def test_one_whose_process_was_killed_stays_stopped_until_it_is_started(tmp_path: Path, stopped: JobFolder, gone: dict[str, object]) -> None:
    Status("77", "RUNNING", 1.0, "1", **gone).write(stopped.path)
    halted = jobs(tmp_path, "stop", "a")
    assert (halted.returncode, halted.stderr) == (0, "Job 'a' has no process; it stays stopped where its script, or its server, is started again.\n")
    assert stopped.stays_stopped
    # Nobody is there who could start it: it comes again with its script.
    started = jobs(tmp_path, "start", "a")
    assert (started.returncode, "The process of job 'a' has ended." in started.stderr) == (1, True), started
    assert not stopped.stays_stopped
    optional = jobs(tmp_path, "start", "a", "-D", "x=y")
    assert (optional.returncode, "Job 'a' is started as its script says: -D x=y can't be given." in optional.stderr) == (1, True)
    assert jobs(tmp_path, "start", __file__).returncode == 2


def test_one_that_a_server_keeps_which_has_ended(tmp_path: Path, stopped: JobFolder, gone: dict[str, object]) -> None:
    """Its next server starts it again, unless somebody says otherwise now."""
    Status("77", "CANCELED", 1.0, "1", **gone).write(stopped.path)
    file = tmp_path / "totals of a.sql"
    write(tmp_path / ".sqlstream" / "served" / f"{stopped.path.name}.sql", "a", JobScript((), ("INSERT INTO o SELECT 1",), str(file)).of("a"))

    def listed() -> str | None:
        (row,) = map(json.loads, jobs(tmp_path, "list", "--json").stdout.splitlines())
        assert row["status"] == "CANCELED"
        return row["last error"]

    goes_on = "its server has ended, and starts it again when it is started"
    for name in ("a", str(file)):
        assert listed() == goes_on
        halted = jobs(tmp_path, "stop", name)
        assert halted.returncode == 0 and "Job 'a' has no process; it stays stopped" in halted.stderr, halted
        assert stopped.stays_stopped and listed() is None
        assert jobs(tmp_path, "stop", "a").returncode == 1
        started = jobs(tmp_path, "start", "a")
        assert started.returncode == 1 and "sqlstream serve starts it" in started.stderr, started
        assert not stopped.stays_stopped
    for name in ("a", str(file)):
        said = jobs(tmp_path, "logs", name)
        assert said.returncode == 1 and "It runs at the project's server, in whose log is what it says." in said.stderr
    # One that was not started again is not what goes on.
    Status("77", "CANCELED", 1.0, "1", error="It was not started again: no.", **gone).write(stopped.path)
    assert listed() == "It was not started again: no."


def test_without_a_terminal_nothing_is_deleted_unasked(tmp_path: Path, stopped: JobFolder) -> None:
    refused = jobs(tmp_path, "drop", "a", stdin=subprocess.DEVNULL)
    assert (refused.returncode, "-y says yes" in refused.stderr, stopped.path.exists()) == (1, True, True)
    assert jobs(tmp_path, "drop", "a", "-y").returncode == 0
    assert not stopped.path.exists()


@pytest.mark.parametrize(("answer", "gone"), [("y", True), ("n", False), ("", False)])
def test_the_question_in_a_terminal(tmp_path: Path, stopped: JobFolder, answer: str, gone: bool) -> None:
    master, terminal = pty.openpty()
    command = [sys.executable, "-m", "sqlstream", "jobs", "drop", "a", "--project", str(tmp_path)]
    process = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal)
    os.close(terminal)
    shown = b""
    while b"[y/N]" not in shown:
        shown += os.read(master, 4096)
    os.write(master, f"{answer}\n".encode())
    assert process.wait(30) == (0 if gone else 1)
    os.close(master)
    assert stopped.path.exists() is not gone


def supervised(folder: Path, code: str) -> subprocess.Popen[bytes]:
    Background("x.sql", (sys.executable, "-c", code)).write(background.log_of(folder).parent)
    return subprocess.Popen([sys.executable, "-m", "sqlstream.cli.supervisor", str(folder)])


def test_a_full_disk_ends_neither_a_script_nor_its_supervisor(tmp_path: Path) -> None:
    """From its first run to the end of its second nothing can be written: neither the log nor what is noted of the script."""
    full = tmp_path / "full"
    twice = "import os, pathlib; p = pathlib.Path('{}'); p.exists() or (p.touch(), os.kill(os.getpid(), 9)); p.unlink(); raise SystemExit(7)"
    Background("x.sql", (sys.executable, "-c", twice.format(full))).write(tmp_path)
    code = """
import pathlib, sys
from sqlstream.cli import supervisor
from sqlstream.core import private
from sqlstream.cli.background import Background
full = pathlib.Path(sys.argv[1])
def failing(real):
    def write(*arguments, **more):
        if full.exists():
            raise OSError(28, "No space left on device")
        return real(*arguments, **more)
    return write
private.open_file, Background.write = failing(private.open_file), failing(Background.write)
sys.exit(supervisor.main([sys.argv[2]]))
"""
    process = subprocess.run([sys.executable, "-c", code, str(full), str(tmp_path)], timeout=100, check=False)
    script = script_of(tmp_path)
    assert (process.returncode, script.exit_code, script.restarts) == (7, 7, 1)
    assert "ended with exit code 7" in background.log_of(tmp_path).read_text()


def script_of(folder: Path) -> Background:
    found = Background.read(folder)
    assert found is not None
    return found


def test_what_is_killed_is_started_again_what_ends_is_not(tmp_path: Path) -> None:
    once = "import os, pathlib, sys; p = pathlib.Path('{}'); n = p.exists(); p.touch(); print('ran', *sys.argv[1:], flush=True); n or os.kill(os.getpid(), 9); raise SystemExit(7)"
    process = supervised(tmp_path, once.format(tmp_path / "ran"))
    assert process.wait(30) == 7
    script = script_of(tmp_path)
    assert (script.restarts, script.exit_code, len(script.earlier)) == (1, 7, 1)
    assert script.runs(script.process) and script.runs(script.earlier[0]) and not script.runs(1) and not script.runs(None)
    first, killed, second, _ = background.log_of(tmp_path).read_text().splitlines()
    # Only what comes again by itself leaves jobs stopped.
    assert (first, second) == ("ran", "ran --keep-stopped")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d \[supervisor\] the process was killed by signal 9; it is started again in 1 s", killed)


@pytest.mark.parametrize(("codes", "restarts", "ends"), [("-9 75 0", 2, 0), ("75", 0, 1), ("-9 1", 1, 1)])
def test_one_that_ran_before_is_started_until_nothing_is_in_its_way(tmp_path: Path, codes: str, restarts: int, ends: int) -> None:
    left = tmp_path / "left"
    left.write_text(codes)
    code = (
        "import os, pathlib, sys; p = pathlib.Path('{}'); first, _, rest = p.read_text().partition(' '); p.write_text(rest);"
        " code = int(first); code < 0 and os.kill(os.getpid(), -code); sys.exit(code)"
    )
    assert supervised(tmp_path, code.format(left)).wait(30) == ends
    assert (script_of(tmp_path).restarts, script_of(tmp_path).exit_code) == (restarts, ends)


def test_a_supervisor_survives_its_terminal_and_ends_with_its_script(tmp_path: Path) -> None:
    process = supervised(tmp_path, "import time; time.sleep(100)")
    until(lambda: script_of(tmp_path).process)
    assert background.held(tmp_path)
    second = subprocess.run([sys.executable, "-m", "sqlstream.cli.supervisor", str(tmp_path)], check=False)
    assert second.returncode == 3
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1)
    process.terminate()
    process.wait(30)
    assert not background.held(tmp_path)
    with pytest.raises(ProcessLookupError):
        os.kill(script_of(tmp_path).process, 0)


def test_of_scripts_that_have_ended_the_last_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "_ENDED", 1)
    for number, name in enumerate(("running", "old", "new")):
        folder = background.folder_of(tmp_path, tmp_path / name)
        Background(name, ("true",)).write(private.folder(folder))
        os.utime(folder, (number, number))
    held = background.hold(background.folder_of(tmp_path, tmp_path / "running"))
    assert held is not None
    with held:
        background.forget(tmp_path)
    assert sorted(script.file for _, script in background.scripts(tmp_path)) == ["new", "running"]


def test_a_script_that_is_ended_as_it_begins(tmp_path: Path) -> None:
    """Its supervisor has the folder, and has not said yet who it is."""
    lock = background.hold(tmp_path)
    assert lock is not None
    Background("x.sql", ("true",)).write(tmp_path)
    supervisor = subprocess.Popen(["sleep", "60"])

    def begin() -> None:
        time.sleep(0.5)
        Background("x.sql", ("true",), supervisor=supervisor.pid).write(tmp_path)
        supervisor.wait()
        lock.close()

    thread = threading.Thread(target=begin)
    thread.start()
    assert jobs_command._end_script(tmp_path, "x.sql", 60) == 0
    thread.join()
    assert supervisor.returncode == -signal.SIGTERM


def test_a_script_whose_supervisor_is_killed_before_it_has_a_job(tmp_path: Path) -> None:
    file = tmp_path / "x y.sql"
    file.write_text("SELECT 1;")
    folder = private.folder(background.folder_of(tmp_path, file))
    ends = "import signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(print('off')))\nprint('on', flush=True)\nfor _ in range(1000):\n    time.sleep(0.1)"
    Background(str(file), (sys.executable, "-c", ends)).write(folder)
    supervisor = subprocess.Popen([sys.executable, "-m", "sqlstream.cli.supervisor", str(folder)])
    until(lambda: background.log_of(folder).exists() and "on" in background.log_of(folder).read_text())
    supervisor.kill()
    supervisor.wait()
    assert not background.held(folder)
    second = jobs(tmp_path, "start", str(file), "--detach")
    assert (second.returncode, "whose supervisor has ended" in second.stderr) == (1, True), second
    assert subprocess.run([sys.executable, "-m", "sqlstream.cli.supervisor", str(folder)], check=False).returncode == 3
    background.forget(tmp_path)
    file.rename(tmp_path / "moved.sql")
    assert jobs(tmp_path, "stop", str(file)).returncode == 0
    assert not background.is_running(folder)
    assert "off" in background.log_of(folder).read_text()
    # Its number may be another process's by now.
    with subprocess.Popen(["sleep", "60"]) as other:
        replace(script_of(folder), process=other.pid).write(folder)
        again = jobs(tmp_path, "stop", str(file))
        assert (again.returncode, "it has ended after its supervisor was killed" in again.stderr, other.poll()) == (1, True, None), again
        other.kill()
    (folder / "script.json").write_text('{"file": ')
    assert "does not exist" in jobs(tmp_path, "stop", str(file)).stderr


def handed_over(project: Path, file: Path, said: list[str]) -> object:
    return starting.handed_over(project, project / ".sqlstream" / "jobs", file, lambda: said.append("stopped"), lambda: False)


def test_a_job_whose_process_ends_at_once(tmp_path: Path) -> None:
    file = handing.keep(tmp_path, tmp_path / "a", "a", "SELEC 1\n;\n")
    said: list[str] = []
    with pytest.raises(JobFailed, match="has ended with exit code 1") as failed:
        handed_over(tmp_path, file, said)
    log = background.log_of(background.folder_of(tmp_path, file))
    assert said == ["stopped"]
    assert failed.value.hint is not None and "SELEC 1" in failed.value.hint and "[supervisor]" not in failed.value.hint
    assert failed.value.hint.endswith(f"All that it said is in {log}.")


def test_a_job_is_not_stopped_where_its_script_runs_or_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = handing.keep(tmp_path, tmp_path / "a", "a", "SELEC 1\n;\n")
    said: list[str] = []
    lock = background.hold(background.folder_of(tmp_path, file))
    assert lock is not None
    monkeypatch.setattr(starting, "_END_SECONDS", 0.5)
    with pytest.raises(ValidationError, match="runs already"):
        handed_over(tmp_path, file, said)
    # One that is about to end is awaited.
    monkeypatch.setattr(starting, "_END_SECONDS", 60.0)
    threading.Timer(1, lock.close).start()
    with pytest.raises(JobFailed, match="has ended with exit code 1"):
        handed_over(tmp_path, file, said)
    assert said == ["stopped"]

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Background, "write", full)
    with pytest.raises(OSError, match="No space left"):
        handed_over(tmp_path, file, said)
    assert said == ["stopped"]


def test_a_script_whose_jobs_were_stopped_a_moment_ago_is_awaited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.sql"
    file.write_text("SELEC 1;\n")
    lock = background.hold(background.folder_of(tmp_path, file))
    assert lock is not None
    threading.Timer(1, lock.close).start()
    with pytest.raises(JobFailed, match="has ended with exit code 1"):
        starting.detached(tmp_path, tmp_path / "jobs", file, ())
    monkeypatch.setattr(starting, "_ENDING_SECONDS", 0.5)
    with background.hold(background.folder_of(tmp_path, file)), pytest.raises(ValidationError, match="runs already"):  # type: ignore[union-attr]
        starting.detached(tmp_path, tmp_path / "jobs", file, ())


def test_a_command_in_a_hint_can_be_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "Two Jobs.sql"
    lock = background.hold(folder := background.folder_of(tmp_path, file))
    assert lock is not None
    with lock, pytest.raises(ValidationError, match="runs already") as refused:
        starting._hold(folder, file, 0.0, lambda: False)
    assert refused.value.hint == f"sqlstream jobs stop '{file}' ends it."


def test_the_name_of_a_job_stands_for_the_script_that_it_was_handed_over_with(tmp_path: Path, stopped: JobFolder) -> None:
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    Status("77", "CANCELED", 1.0, "1", pid=ended.pid, machine=processes.machine()).write(stopped.path)
    wrong = jobs(tmp_path, "start", "a", "--detach")
    assert (wrong.returncode, "Job 'a' has no script that could run in the background." in wrong.stderr) == (1, True), wrong
    nothing = jobs(tmp_path, "diff", "nosuch.sql")
    assert (nothing.returncode, "[ERROR] S2 There is no file 'nosuch.sql', and no job of that name.\n" in nothing.stderr) == (1, True), nothing
    file = handing.keep(tmp_path, stopped.path, "a", "SELEC 1\n;\n")
    again = jobs(tmp_path, "start", "a")
    assert "sqlstream jobs start a --detach runs it in the background." in again.stderr, again
    for verb in (("start", "a", "--detach"), ("diff", "a"), ("upgrade", "a")):
        done = jobs(tmp_path, *verb)
        assert (done.returncode, str(file) in done.stderr, "SELEC 1" in done.stderr) == (1, True, True), done
    assert "SELEC 1" in jobs(tmp_path, "logs", "a").stdout
    unit = jobs(tmp_path, "start", "a", "--systemd", env={**os.environ, "XDG_CONFIG_HOME": str(tmp_path / "config")})
    assert f"-f {file}" in Path(unit.stdout.splitlines()[0]).read_text(), unit
    assert jobs(tmp_path, "drop", "a", "-y").returncode == 0
    assert not file.exists()


def test_a_script_whose_job_another_process_has_is_refused_before_spark_starts(tmp_path: Path) -> None:
    file = tmp_path / "count.sql"
    file.write_text(COUNTED.format(""))
    folder = JobFolder(tmp_path / ".sqlstream" / "jobs" / "counting", "counting")
    folder.path.mkdir(parents=True)
    folder.describe(())
    with folder.lock():
        started = jobs(tmp_path, "start", str(file), "--detach", "-D", "spark.master=nowhere")
    assert (started.returncode, f"Job 'counting' is already running, in process {os.getpid()}" in started.stderr) == (1, True), started
    assert "spark.master" not in started.stderr


@pytest.mark.parametrize(("status", "said"), [
    ("CANCELED", "Job 'a' resumes.\nIt was stopped, and sqlstream jobs upgrade does not start it. sqlstream jobs start a, after the upgrade, does.\n"),
    ("FINISHED", "Job 'a' has finished: it has no more to read, and sqlstream jobs upgrade does not begin it anew."),
])  # fmt: skip
def test_what_stays_stopped_is_said_where_its_script_runs(
    tmp_path: Path, stopped: JobFolder, capsys: pytest.CaptureFixture[str], status: str, said: str,
) -> None:  # fmt: skip
    file, seen = tmp_path / "my a.sql", [Preview(stopped.path, ("Job 'a' resumes.",))]
    Status("77", status, 1.0, "1", pid=os.getpid(), machine=processes.machine()).write(stopped.path)
    stopped.keep_stopped()
    folder = background.folder_of(tmp_path, file)
    folder.mkdir(parents=True)
    Background(str(file), (), process=os.getpid()).write(folder)

    def diff() -> str:
        assert jobs_command.main(["diff", str(file)], tmp_path, {}, lambda _: seen, lambda *_: 0) == 0
        return capsys.readouterr().out

    file.touch()
    # All of its jobs are to start.
    assert diff() == "Job 'a' resumes.\n"
    held = background.hold(folder, background.RUNNING)
    assert held is not None
    with held:
        assert diff().startswith(said)
        if status == "FINISHED":
            with pytest.raises(ValidationError, match="Job 'a' has finished") as refused:
                jobs_command.main(["start", "a"], tmp_path, {}, lambda _: seen, lambda *_: 0)
            hint = f"sqlstream jobs stop '{file}', then sqlstream jobs start '{file}' --detach, begins it anew"
            assert hint in str(refused.value.hint)


def test_a_unit_of_systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    file = tmp_path / "my 100% job.sql"
    file.write_text("SELECT '${env:PASS}', '${env:NOBODY}'")
    (init := tmp_path / "init.sql").write_text("SET 'k' = '${env:OF_INIT}'")
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "t.sql").write_text("CREATE TABLE t (n INT) WITH ('connector' = '${env:LINES}')")
    special = 'a "b" $c \\d `e` %f\ng'
    for name, value in {"PASS": special, "LINES": "\\", "OF_INIT": "i", "JAVA_HOME": "/java", "OTHERS": "secret"}.items():
        monkeypatch.setenv(name, value)
    assert starting.systemd(tmp_path, file, ["--var", 'A=$x "y"', "-i", str(init)]) == 0
    said = capsys.readouterr()
    unit = Path(said.out.splitlines()[0])
    lines = dict(line.split("=", 1) for line in unit.read_text().splitlines() if "=" in line)
    assert lines["ExecStart"].endswith(f'-f "{tmp_path}/my 100%% job.sql" --keep-stopped --var "A=$$x \\"y\\"" -i {init}')
    assert lines["Description"] == "sqlstream my 100%% job.sql"
    environment = Path(lines["EnvironmentFile"].replace("%%", "%"))
    assert said.err == f"Not set here, and so not in {environment}: NOBODY\n"
    assert environment.stat().st_mode & 0o777 == 0o600
    assert special not in unit.read_text()

    def kept(name: str) -> str:
        """As a shell reads it, whose quotes are systemd's."""
        command = ["env", "-i", "/bin/sh", "-c", f'. "$0"; printf %s "${name}"', str(environment)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert [kept(n) for n in ("PASS", "LINES", "OF_INIT", "JAVA_HOME", "OTHERS")] == [special, "\\", "i", "/java", ""]
    # What the user adds stays.
    environment.write_text(environment.read_text() + "NOBODY=me\n")
    assert starting.systemd(tmp_path, file, []) == 0
    assert capsys.readouterr().err == ""
    assert [kept(n) for n in ("PASS", "NOBODY")] == [special, "me"]


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_a_script_in_the_background_is_killed_changed_and_stopped(tmp_path: Path) -> None:
    (read := tmp_path / "read").mkdir()
    feed(read, {"n": 1}, {"n": 2})
    file = tmp_path / "count.sql"
    file.write_text(COUNTED.format("") + COPIED)
    table = DeltaTable(tmp_path / "counted")

    def counted(n: int) -> bool:
        return table.rows() == Counter([(1, n)])

    def listed(name: str = "counting") -> dict[str, object]:
        rows = [json.loads(line) for line in jobs(tmp_path, "list", "--json").stdout.splitlines()]
        return next((r for r in rows if r["job name"] == name), {})

    started = jobs(tmp_path, "start", str(file), "--detach", "-D", "spark.master=local[1]")
    try:
        assert (started.returncode, "its first job is counting." in started.stdout) == (0, True), started
        second = jobs(tmp_path, "start", str(file), "--detach")
        assert (second.returncode, "runs already under supervisor" in second.stderr) == (1, True)
        first = listed()
        assert (first["status"], first["version"]) == ("RUNNING", 1)
        assert isinstance(first["size"], int) and first["size"] > 1000
        assert isinstance(first["process"], int) and first["host"] == socket.gethostname()
        until(lambda: counted(2))
        until(lambda: listed("copying").get("status") == "RUNNING")
        why = jobs(tmp_path, "why", "counting")
        assert (why.returncode, why.stdout.startswith("counting\n  It emits rows: ")) == (0, True), why
        halted = jobs(tmp_path, "stop", "copying")
        assert (halted.returncode, "Job 'copying' is stopped; its state is kept." in halted.stderr) == (0, True), halted
        os.kill(first["process"], signal.SIGKILL)
        until(lambda: listed()["status"] == "SUSPENDED")
        until(lambda: listed()["status"] == "RUNNING")
        assert listed()["restarts"] == 1
        assert f"Process {first['process']} on {socket.gethostname()} ended without stopping it." in jobs(tmp_path, "show", "counting").stdout
        until(lambda: "Job 'copying' stays stopped" in jobs(tmp_path, "logs", str(file)).stdout)
        assert listed("copying")["status"] == "CANCELED"
        again = jobs(tmp_path, "start", "copying")
        assert (again.returncode, "Job 'copying' is started, in process" in again.stderr) == (0, True), again
        assert (listed("copying")["status"], listed("copying")["process"]) == ("RUNNING", listed()["process"])
        restarted = jobs(tmp_path, "restart", "copying")
        assert (restarted.returncode, "was stopped and started again, in process" in restarted.stderr) == (0, True), restarted
        assert jobs(tmp_path, "stop", "copying").returncode == 0
        refused = jobs(tmp_path, "drop", "counting", "-y")
        assert (refused.returncode, "is running" in refused.stderr) == (1, True)
        # What the job has kept becomes that of the changed one in a process in which no stream has run.
        file.write_text(COUNTED.format("WHERE n > 0") + COPIED)
        upgraded = jobs(tmp_path, "upgrade", str(file), "-D", "spark.master=local[1]")
        assert upgraded.returncode == 0, upgraded
        stays = "It was stopped, and sqlstream jobs upgrade does not start it. sqlstream jobs start copying, after the upgrade, does."
        assert stays in upgraded.stdout
        feed(read, {"n": 3})
        until(lambda: counted(3))
        assert (listed()["version"], listed()["restarts"]) == (2, 0)
        # Nobody has started it.
        assert listed("copying")["status"] == "CANCELED"
        ((_, script),) = background.scripts(tmp_path)
        os.kill(script.supervisor, signal.SIGKILL)
        until(lambda: listed()["supervisor"] is None)
        assert listed()["status"] == "RUNNING"
        third = jobs(tmp_path, "start", str(file), "--detach")
        assert (third.returncode, "whose supervisor has ended" in third.stderr) == (1, True)
    finally:
        ended = jobs(tmp_path, "stop", str(file), "--savepoint")
    assert (ended.returncode, "its jobs are stopped, and their state is kept: counting." in ended.stderr) == (0, True), ended
    (saved,) = ended.stdout.split()
    assert Path(saved.removeprefix("file://")).is_dir()
    # It is the script that was stopped, which starts its job again.
    assert not any(JobFolder(path, "counting").stays_stopped for path in (tmp_path / ".sqlstream" / "jobs").glob("counting*"))
    assert listed()["status"] == "CANCELED"
    without = jobs(tmp_path, "start", "copying")
    assert (without.returncode, f"sqlstream jobs start {file} --detach runs it" in without.stderr) == (1, True), without
    assert datetime.fromisoformat(str(listed()["last progress"])).tzinfo is not None
    until(lambda: not any(background.held(f) for f, _ in background.scripts(tmp_path)))
    again = jobs(tmp_path, "stop", str(file))
    assert (again.returncode, "is not running: it has ended after its supervisor was killed" in again.stderr) == (1, True)
    assert "started again in 1 s" in jobs(tmp_path, "logs", str(file)).stdout
    assert jobs(tmp_path, "drop", "counting", "-y").returncode == 0
    assert listed() == {}
