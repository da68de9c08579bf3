"""Arguments, settings and exit codes, with a shell and a runner of the test's own."""

import fcntl
import io
import os
import signal
import stat
import sys
from pathlib import Path

import pytest

from sqlstream.cli import main as cli
from sqlstream.core import private, project_folder
from sqlstream.core.project_folder import ProjectFolder
from sqlstream.session.joined.place import ServerPlace
from sqlstream.shell.foreground import Terminated


class Calls:
    """Records what the command line starts."""

    def __init__(self, code=0):
        self.code = code
        self.settings = self.script = self.init = self.echo = self.history = None

    def fronts(self):
        return cli.Fronts(session=self._session, shell=self._shell, script=self._script, joined=self._joined)

    def _joined(self, place, project, **settings):
        self.settings = {"place": place, "project": project, **settings}

    def _session(self, project, **settings):
        self.settings = {"project": project, **settings}

    def _shell(self, open_session, screen, history, *, init):
        open_session()
        self.history, self.init = history, init
        return self.code

    def _script(self, open_session, script, screen, *, init, echo):
        open_session()
        self.script, self.init, self.echo = script, init, echo
        return self.code


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO("SHOW TABLES;"))
    return tmp_path


@pytest.fixture
def calls():
    return Calls()


def start(calls, *arguments):
    return cli.main(list(arguments), fronts=calls.fronts())


def at_terminal(monkeypatch):
    stdin = io.StringIO()
    stdin.isatty = lambda: True
    monkeypatch.setattr(sys, "stdin", stdin)


@pytest.mark.parametrize("arguments", [(), ("embedded",)])
def test_at_a_terminal_the_shell_opens(here, calls, monkeypatch, arguments):
    at_terminal(monkeypatch)
    assert start(calls, *arguments, "-hist", "h.txt") == 0
    assert calls.script is None
    assert calls.settings["interactive"] is True
    assert calls.history == Path("h.txt")


def test_elsewhere_stdin_is_the_script(here, calls):
    start(calls)
    assert (calls.script.text, calls.script.name, calls.echo) == ("SHOW TABLES;", "<stdin>", True)
    assert calls.settings["interactive"] is False


def test_a_file_and_an_init_file(here, calls):
    (here / "q.sql").write_text("\ufeffSELECT 1;", "utf-8")
    (here / "i.sql").write_text("SET 'a' = 'b';")
    start(calls, "-f", "q.sql", "-i", "i.sql")
    assert (calls.script.text, calls.script.name, calls.echo) == ("SELECT 1;", "q.sql", True)
    assert (calls.init.text, calls.init.name) == ("SET 'a' = 'b';", "i.sql")


def test_a_statement_is_not_echoed(here, calls):
    start(calls, "-e", "SELECT 1;")
    assert (calls.script.text, calls.script.name, calls.echo) == ("SELECT 1;", None, False)


def test_options_come_from_the_project_then_from_flags_then_from_d(here, calls):
    (here / "sqlstream.toml").write_text(
        "[options]\nexecution.runtime-mode = 'batch'\n'parallelism.default' = 4\ntable.dml-sync = true\n'spark.master' = 'local[1]'\n"
    )
    start(calls, "--master", "local[2]", "-Dparallelism.default=8", "-D", "a=b=c", "--var", "X=y", "--save", "-e", "x")
    assert calls.settings["options"] == {
        "execution.runtime-mode": "batch", "parallelism.default": "8", "table.dml-sync": "true",
        "spark.master": "local[2]", "a": "b=c",
    }  # fmt: skip
    assert calls.settings["variables"] == {"X": "y"}
    assert calls.settings["save"] is True


def test_flink_flags_are_options(here, calls):
    (here / "lib").mkdir()
    (here / "lib" / "b.jar").touch()
    (here / "lib" / "c.txt").touch()
    start(calls, "-j", "a.jar", "-l", "lib", "-pyfs", "u.py", "-pyfs", "v.py", "-pyexec", "/usr/bin/python3", "-e", "x")
    assert calls.settings["options"] == {
        "pipeline.jars": f"{here / 'a.jar'};{here / 'lib' / 'b.jar'}", "python.files": "u.py,v.py",
        "python.executable": "/usr/bin/python3",
    }  # fmt: skip


def test_a_misspelt_section_of_the_file_is_named(here, calls, capsys):
    (here / "sqlstream.toml").write_text("zz = 1\n[optoins]\na = 1\n")
    start(calls, "-e", "x")
    key, section = capsys.readouterr().err.splitlines()
    assert key.endswith("sqlstream.toml: No key is called 'zz': it has no effect. There is warehouse; options stand below [options].")
    assert section.endswith("sqlstream.toml: No section is called 'optoins': it has no effect. Did you mean 'options'?")


def test_a_file_may_hold_an_array_only_by_mistake(here, calls, capsys):
    (here / "sqlstream.toml").write_text("[options]\na = [1]\n")
    with pytest.raises(SystemExit) as ended:
        start(calls, "-e", "x")
    assert ended.value.code == 2
    assert "option a must be a string, a number or a boolean" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["-s", "x"], "sessions have no names here"),
        (["-pyreq", "requirements.txt"], "-pyreq/--pyRequirements: nothing is installed; pack an environment"),
        (["gateway", "-e", "host:1"], "--endpoint says where the server is"),
        (["embedded", "--endpoint", "host:1"], "not allowed with embedded"),
        (["--token-file", "token"], "only with --endpoint"),
        (["--endpoint", "host:1", "--token-file", "missing"], "missing, can't be read: No such file"),
        (["-d", "env.yaml"], "YAML"),
        (["-f", "missing.sql"], "cannot read missing.sql"),
        (["-i", "missing.sql"], "cannot read missing.sql"),
        (["-D", "novalue"], "not of the form KEY=VALUE"),
        (["-f", "a", "-e", "b"], "not allowed with"),
        (["--project", "missing"], "is not a folder"),
        (["--nope"], "unrecognized arguments"),
        (["--projekt", "x"], "unrecognized arguments: --projekt x. Did you mean '--project'?"),
        (["serv"], "unrecognized arguments: serv. Did you mean 'serve'?"),
        (["list"], "There is no command 'list'. Did you mean 'sqlstream jobs list'?"),
        (["stop", "totals"], "Did you mean 'sqlstream jobs stop NAME'?"),
        (["run", "a.sql"], "Did you mean 'sqlstream -f FILE'?"),
        (["upgrade", "a.sql"], "Did you mean 'sqlstream jobs upgrade FILE'?"),
        (["help"], "Did you mean 'sqlstream --help'?"),
        (["version"], "Did you mean 'sqlstream --version'?"),
        (["jobs", "lst"], "Did you mean 'list'?"),
        (["jobs", "list", "--extend"], "unrecognized arguments: --extend. Did you mean '--extended'?"),
        (["kafka", "strt"], "Did you mean 'start'?"),
        (["kafka", "stop", "--port", "1"], "unrecognized arguments: --port 1. Another command takes it"),
        (["--project", ".", "check", "a.sql"], "'check' comes first, and its options after it: sqlstream check"),
    ],
)
def test_wrong_usage_ends_with_2_and_a_reason(here, calls, capsys, arguments, reason):
    with pytest.raises(SystemExit) as ended:
        start(calls, *arguments)
    assert ended.value.code == 2
    assert reason in capsys.readouterr().err
    assert calls.settings is None


@pytest.mark.parametrize("code", [0, 1, 130])
def test_the_exit_code_is_the_runners(here, code):
    assert start(Calls(code), "-e", "x") == code


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt, 130), (Terminated, 143)])
def test_signals_have_exit_codes(here, error, code):
    def interrupted(*_, **__):
        raise error

    assert cli.main(["-e", "x"], fronts=cli.Fronts(interrupted, interrupted, interrupted)) == code


@pytest.mark.parametrize("mark", ["catalog", ".sqlstream", "sqlstream.toml"])
def test_the_project_is_found_upwards(tmp_path, mark):
    (tmp_path / "p" / "queries" / "deep").mkdir(parents=True)
    (tmp_path / "p" / mark).mkdir()
    assert project_folder.find_project(tmp_path / "p" / "queries" / "deep").path == tmp_path / "p"


@pytest.mark.parametrize("mark", ["catalog", ".sqlstream", "sqlstream.toml", "udfs", "queries"])
@pytest.mark.parametrize("link", [False, True])
def test_a_project_of_somebody_else_is_not_used(tmp_path, mark, link, monkeypatch, capsys):
    theirs, ours = tmp_path / "theirs", tmp_path / "theirs" / "ours"
    ours.mkdir(parents=True)
    (theirs / "udfs").mkdir()
    (theirs / "udfs" / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()")
    (theirs / "catalog").mkdir()
    (theirs / "catalog" / "t.sql").write_text("CREATE TABLE t (a INT) WITH ('connector' = 'print');")
    if not (theirs / mark).exists():
        (theirs / mark).mkdir()
    if link:  # theirs, to a folder of ours
        (theirs / mark).rename(tmp_path / "moved")
        (theirs / mark).symlink_to(tmp_path / "moved")
    of_others(monkeypatch, theirs / mark)
    monkeypatch.chdir(ours)
    assert cli.main(["check"]) == 0
    assert capsys.readouterr().err.startswith(f"{theirs} is a project of the user 4711, so it is not used; --project {theirs} uses it.\n")
    monkeypatch.chdir(theirs)
    for arguments in (["check"], ["-e", "HELP"], ["test-udf", "udfs/evil.py"]):
        with pytest.raises(SystemExit) as ended:
            cli.main(arguments)
        assert ended.value.code == 2
        assert f"The project {theirs} is not used: '{mark}' in it belongs to the user 4711" in capsys.readouterr().err
    assert cli.main(["check", "--no-python"]) == 0
    assert not (tmp_path / "ran").exists()
    assert cli.main(["check", "--project", str(theirs)]) == 0
    assert (tmp_path / "ran").exists()


def of_others(monkeypatch, path):
    """Makes ``path``, a link itself, belong to another user."""
    real = os.lstat

    def lstat(asked, *arguments, **more):
        found = real(asked, *arguments, **more)
        fields = list(found)
        fields[stat.ST_UID] = 4711
        return os.stat_result(fields) if not more and Path(asked) == path else found

    monkeypatch.setattr(project_folder.os, "lstat", lstat)


def test_the_home_folder_is_no_project_for_what_a_session_leaves_there(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".sqlstream").mkdir()
    (tmp_path / "a").mkdir()
    assert project_folder.find_project(tmp_path / "a").path == tmp_path / "a"
    assert project_folder.find_project(tmp_path).path == tmp_path
    (tmp_path / "catalog").mkdir()
    assert project_folder.find_project(tmp_path / "a").path == tmp_path


def test_under_sudo_a_project_of_the_one_who_asks_is_used(tmp_path, monkeypatch):
    (tmp_path / "catalog").mkdir()
    of_others(monkeypatch, tmp_path / "catalog")
    monkeypatch.setattr(project_folder.os, "geteuid", lambda: 0)
    real = os.stat
    monkeypatch.setattr(project_folder.os, "stat", lambda p, **more: os.lstat(p) if not more else real(p, **more))
    assert project_folder.foreign_part(tmp_path) == ("catalog", "the user 4711")
    monkeypatch.setenv("SUDO_UID", "4711")
    assert project_folder.foreign_part(tmp_path) is None


def test_a_project_above_is_named(here, calls, monkeypatch, capsys):
    (here / "sub").mkdir()
    (here / "catalog").mkdir()
    assert start(calls, "-e", "HELP") == 0
    assert capsys.readouterr().err == ""
    monkeypatch.chdir(here / "sub")
    assert start(calls, "-e", "HELP") == 0
    assert capsys.readouterr().err == f"Project: {here}\n"


def test_without_a_project_it_is_here(tmp_path):
    assert project_folder.find_project(tmp_path / "a").path == tmp_path / "a"


def test_a_script_belongs_to_the_project_around_it(here, calls, monkeypatch, capsys):
    for folder in ("p/queries", "q/catalog", "far"):
        (here / folder).mkdir(parents=True)
    (here / "p" / "catalog").mkdir()
    for script in ("p/queries/s.sql", "far/s.sql"):
        (here / script).write_text("HELP;")

    def project_of(script, at):
        monkeypatch.chdir(here / at)
        assert start(calls, "-f", script) == 0
        return calls.settings["project"], capsys.readouterr().err

    # As cron starts it: from anywhere.
    assert project_of("../p/queries/s.sql", "far") == (here / "p", f"Project: {here / 'p'}\n")
    assert project_of("../p/queries/s.sql", "q") == (here / "p", f"Project: {here / 'p'}\n")
    assert project_of("queries/s.sql", "p") == (here / "p", "")
    # What is in no project is run in that of where one is.
    assert project_of("../far/s.sql", "q") == (here / "q", "")
    assert project_of("s.sql", "far") == (here / "far", f"A project begins in {here / 'far'}\n")
    of_others(monkeypatch, here / "p" / "catalog")
    assert project_of("../p/queries/s.sql", "q") == (here / "q", "")


def test_a_subcommand_gets_the_rest(here, monkeypatch):
    import types

    from sqlstream.cli import kafka

    given = []
    broker = types.SimpleNamespace(main=lambda argv: given.append(argv) or 3)
    monkeypatch.setitem(sys.modules, "sqlstream.cli.kafka.broker", broker)
    monkeypatch.setattr(kafka, "broker", broker, raising=False)
    assert cli.main(["kafka", "start", "--port", "1"]) == 3
    assert given == [["start", "--port", "1"]]


def test_version_and_help(here, capsys):
    for flag, text in (("--version", "sqlstream"), ("--help", "--project DIR")):
        with pytest.raises(SystemExit) as ended:
            cli.main([flag])
        assert ended.value.code == 0
        assert text in capsys.readouterr().out


def test_a_subcommand_ends_by_sigterm(here, monkeypatch):
    monkeypatch.setattr("sqlstream.cli.demo.main", lambda _: signal.raise_signal(signal.SIGTERM))
    before = signal.getsignal(signal.SIGTERM)
    assert cli.main(["demo"]) == 128 + signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_saved_query_is_a_statement(here, calls, capsys):
    assert start(calls, "query", "spent", "least=5", "who=me", "-D", "a=b", "--output", "csv") == 0
    assert calls.script.text == "EXECUTE QUERY `spent` (`least` => 5, `who` => 'me')"
    assert calls.settings["options"] == {"a": "b"}
    assert start(calls, "--output", "json", "-D", "a=b", "query", "spent", "least=-5") == 0
    assert calls.script.text == "EXECUTE QUERY `spent` (`least` => -5)"
    assert start(calls, "query") == 0
    assert calls.script.text == "SHOW QUERIES"
    for wrong, told in (
        (("query", "spent", "--outputs", "csv"), "unrecognized arguments: --outputs"),
        (("querys", "spent"), "unrecognized arguments: querys spent"),
        (("query", "spent", "-e", "SELECT 1"), "query: not allowed with -e or -f"),
    ):
        with pytest.raises(SystemExit):
            start(calls, *wrong)
        assert told in capsys.readouterr().err
    with pytest.raises(SystemExit):
        start(calls, "query", "spent", "least")
    assert "A parameter is written as NAME=VALUE" in capsys.readouterr().err


def test_only_the_shell_asks(here, calls, monkeypatch):
    start(calls, "-e", "x")
    assert calls.settings["ask"] is None
    at_terminal(monkeypatch)
    start(calls)
    assert calls.settings["ask"] is not None


@pytest.mark.parametrize("mode", [[], ["gateway"]])
def test_an_endpoint_is_a_server_whose_session_it_becomes(here, calls, mode):
    (here / "sqlstream.toml").write_text('[options]\n"parallelism.default" = "3"\n')
    token = here / "token"
    token.write_text("canary-of-a-token\n")
    token.chmod(0o600)
    start(calls, *mode, "--endpoint", "host:8083", "--token-file", str(token), "-D", "table.dml-sync=true", "--var", "A=b", "-e", "SHOW TABLES")
    assert calls.settings["place"] == ServerPlace("http://host:8083", "canary-of-a-token")
    # The project's options are those of the server.
    assert calls.settings["options"] == {"table.dml-sync": "true"} and calls.settings["variables"] == {"A": "b"}
    assert start(calls, "--endpoint", "https://host", "-e", "x") == 0
    assert calls.settings["place"] == ServerPlace("https://host")


def test_a_token_that_others_may_read_is_refused(here, calls, capsys):
    (here / "token").write_text("canary-of-a-token")
    (here / "token").chmod(0o644)
    with pytest.raises(SystemExit):
        start(calls, "--endpoint", "host:1", "--token-file", "token", "-e", "x")
    said = capsys.readouterr().err
    assert "Others may read the file of tokens, token" in said and "canary" not in said


def test_a_shell_joins_the_server_of_its_project_and_a_script_does_not(here, calls, monkeypatch):
    held = private.open_file(private.folder(ProjectFolder(here).served) / "lock", "a+")
    fcntl.flock(held, fcntl.LOCK_EX)
    place = ServerPlace("http://127.0.0.1:1")
    place.write(here)
    start(calls, "-e", "x")
    assert "place" not in calls.settings
    at_terminal(monkeypatch)
    start(calls)
    assert calls.settings["place"] == place and calls.settings["interactive"]
    start(calls, "embedded")
    assert "place" not in calls.settings
    held.close()
    start(calls)
    assert "place" not in calls.settings
