"""The catalog's files: ``catalog/**/*.sql`` of a project, loaded when a session starts and kept in step with its
permanent objects.

A file contains CREATE statements (and USE, for what follows in it). Unqualified names in a file directly under
``catalog/`` are in the default database, those under ``catalog/<database>/`` in that database, which exists by that,
and those under ``catalog/<catalog>/<database>/`` in a database of another catalog. A broken statement is reported and
left out; the others load. Nothing that the session did not write or load is overwritten, and no secret is written.
"""

from __future__ import annotations

import fcntl
import hashlib
import unicodedata
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream import connectors
from sqlstream.catalog import ddl, declare, functions, types
from sqlstream.catalog.entries import Catalog, Database, UserFunction
from sqlstream.catalog.schema import NOTHING
from sqlstream.core import private
from sqlstream.core.defects import as_defects
from sqlstream.core.errors import SetupError, SqlStreamError, ValidationError
from sqlstream.core.project_folder import ProjectFolder
from sqlstream.sql.masking import masked_text
from sqlstream.sql.quoting import quote
from sqlstream.sql.statements.split import StatementText, split
from sqlstream.sql.syntax import ast
from sqlstream.sql.tables import ObjectPath, Table, View

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.catalog.namespaces import CatalogManager
    from sqlstream.sql.bind import Scope

Parse = Callable[[str | StatementText], exp.Expression]
Item = Table | View | UserFunction | Database | Catalog
ORDER: dict[type, int] = {
    ast.CreateCatalog: 0,
    ast.CreateDatabase: 1,
    ast.CreateFunction: 2,
    ast.CreateTable: 3,
    ast.CreateView: 4,
}


@dataclass(frozen=True)
class ObjectKey:
    """An object of the catalog; kind is RELATION (a table or a view), FUNCTION, DATABASE or CATALOG."""

    kind: str
    path: ObjectPath


@dataclass(frozen=True)
class Definition:
    """Where an object stands: the file, its text, the scope of bare names, what it declares, and whether it is alone in
    there."""

    file: Path
    text: str
    start: int
    scope: tuple[str, str]
    alone: bool
    item: Item | None


@dataclass(frozen=True)
class _Piece:
    """A statement of a file that is to be loaded."""

    file: Path
    text: str
    start: int
    scope: tuple[str, str]
    statement: exp.Expression


class CatalogFiles:
    """The catalog files of the folder ``root``, and which object stands in which."""

    def __init__(self, root: Path, manager: CatalogManager, parse: Parse) -> None:
        self.root = root
        self.folder = root / "catalog"
        self.sources: dict[ObjectKey, Definition] = {}
        self.builtin = (manager.current_catalog, manager.current_database)
        self._parse = parse

    def owns(self, key: ObjectKey) -> bool:
        """Whether ``key`` came from a file, or was saved to one."""
        return key in self.sources

    def holds(self, key: ObjectKey) -> bool:
        """Whether the database ``key`` is declared in a file, or by the folder of one."""
        return key in self.sources or any(s.scope == key.path[:2] for s in self.sources.values())

    # Loading

    def load(self, manager: CatalogManager, scope: Scope = NOTHING) -> list[SqlStreamError]:
        """Register what the files declare; the errors, each with file and line, come back."""
        errors: list[SqlStreamError] = []
        pieces: list[_Piece] = []
        for file in sorted(self.folder.rglob("*.sql")) if self.folder.is_dir() else ():
            pieces += self._read(file, errors)
        for piece in pieces:
            if piece.scope[0] in manager.catalogs:
                manager.catalogs[piece.scope[0]].databases.setdefault(piece.scope[1], Database())
        pieces.sort(key=lambda p: ORDER[type(p.statement)])
        counts: dict[Path, int] = {}
        for piece in pieces:
            counts[piece.file] = counts.get(piece.file, 0) + 1
        for piece in _sources_first(pieces, manager):
            try:
                with as_defects(self.root), scoped(manager, piece.scope):
                    key, item = _register(piece.statement, manager, scope, self.root)
                self.sources[key] = Definition(piece.file, piece.text, piece.start, piece.scope, counts[piece.file] == 1, item)
            except SqlStreamError as error:
                errors.append(error.located(masked_text(piece.text), self.shown(piece.file), piece.start))
        return errors + self._dangling(manager)

    def doubts(self) -> list[str]:
        """What is wrong in the options of the tables that the files declare, each with its file: it is an error where one is used."""
        tables = ((source.file, source.item) for source in self.sources.values() if isinstance(source.item, Table))
        return [f"{self.shown(file)}: {doubt}" for file, table in tables for doubt in connectors.doubts(table.options)]

    def _dangling(self, manager: CatalogManager) -> list[SqlStreamError]:
        """The errors of views that read what is not there; they are taken out again, and then the views over them."""
        errors: list[SqlStreamError] = []
        while True:
            errors_before = len(errors)
            for key, source in list(self.sources.items()):
                if not isinstance(source.item, View):
                    continue
                try:
                    for table in source.item.query.find_all(exp.Table):
                        if len(parts := ast.parts(table)) == len(ObjectPath._fields):
                            manager.resolve(parts, at=table)
                except SqlStreamError as error:
                    errors.append(error.located(masked_text(source.text), self.shown(source.file), source.start))
                    manager.drop(key.path, View)
                    del self.sources[key]
            if len(errors) == errors_before:
                return errors

    def _read(self, file: Path, errors: list[SqlStreamError]) -> Iterator[_Piece]:
        try:
            text = file.read_text(encoding="utf-8")
            scope = self._scope(file)
        except (OSError, UnicodeDecodeError) as error:
            errors.append(ValidationError(f"{self.shown(file)} can't be read: {error}").located("", self.shown(file), 0))
            return
        except SqlStreamError as error:
            errors.append(error.located("", self.shown(file), 0))
            return
        for part in split(text):
            try:
                with as_defects(self.root):
                    statement = self._parse(part)
                if isinstance(statement, ast.Use) and statement.kind in ("DATABASE", "CATALOG"):
                    scope = self._used(statement, scope)
                elif type(statement) not in ORDER or getattr(statement, "temporary", False):
                    raise ValidationError(
                        "A catalog file can contain only CREATE TABLE, VIEW, FUNCTION, DATABASE and CATALOG, without TEMPORARY.",
                        at=0,
                        hint="Put other statements in a script, and run it with -f or -i.",
                    )
                else:
                    yield _Piece(file, text, part.start, scope, statement)
            except SqlStreamError as error:
                errors.append(error.located(masked_text(text), self.shown(file), part.start))

    def _scope(self, file: Path) -> tuple[str, str]:
        folders = file.relative_to(self.folder).parts[:-1]
        match [unescape(f) for f in folders]:
            case []:
                return self.builtin
            case [database]:
                return self.builtin[0], database
            case [catalog, database]:
                return catalog, database
        raise ValidationError("Catalog files are at most two folders deep: catalog/<catalog>/<database>/.")

    @staticmethod
    def _used(statement: ast.Use, scope: tuple[str, str]) -> tuple[str, str]:
        names = declare.names_of(statement.this)
        if statement.kind == "CATALOG":
            return names[-1], "default"
        return (names[0], names[1]) if len(names) == 2 else (scope[0], names[-1])

    def shown(self, file: Path) -> str:
        """``file`` as the user knows it."""
        return file.relative_to(self.root).as_posix()

    # Saving

    def save(self, key: ObjectKey, item: Item, manager: CatalogManager) -> str:
        """Write ``item`` to its file; a line for the user comes back: what was saved, or why not. Empty where nothing
        changed."""
        source = self.sources.get(key)
        # Databases and catalogs change in place: only their text tells.
        if source is not None and source.item == item and isinstance(item, Table | View | UserFunction):
            return ""
        secrets = ddl.secrets_of(item)
        if secrets and not secrets[0]:
            return "Not saved: its text contains a password in plain text; the definition lasts for this session."
        if secrets:
            name = "".join(c if c.isalnum() else "_" for c in secrets[0]).upper()
            return (
                f"Not saved: '{secrets[0]}' contains a secret in plain text. Write '${{env:{name}}}' there and set "
                f"the variable {name}; "
                "until then the definition lasts for this session."
            )
        with self._alone():
            return self._saved(key, item, source, manager)

    def _saved(self, key: ObjectKey, item: Item, source: Definition | None, manager: CatalogManager) -> str:
        if source is not None:
            problem = self._not_mine(source)
            if problem:
                return f"Not saved: {problem}"
            file, scope, head = source.file, source.scope, source.text[: source.start]
        else:
            file, scope = self._new_file(key)
            head = ""
            if file.exists():
                shown = self.shown(file)
                return f"Not saved: {shown} exists and does not declare {key.path.quoted}. Move it away."
        text = head + self._text(key, item, scope, manager)
        if source is not None and source.text == text:
            return ""
        _write(file, text)
        self.sources[key] = Definition(file, text, len(head), scope, True, item)
        return f"Saved {self.shown(file)}"

    def remove(self, key: ObjectKey) -> str:
        """Remove the file of a dropped object; a line for the user comes back. Empty where there is no file."""
        source = self.sources.pop(key, None)
        if source is None:
            return ""
        with self._alone():
            problem = self._not_mine(source)
            if problem:
                return f"Not removed from {self.shown(source.file)}: {problem}"
            source.file.unlink()
        return f"Removed {self.shown(source.file)}"

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other session, of whatever process, writes the files meanwhile."""
        own = ProjectFolder(self.root)
        try:
            private.folder(own.own)
            with private.open_file(own.catalog_lock, "a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield
        except OSError as error:
            what = f"The project can't be written: {error.filename or own.own}: {error.strerror or error}."
            raise SetupError(what, hint="CREATE TEMPORARY TABLE keeps a table for this session alone.") from error

    def _not_mine(self, source: Definition) -> str:
        """Why the file of ``source`` must not be written; empty where it may."""
        shown = self.shown(source.file)
        if not source.alone:
            return f"{shown} declares other objects too. Edit it by hand; until then the change lasts for this session."
        try:
            present = source.file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return f"{shown} is gone. Start a new session to load the files as they are."
        if present != source.text:
            return f"{shown} has changed on disk. Start a new session to load it."
        return ""

    def _text(self, key: ObjectKey, item: Item, scope: tuple[str, str], manager: CatalogManager) -> str:
        path = key.path
        parts = (path.name,) if path[:2] == scope else (path.database, path.name) if path.catalog == scope[0] else path
        name = ".".join(quote(p) for p in parts)
        match item:
            case Table():
                return ddl.create_table_file(item, name)
            case View():
                return ddl.create_view_file(self._readable(item, scope, manager), name)
            case UserFunction():
                return ddl.create_function_file(item, name)
            case Catalog():
                return ddl.create_catalog_file(path.catalog, item)
        return ddl.create_database_file((path.database,) if path.catalog == scope[0] else (path.catalog, path.database), item)

    def _readable(self, view: View, scope: tuple[str, str], manager: CatalogManager) -> View:
        """``view`` with its text as written, if that text means the same in ``scope``; else with full names."""
        same = declare.says_the_same(view, manager.within(*scope), ddl.view_query_text(view))
        return view if same else replace(view, text="")

    def _new_file(self, key: ObjectKey) -> tuple[Path, tuple[str, str]]:
        """A file for an object that has none: its name is safe everywhere, and no other object's file but for case."""
        path = key.path
        folders: tuple[str, ...] = ()
        scope = (path.catalog, path.database)
        if key.kind in ("RELATION", "FUNCTION"):
            if path.catalog != self.builtin[0]:
                folders = (path.catalog, path.database)
            elif path.database != self.builtin[1]:
                folders = (path.database,)
            stem, suffix = path.name, ".function.sql" if key.kind == "FUNCTION" else ".sql"
        else:
            scope = self.builtin
            stem, suffix = (path.database, ".database.sql") if key.kind == "DATABASE" else (path.catalog, ".catalog.sql")
            if key.kind == "DATABASE" and path.catalog != self.builtin[0]:
                stem = f"{path.catalog} {path.database}"
        folder = self.folder.joinpath(*(escape(f) for f in folders))
        used_files = {_folded(s.file) for s in self.sources.values()}
        base, number = escape(stem), 1
        while _folded(file := folder / f"{base}{f'-{number}' if number > 1 else ''}{suffix}") in used_files:
            number += 1
        return file, scope


def _folded(file: Path) -> str:
    return unicodedata.normalize("NFC", str(file)).casefold()


def escape(name: str) -> str:
    """``name`` as a file or folder name: letters, digits, ``_`` and ``-`` stay, other characters become ``%XX``."""
    text = "".join(c if c.isalnum() or c in "_-" else "".join(f"%{b:02X}" for b in c.encode()) for c in unicodedata.normalize("NFC", name))
    if len(text.encode()) <= 120:
        return text
    return f"{text[:40]}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def unescape(name: str) -> str:
    """The name that ``escape`` made a folder's name of."""
    data = bytearray()
    at = 0
    while at < len(name):
        code = name[at + 1 : at + 3]
        if name[at] == "%" and len(code) == 2 and all(c in "0123456789ABCDEF" for c in code):
            data.append(int(code, 16))
            at += 3
        else:
            data += name[at].encode()
            at += 1
    return data.decode(errors="replace")


def _write(file: Path, text: str) -> None:
    """Write ``text`` as a whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f".{file.name}.{uuid.uuid4().hex}")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(file)


@contextmanager
def scoped(manager: CatalogManager, scope: tuple[str, str]) -> Iterator[None]:
    """``manager`` with another current catalog and database, for a while."""
    before = manager.current_catalog, manager.current_database
    manager.current_catalog, manager.current_database = scope
    try:
        yield
    finally:
        manager.current_catalog, manager.current_database = before


def _sources_first(pieces: list[_Piece], manager: CatalogManager) -> list[_Piece]:
    """``pieces`` in their order, but the base of a LIKE before the table made from it."""
    by_path: dict[ObjectPath, _Piece] = {}
    for piece in pieces:
        if isinstance(piece.statement, ast.CreateTable):
            by_path.setdefault(_path(piece, piece.statement.this, manager), piece)
    ordered: list[_Piece] = []
    seen: set[int] = set()

    def visit(piece: _Piece) -> None:
        if id(piece) in seen:
            return
        seen.add(id(piece))
        like = piece.statement.like_clause if isinstance(piece.statement, ast.CreateTable) else None
        if like is not None:
            base = by_path.get(_path(piece, like.this, manager))
            if base is not None:
                visit(base)
        ordered.append(piece)

    for piece in pieces:
        visit(piece)
    return ordered


def _path(piece: _Piece, node: exp.Expression, manager: CatalogManager) -> ObjectPath:
    with scoped(manager, piece.scope):
        return manager.path(declare.names_of(node), node)


def _register(statement: exp.Expression, manager: CatalogManager, scope: Scope, root: Path) -> tuple[ObjectKey, Item | None]:
    """Register what one statement of a file declares."""
    names = declare.names_of(statement.this)
    exists = bool(getattr(statement, "if_not_exists", False))
    match statement:
        case ast.CreateCatalog():
            options, comment = declare.options_of(statement.options), declare.text_of(statement.comment)
            manager.create_catalog(
                names[-1],
                lambda: types.opened(manager, names[-1], options, comment, scope=scope, project=root, at=statement),
                if_not_exists=exists,
                at=statement,
            )
            return ObjectKey("CATALOG", ObjectPath(names[-1], "", "")), manager.catalogs[names[-1]]
        case ast.CreateDatabase():
            catalog, name = manager.database_path(names, "create", statement)
            _refuse_kept(manager, catalog, statement)
            database = Database(declare.text_of(statement.comment), declare.options_of(statement.options))
            present = manager.catalog(catalog, statement).databases.get(name)
            if present is None or present == Database():
                manager.catalogs[catalog].databases[name] = database
            else:
                manager.create_database(names, if_not_exists=exists, at=statement)
            return ObjectKey("DATABASE", ObjectPath(catalog, name, "")), manager.catalogs[catalog].databases[name]
        case ast.CreateFunction():
            function = user_function(statement, manager)
            _refuse_kept(manager, function.path.catalog, statement)
            functions.create(manager, function, if_not_exists=exists, at=statement.this)
            return ObjectKey("FUNCTION", lower_case_path(function.path)), replace(function, path=lower_case_path(function.path))
        case ast.CreateTable():
            path = manager.path(names, statement.this)
            _refuse_kept(manager, path.catalog, statement)
            table = declare.table(statement, path, manager, None, scope)
            manager.create(table, if_not_exists=exists, at=statement.this)
            return ObjectKey("RELATION", path), table
    assert isinstance(statement, ast.CreateView)
    path = manager.path(names, statement.this)
    _refuse_kept(manager, path.catalog, statement)
    view = declare.view(statement, path, manager, None)
    manager.create(view, if_not_exists=exists, at=statement.this)
    return ObjectKey("RELATION", path), view


def _refuse_kept(manager: CatalogManager, catalog: str, at: exp.Expression) -> None:
    """Raises ValidationError for the declaration of what a store keeps."""
    if catalog in manager.catalogs and manager.catalogs[catalog].store is not None:
        raise ValidationError(
            f"Nothing in catalog '{catalog}' can be declared by the project's files: it keeps its tables itself.",
            at=at,
            hint="Remove the file, and run its statement in a session.",
        )


def lower_case_path(path: ObjectPath) -> ObjectPath:
    """A function's path: its name counts in lower case."""
    return path._replace(name=path.name.lower())


def user_function(node: ast.CreateFunction | ast.AlterFunction, manager: CatalogManager) -> UserFunction:
    """The function that CREATE or ALTER FUNCTION declares."""
    system = node.system
    names = declare.names_of(node.this)
    return UserFunction(
        ObjectPath("", "", names[-1]) if system else manager.path(names, node.this),
        declare.text_of(node.identifier) or "",
        str(declare.text_of(node.language) or "JAVA").upper(),
        tuple(jar.name for jar in node.jars) if isinstance(node, ast.CreateFunction) else (),
        node.temporary or system,
        system,
        declare.options_of(node.options if isinstance(node, ast.CreateFunction) else []),
    )
