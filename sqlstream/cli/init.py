"""``sqlstream init``: a project of one's own, with one table and one query that run; ``--example`` writes a larger one out.

The demo runs on a copy of the example.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from sqlstream.cli import settings_file
from sqlstream.cli.arguments import Parser
from sqlstream.core.errors import SetupError, SqlStreamError
from sqlstream.core.project_folder import MARKS
from sqlstream.shell.screen import Screen

_NEW = Path(__file__).parent / "new_project"
EXAMPLE = Path(__file__).parent / "example"
CATALOG, QUERIES, FUNCTIONS = "catalog/*.sql", "queries/*.sql", "udfs/*.py"
PARTS = (CATALOG, QUERIES, FUNCTIONS)
_FOLDERS = ("catalog", "queries", "udfs")
_SETTINGS, _IGNORED = "sqlstream.toml", ".gitignore"
# What a project's folder has that is not for git.
_IGNORE = ".sqlstream/\nspark-warehouse/\nmetastore_db/\nderby.log\n__pycache__/\n"
_WHAT = "{what} in {folder}: tables are in catalog/, saved queries in queries/,\nfunctions in udfs/, settings in sqlstream.toml."
# At most 80 columns wide.
_NEXT = {
    None: f"""\
{_WHAT}

What to try next:
  cd {{folder}}
  sqlstream                              the shell: SELECT * FROM orders; HELP;
                                         \\n there lists the saved queries
  sqlstream query orders_per_customer    runs the saved query
  sqlstream kafka start                  a development broker: \\infer TOPIC
                                         makes a table of a topic
  sqlstream serve                        a page of its jobs, in the browser
  sqlstream init bank --example bank     a larger project, to look at""",
    "bank": f"""\
{_WHAT}

What to try next:
  cd {{folder}}
  sqlstream check                        what is wrong or risky in them
  sqlstream kafka start                  a development broker, with its topics:
  python -m sqlstream.cli.bank transactions | sqlstream kafka produce \\
    transactions - --key-separator "$(printf '\\t')" --partitions 5
  sqlstream -f queries/account_activity.sql    a saved query as a job
  sqlstream                              the shell: DESCRIBE transactions; HELP;""",
}
_CALLED = {None: "A project is", "bank": "The bank is"}


def parser() -> Parser:
    """The arguments of ``sqlstream init``."""
    made = Parser(prog="sqlstream init", description="Begin a project in a folder: one table, one query, and every setting.")
    made.add_argument("folder", help="the project's folder, which is created if it does not exist")
    made.add_argument("--example", choices=[name for name in _NEXT if name], help="with the tables, queries and functions of an example")
    return made


def main(argv: list[str]) -> int:
    """Write a project into a folder; the exit code."""
    own = parser()
    arguments = own.parse_args(argv)
    if not arguments.folder:
        own.error("name a folder; . is the current one")
    folder, screen = Path(arguments.folder).expanduser(), Screen()
    try:
        _begin(folder, EXAMPLE if arguments.example else _NEW)
    except SqlStreamError as error:
        screen.error(error)
        return 1
    # As it can be typed behind cd.
    typed = ("./" if str(folder).startswith("-") else "") + str(folder)
    said = _NEXT[arguments.example].format(what=_CALLED[arguments.example], folder=shlex.quote(typed))
    screen.notify(said.replace("  cd .\n", ""))
    return 0


def _begin(folder: Path, example: Path) -> None:
    """Write ``example`` and its settings into ``folder``. Raises SetupError, and writes nothing, where there is a project already."""
    there = [name for name in dict.fromkeys((*MARKS, *_FOLDERS)) if os.path.lexists(folder / name)]
    if there:
        raise SetupError(f"There is already a project in {folder}: it has '{there[0]}'.", hint="Name a new folder.")
    try:
        write_out(example, folder, PARTS)
        for name in _FOLDERS:
            (folder / name).mkdir(exist_ok=True)
            if not any((folder / name).iterdir()):
                # Git keeps no empty folder.
                (folder / name / ".gitkeep").touch()
        (folder / _SETTINGS).write_text(settings_file.text(), "utf-8")
        if not (folder / _IGNORED).exists():
            (folder / _IGNORED).write_text(_IGNORE, "utf-8")
    except OSError as error:
        raise SetupError(f"The project cannot be written: {error.filename or folder}: {error.strerror}.") from None


def write_out(example: Path, folder: Path, parts: tuple[str, ...]) -> None:
    """Copy ``parts`` of the project ``example`` into ``folder``. Raises OSError.

    Texts only: an installed package may be read-only, the copies are not.
    """
    for file in (file for part in parts for file in example.glob(part)):
        copy = folder / file.relative_to(example)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())
