"""``sqlstream completion SHELL``, and what it makes a shell ask: the words that may stand at the cursor of a command line.

argcomplete speaks with the shells. The options and choices of a command come from its parser; what else may stand in a place is told by its metavar.
"""

from __future__ import annotations

import argparse
import importlib
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.cli import main as client
from sqlstream.cli.arguments import Parser, actions
from sqlstream.core import project_folder, settings, storage
from sqlstream.core.errors import SqlStreamError
from sqlstream.core.job_names import short_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SHELLS = ("bash", "zsh", "fish")
_WHERE = """\
Put the line of your shell into the file that it reads when it starts:
  eval "$(sqlstream completion bash)"        ~/.bashrc
  eval "$(sqlstream completion zsh)"         ~/.zshrc, below compinit
  sqlstream completion fish | source         ~/.config/fish/config.fish"""


def parser() -> argparse.ArgumentParser:
    """The arguments of ``sqlstream completion``."""
    made = Parser(
        prog="sqlstream completion",
        description="Prints what lets the tab key complete commands, options, jobs and saved queries.",
        epilog=_WHERE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("shell", choices=SHELLS)
    return made


def main(argv: list[str]) -> int:
    """Print what a shell is to run; the exit code."""
    from argcomplete.shell_integration import shellcode

    print(shellcode(["sqlstream"], shell=parser().parse_args(argv).shell))
    return 0


def answer() -> None:
    """Tell the shell that asks what may stand at the cursor of its line, and end the process."""
    import argcomplete
    from argcomplete.lexers import split_line

    # In the line stands first what is called: sqlstream, or python -m sqlstream.
    first = int(os.environ[client.COMPLETES])
    words = split_line(os.environ["COMP_LINE"], int(os.environ["COMP_POINT"]))[3][first:]
    if words and words[0] in client.SUBCOMMANDS:
        os.environ[client.COMPLETES] = str(first + 1)
    asked = _parser(words)
    project = _project(words)
    for action in actions(asked):
        if isinstance(action.metavar, str) and action.metavar in _OFFERS:
            action.completer = _completer(action.metavar, project, words)  # type: ignore[attr-defined]
    argcomplete.autocomplete(asked, always_complete_options=False, validator=_fits)


class _Inside(str):
    """A word that has what is typed somewhere else than at its beginning: jobs are called so."""


def _fits(word: str, prefix: str) -> bool:
    return word.startswith(prefix) or isinstance(word, _Inside)


def _parser(words: list[str]) -> argparse.ArgumentParser:
    """The arguments of the command that ``words`` begin with."""
    if words and words[0] in client.SUBCOMMANDS:
        own: argparse.ArgumentParser = importlib.import_module(client.SUBCOMMANDS[words[0]]).parser()
        return own
    asked = client.argument_parser()
    if "query" in words:
        asked.add_argument("query")
        asked.add_argument("name", metavar="QUERY")
        asked.add_argument("values", nargs="*", metavar="PARAMETER")
    elif not words:
        asked.add_argument("command", nargs="?", choices=("query", client.EMBEDDED, client.GATEWAY, *client.SUBCOMMANDS))
    return asked


def _completer(metavar: str, project: Path, words: list[str]) -> Callable[..., list[str]]:
    from argcomplete.completers import FilesCompleter

    def complete(prefix: str, **_: object) -> list[str]:
        files = FilesCompleter()(prefix) if metavar.startswith("FILE") else []
        offered = _OFFERS[metavar](project, words)
        begun = [word for word in offered if word.startswith(prefix)]
        inside = [_Inside(word) for word in offered if prefix in word] if not begun and _OFFERS[metavar] is _jobs else []
        return [*begun, *inside, *files]

    return complete


def _project(words: list[str]) -> Path:
    """The project that a command line is about."""
    if "--project" in words[:-1]:
        return Path(words[words.index("--project") + 1]).expanduser()
    with suppress(SqlStreamError):
        return project_folder.find_project(Path.cwd()).path
    return Path.cwd()


def _jobs(project: Path, _words: list[str]) -> list[str]:
    """The jobs of a project as the screen names them, where they are on a file system of this machine: nothing is started for others."""
    from sqlstream.runtime.jobs.control import registry

    folder = storage.job_folders(
        client.project_options(client.argument_parser(), project, lambda line: None), project, storage.Hadoop(_no_engine)
    ).jobs
    return short_names(sorted({record.name for record in registry.records(folder)})) if isinstance(folder, Path) else []


def _no_engine() -> storage.Engine:
    raise AssertionError("Nothing is read elsewhere.")


def _queries(project: Path, _words: list[str]) -> list[str]:
    return sorted(file.stem for file in (project / "queries").glob("*.sql"))


def _parameters(project: Path, words: list[str]) -> list[str]:
    """Those of the saved query that the line names."""
    from sqlstream.session.queries import saved_queries

    query = next((q for q in saved_queries(project) if q.name in words), None)
    return [] if query is None else [f"{parameter.name}=" for parameter in query.parameters]


def _settings(*_: object) -> list[str]:
    return [f"{option.key}=" for option in settings.SETTINGS]


def _nothing(*_: object) -> list[str]:
    return []


# What may stand in the place of a metavar, by the project and the words before the cursor; one that begins with FILE offers files, too.
_OFFERS: dict[str, Callable[[Path, list[str]], Iterable[str]]] = {
    "NAME": _jobs, "FILE|NAME": _jobs, "QUERY": _queries, "PARAMETER": _parameters, "KEY=VALUE": _settings, "NAME=VALUE": _nothing, "SQL": _nothing,
}  # fmt: skip
