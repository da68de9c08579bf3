"""``sqlstream check``. In: files of SQL. Out: one line per finding. No JVM starts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.cli import misnamed
from sqlstream.cli.arguments import Parser
from sqlstream.core.counts import counted
from sqlstream.core.defects import as_defects
from sqlstream.core.depth import deeply
from sqlstream.core.errors import SqlStreamError, ValidationError
from sqlstream.lint.scripts import Finding, of_error, statement_findings
from sqlstream.lint.subject import Subject
from sqlstream.session.checker import query_findings
from sqlstream.session.findings import declared_errors
from sqlstream.session.queries import SavedQuery
from sqlstream.sql.masking import masked_text
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.statements.split import split
from sqlstream.sql.tables import Table, View
from sqlstream.udf.declarations.modules import CONNECTORS, FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sqlstream.plan.planned import Planned
    from sqlstream.session.session import Session

# Exit codes.
CLEAN, FOUND, FAILED = 0, 1, 2


def parser() -> Parser:
    """The arguments of ``sqlstream check``."""
    made = Parser(prog="sqlstream check", description="Checks scripts, saved queries and catalog files without running them.")
    made.add_argument(
        "files", nargs="*", type=Path, metavar="FILE",
        help="a folder stands for all in it that ends in .sql; default: the project's folders and its sqlstream.toml",
    )  # fmt: skip
    made.add_argument("--project", type=Path, help="the project's folder (default: found from here upwards)")
    made.add_argument("--output", choices=("text", "json"), default="text", help="json: one object per line")
    made.add_argument("--no-python", action="store_true", help="don't run the modules of functions: their text says what types they have")
    return made


def main(argv: list[str], project: Path, options: Mapping[str, str]) -> int:
    """Check files of ``project``, whose settings are ``options``; the exit code comes back."""
    from sqlstream.session.session import Session

    own = parser()
    arguments = own.parse_args(argv)
    session = Session(project, options=options, notify=lambda line: None, python=not arguments.no_python)
    given = {path: in_folder(path) if path.is_dir() else [path] for path in arguments.files}
    files = [file for found in given.values() for file in found] or project_files(session.project)
    own_settings = [] if arguments.files else [file for file in [session.project / "sqlstream.toml"] if file.is_file()]
    missing = [str(f) for f in files if not f.is_file()]
    if missing:
        own.error(f"no such file: {', '.join(missing)}")
    if empty := [str(path) for path, found in given.items() if not found]:
        own.error(f"no file that ends in .sql: {', '.join(empty)}")
    of_settings = [finding for file in own_settings for finding in misnamed.findings(_text(file), _shown(file), options)]
    listed = [*of_settings, *deeply(lambda: list(findings(session, files)))]
    for one in listed:
        print(one.as_json() if arguments.output == "json" else one)
    if arguments.output == "text":
        sys.stdout.flush()  # what was found stands above how much it is, also in one file
        print(f"{counted(len(files), 'file')} checked, {counted(len(listed), 'finding')}", file=sys.stderr)
    return FAILED if any(f.error for f in listed) else FOUND if listed else CLEAN


def project_files(project: Path) -> list[Path]:
    """The catalog's files, the saved queries and the modules of functions and connectors."""
    modules = [file for folder in (FOLDER, CONNECTORS) for file in sorted((project / folder).glob("*.py"))]
    return [*sorted((project / "catalog").rglob("*.sql")), *sorted((project / "queries").glob("*.sql")), *modules]


def in_folder(folder: Path) -> list[Path]:
    """The files of SQL in a folder and those in it, but in hidden ones."""
    return sorted(
        file for file in folder.rglob("*.sql") if file.is_file() and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    )


def findings(session: Session, files: Iterable[Path]) -> Iterator[Finding]:
    """What is to be said about ``files``. All of them have the catalog of ``session``; what one declares the others do not see."""
    for file in files:
        name = _shown(file)
        if file.resolve().is_relative_to(session.project / "catalog"):
            yield from catalog_findings(session, file.resolve(), name)
            continue
        if file.suffix == ".py":
            modules = session.planner.modules
            yield from sorted(of_error(e, name) for e in _errors_in(modules.shown(file.resolve()), modules.errors))
            continue
        try:
            with as_defects(session.project):
                yield from query_findings(SavedQuery(file.stem, file, _text(file)), name, session)
        except SqlStreamError as error:
            yield of_error(error, name)


def _errors_in(shown: str, errors: Iterable[SqlStreamError]) -> list[SqlStreamError]:
    """Those of ``errors`` that are about the file that is shown as ``shown``."""
    return [e for e in errors if e.location is not None and e.location.file == shown]


def catalog_findings(session: Session, file: Path, name: str) -> list[Finding]:
    """What is to be said about a file of the project's catalog, which has been loaded."""
    planner = session.planner
    listed = [of_error(e, name) for e in _errors_in(planner.files.shown(file), planner.errors)]
    dry = planner.isolated_copy(dry=True)
    for source in planner.files.sources.values():
        if source.file != file or not isinstance(source.item, Table | View):
            continue
        statement = next((s for s in split(source.text) if s.start == source.start), None)
        if statement is None:
            continue
        tree = parse(statement)
        errors: list[SqlStreamError] = []
        planned: tuple[Planned, ...] = ()
        env = dry.environment(*source.scope)
        try:
            with as_defects(session.project):
                if isinstance(source.item, Table):
                    errors, _ = declared_errors(source.item, env, tree)
                else:
                    planned = (dry.planned(source.item.query, env),)
        except SqlStreamError as error:
            errors.append(error)
        listed += (of_error(e.located(masked_text(source.text), name, source.start), name) for e in errors)
        subject = Subject(tree, planned, source.item if isinstance(source.item, Table) else None, local=False)
        listed += statement_findings(subject, source.text, name, source.start)
    return sorted(set(listed))


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else "it is not UTF-8"
        raise ValidationError(f"Cannot read the file: {reason}.") from None


def _shown(file: Path) -> str:
    """``file`` as an editor opens it from here."""
    here = Path.cwd()
    path = file.resolve()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else str(file)
