"""``sqlstream init``: the example project, written out as the start of a project of one's own. The demo runs on a copy of it."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from sqlstream.core.errors import SetupError, SqlStreamError
from sqlstream.core.project_folder import MARKS
from sqlstream.shell.screen import Screen

EXAMPLE = Path(__file__).parent / "example"
CATALOG, QUERIES, FUNCTIONS = "catalog/*.sql", "queries/*.sql", "udfs/*.py"
PARTS = (CATALOG, QUERIES, FUNCTIONS)
NEXT = """\
{files} files are in {folder}: tables in catalog/, saved queries in queries/, functions in udfs/.

What to try next:
  cd {folder}
  sqlstream check                               what is wrong or risky in them
  sqlstream kafka start                         a development broker; then export KAFKA_BOOTSTRAP=<the address it names>
  python -m sqlstream.cli.bank transactions | sqlstream kafka produce transactions - --key-separator "$(printf '\\t')" --partitions 5
  sqlstream -f queries/account_activity.sql     a saved query as a streaming job into Delta
  sqlstream                                     the shell: SHOW TABLES; DESCRIBE transactions; HELP;"""


def main(argv: list[str]) -> int:
    """Write the example project into a folder; the exit code."""
    parser = argparse.ArgumentParser(prog="sqlstream init", description="Write the example project into a folder, as a start.")
    parser.add_argument("folder", type=Path, help="the project's folder, which is created if it does not exist")
    folder = parser.parse_args(argv).folder.expanduser()
    screen = Screen()
    try:
        files = _begun(folder)
    except SqlStreamError as error:
        screen.error(error)
        return 1
    screen.notify(NEXT.format(files=files, folder=folder))
    return 0


def _begun(folder: Path) -> int:
    """How many files were written. Raises SetupError, and writes nothing, where there is a project already."""
    there = [name for name in dict.fromkeys((*MARKS, *(part.partition("/")[0] for part in PARTS))) if os.path.lexists(folder / name)]
    if there:
        raise SetupError(f"There is already a project in {folder}: it has '{there[0]}'.", hint="Name a new folder.")
    try:
        return write_out(EXAMPLE, folder, PARTS)
    except OSError as error:
        raise SetupError(f"The project cannot be written: {error.filename or folder}: {error.strerror}.") from None


def write_out(example: Path, folder: Path, parts: tuple[str, ...]) -> int:
    """Copy ``parts`` of the project ``example`` into ``folder``; the number of files. Raises OSError.

    Texts only: an installed package may be read-only, the copies are not.
    """
    files = [file for part in parts for file in sorted(example.glob(part))]
    for file in files:
        copy = folder / file.relative_to(example)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())
    return len(files)
