"""The command line: arguments to a session's settings, exit codes out.

Light to import: nothing heavier than argparse before the arguments are known, no planner and no pyspark before the
prompt.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from sqlstream.cli.arguments import Parser
from sqlstream.core import environment, project_folder
from sqlstream.core.defects import defect
from sqlstream.core.errors import SetupError, SqlStreamError
from sqlstream.shell.foreground import Terminated, handled, terminate
from sqlstream.shell.screen import Screen, Script

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlstream.core.storage import Place
    from sqlstream.runtime.engine.session import Engine
    from sqlstream.runtime.jobs.begin.placement import Preview
    from sqlstream.runtime.jobs.control.handed_over import InBackground
    from sqlstream.runtime.monitor.figures import JobProgress
    from sqlstream.runtime.monitor.metrics import JobMetrics
    from sqlstream.session.context import StartsInBackground
    from sqlstream.session.joined.place import ServerPlace
    from sqlstream.session.session import Session
    from sqlstream.shell.session import ShellSession

CONFIG = "sqlstream.toml"
# Each with the module that has its arguments, as ``parser()``, and carries it out.
SUBCOMMANDS = {
    "kafka": "sqlstream.cli.kafka.broker", "demo": "sqlstream.cli.demo", "init": "sqlstream.cli.init", "check": "sqlstream.cli.check",
    "test-udf": "sqlstream.cli.test_udf", "jobs": "sqlstream.cli.jobs", "package": "sqlstream.cli.packaging.command", "serve": "sqlstream.cli.serve",
    "completion": "sqlstream.cli.completing",
}  # fmt: skip
# What may be tried for a command, and what is written instead.
_MEANT = {
    "list": "jobs list", "ps": "jobs list", "run": "-f FILE", "help": "--help", "version": "--version", "queries": "query", "server": "serve",
    **{verb: f"jobs {verb} NAME" for verb in ("start", "stop", "restart", "drop", "why", "show", "logs", "savepoint")},
    **{verb: f"jobs {verb} FILE" for verb in ("diff", "upgrade")},
}  # fmt: skip
# In the environment while a shell asks for completions: how many words of its line call this program.
COMPLETES = "_ARGCOMPLETE"
EPILOG = """\
commands (sqlstream COMMAND --help says more):
  query [NAME ..]   runs a saved query, with PARAMETER=VALUE; no name: lists them
  jobs              jobs of every process: list, stop, start --detach and more
  serve             serves the project: page, Flink's SQL client, JDBC, dbt
  check [FILE ..]   what is wrong or risky in scripts and in the project
  test-udf FILE     runs the doctests of Python functions through SQL's types
  package FILE      packs the project into one file for spark-submit
  kafka             a Kafka broker for development
  init FOLDER       begins a project; --example bank begins a larger one
  demo              shows it all on made-up data
  completion SHELL  lets the tab key complete this command line

A script comes from -f, -e, or from stdin where that is not a terminal; with none
of them the shell opens. Results go to stdout, all else to stderr. Exit codes: 0,
1 after an error in a script or a job of it, 2 for wrong usage, 130 after Ctrl-C,
143 after SIGTERM, 129 after SIGHUP: the jobs stop, and their state is kept."""

# Flags that only stand for an option: flags, metavar, the option, what separates several values, help.
OPTION_FLAGS = (
    (("--master",), "URL", "spark.master", None, "where Spark runs, such as local[4] or spark://host:7077"),
    (("--on-failure",), "TO", "alert.to", None, "who hears of a job that fails: a command, or an address https://.."),
    (("--metrics-port",), "PORT", "metrics.reporter.prom.port", None, "where Prometheus finds metrics of jobs, or a range: the first free one"),
    (("-j", "--jar"), "JAR", "pipeline.jars", ";", "a jar for Spark, such as a JDBC driver (repeat for more)"),
    (("-pyfs", "--pyFiles"), "FILES", "python.files", ",", "Python files and folders for functions"),
    (("-pyarch", "--pyArchives"), "FILES", "python.archives", ",", "archives for Python functions"),
    (("-pyexec", "--pyExecutable"), "PATH", "python.executable", None, "the interpreter of Spark's Python workers"),
    (("-pyclientexec", "--pyClientExecutable"), "PATH", "python.client.executable", None, "accepted, without effect"),
)
# Flags of Flink's client that are refused: flags, why.
REFUSED_FLAGS = (
    (("-s", "--session"), "sessions have no names here: a job is identified by its pipeline.name, its state by its project"),
    (("-u", "--update"), "Flink has dropped it; pass the statement to -e"),
    (("-pyreq", "--pyRequirements"), "nothing is installed; pack an environment, for example with venv-pack, and pass it to -pyarch and -pyexec"),
    (("-d", "--defaults"), "Flink has dropped YAML environment files; write SET statements and pass them to -i"),
)
# The words that may stand first, as in Flink's client: a session of this process, or of a server.
EMBEDDED, GATEWAY = "embedded", "gateway"


@dataclass(frozen=True)
class Fronts:
    """What the command line starts; tests put their own in."""

    session: Callable[..., ShellSession]
    shell: Callable[..., int]
    script: Callable[..., int]
    head_start: Callable[..., Engine | None] = lambda *_: None
    joined: Callable[..., ShellSession] = lambda *given, **more: _joined(*given, **more)


def main(argv: Sequence[str] | None = None, *, fronts: Fronts | None = None) -> int:
    """Run ``sqlstream`` with ``argv``; the exit code comes back."""
    if COMPLETES in os.environ:
        from sqlstream.cli import completing

        completing.answer()
    argv = list(sys.argv[1:] if argv is None else argv)
    with handled(terminate):
        return _main(argv, fronts)


def _main(argv: list[str], fronts: Fronts | None) -> int:
    subcommand = argv[0] if argv and argv[0] in SUBCOMMANDS else None
    try:
        return _client(argv, fronts) if subcommand is None else _subcommand(subcommand, argv[1:])
    except Terminated as end:
        return end.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of stdout went away (``| head``). Python flushes stdout at exit: give it somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        known = error if isinstance(error, SqlStreamError) else defect(error, _of_project().parse_known_args(argv)[0].project or Path.cwd())
        Screen().error(known, of_statement=subcommand is None)
        return 1


def _of_project() -> argparse.ArgumentParser:
    """What has to be known about a subcommand's arguments before the project's settings are read."""
    parser = Parser(add_help=False)
    parser.add_argument("--project", type=_folder)
    parser.add_argument("--no-python", action="store_true")
    return parser


def _client(argv: list[str], fronts: Fronts | None, place: ServerPlace | None = None) -> int:
    """``place``: the server whose session it becomes, where that is settled."""
    parser = argument_parser()
    mode = argv[0] if argv and argv[0] in (EMBEDDED, GATEWAY) else None
    arguments, words = parser.parse_known_args(argv if mode is None else argv[1:])
    if (query := _query_statement(parser, words)) is not None:
        if arguments.execute is not None or arguments.file is not None:
            parser.error("query: not allowed with -e or -f")
        arguments.execute = query
    project = _project(parser, arguments.project, _file(arguments.file))
    given = _flag_options(arguments) | dict(arguments.D)
    options = project_options(parser, project) | given
    init_script = _script_of(parser, arguments.init) if arguments.init else None
    script = _script(parser, arguments)
    place = place or _place(parser, arguments, mode, project, interactive=script is None)
    # While one types the prompt replaces the streams of a terminal; one that goes elsewhere stays what it is.
    screen = Screen(
        out=None if sys.stdout.isatty() else sys.stdout,
        err=None if sys.stderr.isatty() else sys.stderr,
        verbose=options.get("sql-client.verbose", "").lower() == "true",
        interactive=script is None and sys.stdin.isatty() and sys.stdout.isatty(),
        output=arguments.output,
        timestamps=arguments.timestamps,
        log_format=arguments.log_format,
    )
    fronts = fronts or Fronts(_session, _shell, _run_script, _head_start)

    def open_session() -> ShellSession:
        user: dict[str, Any] = {
            "variables": dict(arguments.var), "interactive": script is None, "notify": screen.notify, "emit": screen.emit, "save": arguments.save,
            "ask": _asker(screen) if script is None else None, "keep_stopped": arguments.keep_stopped,
        }  # fmt: skip
        if place is not None:
            return fronts.joined(place, project, options=given, progress=_progress(screen), **user)
        # An init file may still say how Spark is to be started.
        engine = fronts.head_start(project, options, screen.notify) if script is None and init_script is None else None
        return fronts.session(
            project, options=options, progress=_progress_of_jobs(screen), background=_background(project), engine=engine, owns_engine=True, **user
        )  # fmt: skip

    if script is None:
        return fronts.shell(open_session, screen, (arguments.history or project_folder.ProjectFolder(project).history).expanduser(), init=init_script)
    # A supervisor that has started it again does so until nothing hinders it any more.
    again = {"hindered": _try_again()} if arguments.keep_stopped else {}
    return fronts.script(open_session, script, screen, init=init_script, echo=arguments.execute is None, **again)


def _previewed(argv: list[str]) -> list[Preview]:
    """What would become of the jobs of a script, which the client would run with these arguments. Raises SqlStreamError."""
    from sqlstream.session.runs.previewing import Previewing
    from sqlstream.session.script import run_script

    parser = argument_parser()
    arguments = parser.parse_args(argv)
    project = _project(parser, arguments.project, _file(arguments.file))
    options = project_options(parser, project) | _flag_options(arguments) | dict(arguments.D)
    scripts = [_script_of(parser, arguments.init)] if arguments.init else []
    script = _script(parser, arguments)
    assert script is not None
    previewing = Previewing()
    session = _session(project, options=options, variables=dict(arguments.var), notify=Screen().notify)
    context = session.context.isolated_copy(previewing)
    for one in (*scripts, script):
        for _ in run_script(context, one.text, one.name):
            pass
    return previewing.seen


def _asker(screen: Screen) -> Callable[[str, Callable[[], bool]], bool]:
    def ask(question: str, interrupted: Callable[[], bool]) -> bool:
        from sqlstream.shell.confirm import confirmed

        return confirmed(question, screen, interrupted)

    return ask


def _progress(screen: Screen) -> Callable[[Sequence[JobProgress]], None]:
    from sqlstream.shell.progress import Progress

    return Progress(screen)


def _progress_of_jobs(screen: Screen) -> Callable[[Sequence[JobMetrics]], None]:
    from sqlstream.runtime.monitor.figures import job_progress

    shown = _progress(screen)
    return lambda running: shown(list(map(job_progress, running)))


def _place(
    parser: argparse.ArgumentParser, arguments: argparse.Namespace, mode: str | None, project: Path, *, interactive: bool
) -> ServerPlace | None:
    """Where the server is whose session it becomes; None for a session of this process: a shell joins the project's server where one runs."""
    if arguments.endpoint is None:
        if mode == GATEWAY:
            parser.error("gateway: --endpoint says where the server is")
        if arguments.token_file is not None:
            parser.error("--token-file: only with --endpoint")
        if mode == EMBEDDED or not interactive:
            return None
        from sqlstream.session.joined.place import served_at

        return served_at(project)
    if mode == EMBEDDED:
        parser.error("--endpoint: not allowed with embedded")
    from sqlstream.session.joined.place import ServerPlace

    url = arguments.endpoint if "://" in arguments.endpoint else f"http://{arguments.endpoint}"
    return ServerPlace(url, None if arguments.token_file is None else _token(parser, arguments.token_file))


def _token(parser: argparse.ArgumentParser, file: Path) -> str:
    from sqlstream.core.tokens import Tokens

    try:
        return Tokens.read(file).of_client()
    except SetupError as error:
        parser.error(f"--token-file: {error.message} {error.hint or ''}".rstrip())


def _background(project: Path) -> StartsInBackground:
    def start(file: Path, folder: Place, stop: Callable[[], None], interrupted: Callable[[], bool]) -> InBackground:
        from sqlstream.cli.starting import handed_over

        return handed_over(project, folder, file, stop, interrupted)

    return start


def _project(parser: argparse.ArgumentParser, folder: Path | None, script: str | Path | None = None, *, runs: bool = True) -> Path:
    """The project's folder, which this process is about from now on: see ``_found``."""
    found = _found(parser, folder, script, runs=runs)
    environment.use_project(found)
    return found


def _found(parser: argparse.ArgumentParser, folder: Path | None, script: str | Path | None, *, runs: bool) -> Path:
    """The project's folder, of the file ``script`` if there is one; which one it is is said before anything of it is read.

    ``runs``: code of it will run.
    """
    if folder is not None:
        return folder
    here = Path.cwd()
    try:
        search = project_folder.find_project(here, None if script is None else Path(script).expanduser().resolve())
    except SetupError as error:
        if not runs:
            return here
        parser.error(f"{error.message} ({error.hint})")
    for folder, owner in search.passed:
        print(f"{folder} is a project of {owner}, so it is not used; --project {folder} uses it.", file=sys.stderr)
    if search.path != here:
        print(f"Project: {search.path}", file=sys.stderr)
    elif search.begins and script is not None and runs:
        print(f"A project begins in {here}", file=sys.stderr)
    return search.path


def _file(name: str | None) -> str | None:
    """The file that -f names, if it is one."""
    return None if name in (None, "-") else name.removeprefix("file://")


def _named(arguments: argparse.Namespace) -> Path | None:
    """The script that a subcommand is about, if it is one."""
    name = getattr(arguments, "file", None) or getattr(arguments, "name", None)
    return Path(name) if name is not None and Path(name).is_file() else None


def flattened(table: dict[str, object], prefix: str = "") -> dict[str, str]:
    """A TOML table as options: ``a.b = 1``, quoted or not, is ``{"a.b": "1"}``. Raises ValueError for a list."""
    options: dict[str, str] = {}
    for key, value in table.items():
        match value:
            case dict():
                options |= flattened(value, f"{prefix}{key}.")
            case bool():
                options[prefix + key] = str(value).lower()
            case str() | int() | float():
                options[prefix + key] = str(value)
            case _:
                raise ValueError(f"option {prefix + key} must be a string, a number or a boolean")
    return options


def _query_statement(parser: argparse.ArgumentParser, words: list[str]) -> str | None:
    """What is not an option, as a statement: ``query NAME parameter=value ..``, wherever the options stand."""
    if not words:
        return None
    if words[0] in SUBCOMMANDS:
        parser.error(f"'{words[0]}' comes first, and its options after it: sqlstream {words[0]} ..")
    if words[0] in _MEANT:
        parser.error(f"There is no command '{words[0]}'. Did you mean 'sqlstream {_MEANT[words[0]]}'?")
    if words[0] != "query" or (unknown := next((w for w in words if w.startswith("-")), None)):
        parser.error(f"unrecognized arguments: {' '.join(words) if words[0] != 'query' else unknown}")
    from sqlstream.core.errors import ValidationError
    from sqlstream.session.backslash import execute_query

    try:
        return execute_query(words[1:])
    except ValidationError as error:
        parser.error(error.message)


def argument_parser() -> argparse.ArgumentParser:
    """The flags of the client."""
    parser = Parser(
        words=("query", *SUBCOMMANDS),
        prog="sqlstream",
        usage="sqlstream [embedded | gateway] [-f FILE | -e SQL] [options]",
        description="Runs Flink SQL scripts, unchanged, as Spark streaming jobs over Kafka and Delta.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    source = parser.add_mutually_exclusive_group()
    source.add_argument("-f", "--file", metavar="FILE", help="run a script and wait for its jobs (- is stdin)")
    source.add_argument("-e", "--execute", metavar="SQL", help="run these statements")
    add = parser.add_argument
    many: dict[str, Any] = {"action": "append", "default": []}
    add("-i", "--init", metavar="FILE", help="declarations and settings to start with")
    add("--output", choices=("tableau", "csv", "json"), default="tableau", help="how rows are printed; json: one object per line")
    add("-D", metavar="KEY=VALUE", type=_pair, **many, help="set an option, as SET does")
    add("--var", metavar="NAME=VALUE", type=_pair, **many, help="the value of ${NAME}")
    add("--project", metavar="DIR", type=_folder, help="the project's folder (default: found from the script upwards, else from here)")
    add("--endpoint", metavar="URL", help="the server whose session this becomes (sqlstream serve); a shell finds that of its project by itself")
    add("--token-file", metavar="FILE", type=Path, help="a file with the token that the server of --endpoint wants")
    add("--save", action="store_true", help="save what CREATE, ALTER and DROP declare to the project's catalog")
    add("--timestamps", action="store_true", help="notices begin with the time, as in a log")
    add("--log-format", choices=("text", "json"), default="text", help="how all but results is written; json: one object per line")
    add("--keep-stopped", action="store_true", help="do not start jobs that were stopped by name: sqlstream jobs start NAME does")
    add("-hist", "--history", metavar="FILE", type=Path, help="default .sqlstream/history of the project")
    add("-l", "--library", metavar="DIR", type=_folder, **many, help="a folder of jars")
    for flags, metavar, key, separator, text in OPTION_FLAGS:
        action = "append" if separator else "store"
        add(*flags, metavar=metavar, dest=key, action=action, help=f"{text}; sets {key}")
    for flags, why in REFUSED_FLAGS:
        add(*flags, metavar="X", action=_Refuse, why=why, help=argparse.SUPPRESS)
    add("--version", action=_Version, nargs=0, help="print the version")
    return parser


class _Refuse(argparse.Action):
    def __init__(self, why: str, **more: object) -> None:
        super().__init__(**more)  # type: ignore[arg-type]
        self.why = why

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        parser.error(f"{'/'.join(self.option_strings)}: {self.why}")


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from sqlstream.core.release import release

        print(f"sqlstream {release()}")
        parser.exit()


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form KEY=VALUE")
    return key, value


def _folder(text: str) -> Path:
    path = Path(text).expanduser()
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is not a folder")
    return path.resolve()


def _flag_options(arguments: argparse.Namespace) -> dict[str, str]:
    options = {}
    for _, _, key, separator, _ in OPTION_FLAGS:
        value = getattr(arguments, key)
        if key == "pipeline.jars":
            jars = [str(jar) for folder in arguments.library for jar in sorted(folder.glob("*.jar"))]
            value = [*(jar if "://" in jar else str(Path(jar).expanduser().absolute()) for jar in value or []), *jars]
        if value:
            options[key] = separator.join(value) if separator else value
    return options


def project_options(parser: argparse.ArgumentParser, project: Path, notify: Callable[[str], None] | None = None) -> dict[str, str]:
    """The options of the project's ``sqlstream.toml``; one that can't be read ends the process. ``notify`` hears of what means nothing."""
    path = project / CONFIG
    if not path.is_file():
        return {}
    import tomllib

    from sqlstream.cli.misnamed import misnamed

    try:
        read = tomllib.loads(path.read_text("utf-8"))
        if not isinstance(warehouse := read.get("warehouse", ""), str):
            raise ValueError("warehouse must be a folder or a URI")
        for _, message, hint in misnamed(read):
            (notify or _noted_once)(f"{path}: {message} {hint}")
        return ({"table.warehouse": warehouse} if warehouse else {}) | flattened(read.get("options", {}))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValueError, OSError) as error:
        parser.error(f"{path}: {error}")


@cache
def _noted_once(line: str) -> None:
    Screen().notify(line)


def _script(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> Script | None:
    """What is to run; None opens the shell."""
    if arguments.execute is not None:
        return Script(arguments.execute)
    if arguments.file is not None and arguments.file != "-":
        return _script_of(parser, arguments.file)
    if arguments.file == "-" or not sys.stdin.isatty():
        return Script(sys.stdin.read(), "<stdin>")
    return None


def _script_of(parser: argparse.ArgumentParser, name: str) -> Script:
    try:
        return Script(Path(name.removeprefix("file://")).expanduser().read_text("utf-8-sig"), name)
    except (OSError, UnicodeDecodeError) as error:
        parser.error(f"cannot read {name}: {error.strerror if isinstance(error, OSError) else 'it is not UTF-8'}")


def _session(project: Path, **more: Any) -> Session:
    from sqlstream.session.session import Session

    return Session(project, **more)


def _joined(*arguments: Any, **more: Any) -> ShellSession:
    from sqlstream.session.joined.session import JoinedSession

    return JoinedSession(*arguments, width=lambda: shutil.get_terminal_size().columns, **more)


def _head_start(project: Path, options: Mapping[str, str], notify: Callable[[str], None]) -> Engine | None:
    """Spark's JVM, which begins before this process loads the planner, so that both are there sooner."""
    if not _accepted(options):
        return None
    from sqlstream.runtime.engine.session import Engine

    engine = Engine(project.resolve(), lambda: options, notify)
    engine.start(warm=True)
    return engine


def _accepted(options: Mapping[str, str]) -> bool:
    """Whether none is refused. The session says which."""
    from sqlstream.core import settings

    try:
        for key, value in options.items():
            settings.check(key, value)
    except SqlStreamError:
        return False
    return True


def _shell(*arguments: Any, **more: Any) -> int:
    from sqlstream.shell.repl import run_shell

    return run_shell(*arguments, **more)


def _try_again() -> int:
    from sqlstream.cli.background import TRY_AGAIN

    return TRY_AGAIN


def _run_script(*arguments: Any, **more: Any) -> int:
    from sqlstream.shell.script import run_script

    return run_script(*arguments, **more)


def _subcommand(name: str, argv: list[str]) -> int:
    if name == "kafka":
        from sqlstream.cli.kafka import broker

        return broker.main(argv)
    if name in ("check", "test-udf"):
        from sqlstream.cli import check
        from sqlstream.cli import test_udf as doctests

        arguments, _ = _of_project().parse_known_args(argv)
        project = _project(argument_parser(), arguments.project, runs=not arguments.no_python)
        if name == "check":
            # Its findings have what is to be said of the file.
            return check.main(argv, project, project_options(argument_parser(), project, lambda line: None))
        return doctests.main(argv, project, project_options(argument_parser(), project))
    if name == "jobs":
        from sqlstream.cli import jobs

        arguments, _ = _of_project().parse_known_args(argv)
        if "-h" in argv or "--help" in argv:
            jobs.parser().parse_args(argv)
        named, _ = jobs.parser().parse_known_args(argv)
        project = _project(jobs.parser(), arguments.project, _named(named))
        return jobs.main(argv, project, project_options(jobs.parser(), project), _previewed, lambda argv, place: _client(argv, None, place))
    if name == "package":
        from sqlstream.cli.packaging import command

        if "-h" in argv or "--help" in argv:
            command.parser().parse_args(argv)
        arguments, _ = _of_project().parse_known_args(argv)
        project = _project(command.parser(), arguments.project, runs=False)
        return command.main(argv, project, project_options(command.parser(), project))
    if name == "serve":
        from sqlstream.cli import serve

        if "-h" in argv or "--help" in argv:
            serve.parser().parse_args(argv)
        arguments, _ = _of_project().parse_known_args(argv)
        project = _project(serve.parser(), arguments.project)
        return serve.main(argv, project, project_options(serve.parser(), project))
    if name == "completion":
        from sqlstream.cli import completing

        return completing.main(argv)
    if name == "init":
        from sqlstream.cli import init

        return init.main(argv)
    from sqlstream.cli import demo

    return demo.main(argv)
