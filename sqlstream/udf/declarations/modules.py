"""The project's modules: functions in ``udfs/`` and of ``python.files``, connectors in ``connectors/``. Each is loaded by itself, and again when a
file has changed.

Out come the decorated objects by name, the connectors, and a message for each module that can't be loaded and each name that occurs twice.
"""

from __future__ import annotations

import importlib
import importlib.util
import linecache
import sys
import traceback
import types
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlstream.connectors import BUILTIN, in_python
from sqlstream.core.errors import Location, SqlStreamError, ValidationError, did_you_mean
from sqlstream.core.secrets import places, starred
from sqlstream.sql import functions
from sqlstream.udf import shim
from sqlstream.udf.api import Declared
from sqlstream.udf.declarations import foreign
from sqlstream.udf.declarations.outline import outline
from sqlstream.udf.declarations.signature import signature, undecorated

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlstream.connectors.base import Connector
    from sqlstream.sql.functions.base import Function
    from sqlstream.udf.worker.sources import Source

FOLDER = "udfs"
CONNECTORS = "connectors"


@dataclass(frozen=True)
class ModuleFunction:
    """A function of a module: what declares it, and the place for messages."""

    declared: Declared
    module: str
    attribute: str
    place: str

    @property
    def identifier(self) -> str:
        return f"{self.module}.{self.attribute}"


@dataclass
class Modules:
    """The modules of one project. ``version`` changes whenever they are loaded; ``errors`` are those of the last time, ``twice`` those of names that
    two functions have; ``rows`` is for what is made of the functions. ``runs``: the modules are run; else their text says what they declare."""

    project: Path
    runs: bool = True
    errors: list[SqlStreamError] = field(default_factory=list)
    functions: dict[str, ModuleFunction] = field(default_factory=dict)
    twice: dict[str, SqlStreamError] = field(default_factory=dict)
    connectors: dict[str, Connector] = field(default_factory=dict)
    version: int = 0
    rows: dict[object, Function] = field(default_factory=dict)
    _seen: dict[Path, tuple[int, int]] = field(default_factory=dict)
    _loaded: dict[str, types.ModuleType] = field(default_factory=dict)
    _texts: dict[str, Source] = field(default_factory=dict)
    _folders: tuple[str, ...] = ()

    def refresh(self, files: Iterable[str] = ()) -> list[str]:
        """Load what is new or has changed; a line for each file that was there before. ``files`` are those of ``python.files``."""
        paths = [Path(f).expanduser() for f in files]
        paths = [p if p.is_absolute() else Path.cwd() / p for p in paths]
        folder = self.project / FOLDER
        own = [*sorted(folder.glob("*.py")), *sorted((self.project / CONNECTORS).glob("*.py"))]
        now = {p: _stamp(p) for p in [*own, *(q for p in paths for q in (sorted(p.glob("*.py")) if p.is_dir() else [p]))]}
        if now == self._seen:
            return []
        before, self._seen = self._seen, now
        changed = [p for p in now if now[p] != before.get(p)]
        folders = (p.parent if p.suffix == ".py" else p for p in paths)
        self._folders = tuple(dict.fromkeys(str(f) for f in (folder, self.project / CONNECTORS, *folders)))
        self._load()
        if not before:
            return []
        again = [f"{self.shown(p)} {'reloaded' if p in before else 'loaded'}" for p in changed]
        return [*again, *(f"{self.shown(p)} is gone, and its functions with it" for p in before if p not in now)]

    def shown(self, path: Path | str) -> str:
        """``path`` as messages name it."""
        path = Path(path)
        return path.relative_to(self.project).as_posix() if path.is_relative_to(self.project) else str(path)

    def named(self, identifier: str, at: Any = None) -> ModuleFunction:
        """What CREATE FUNCTION .. AS 'module.attribute' names. Raises ValidationError."""
        name, _, attribute = identifier.rpartition(".")
        if not name:
            raise ValidationError(f"'{identifier}' does not name a function: write 'module.attribute'.", at=at)
        try:
            module = self._loaded.get(name) or (self._imported(name) if self.runs else self._outlined(name, at))
        except SqlStreamError:
            raise
        except SyntaxError as error:
            place = f"{self.shown(error.filename or '')}:{error.lineno}"
            raise ValidationError(f"The module '{name}' cannot be imported: {error.msg}, at {place}.", at=at) from error
        except Exception as error:  # whatever the user's module raises
            hint = f"Modules are looked for in {self.project / FOLDER}."
            raise ValidationError(f"The module '{name}' cannot be imported: {_said(error)}", at=at, hint=hint) from error
        value = getattr(module, attribute, None)
        declared = value if isinstance(value, Declared) else foreign.from_pyflink(value) or (undecorated(value) if callable(value) else None)
        if declared is None:
            near = did_you_mean(attribute, (n for n, v in vars(module).items() if callable(v)))
            raise ValidationError(f"'{identifier}' does not exist: the module '{name}' has no function of this name.", at=at, hint=near)
        return ModuleFunction(declared, name, attribute, f"{self.shown(declared.file)}:{declared.line}")

    def _imported(self, name: str) -> types.ModuleType:
        with self._importing():
            module = importlib.import_module(name)
            if self._is_own(module) or (name.split(".")[0] != __package__.split(".")[0] and self._in_project(module)):
                self._loaded[name] = module
                self._keep_texts()
            return module

    def _outlined(self, name: str, at: Any) -> types.ModuleType:
        parts = Path(*name.split(".")).with_suffix(".py")
        file = next((f for f in (Path(folder) / parts for folder in (*self._folders, str(self.project))) if f.is_file()), None)
        if file is None:
            hint = "Without --no-python, modules in other folders are read too."
            raise ValidationError(f"The module '{name}' is not a file of the project, so what it declares is unknown.", at=at, hint=hint)
        return self._loaded.setdefault(name, outline(file))

    def _keep_texts(self) -> None:
        for name, module in self._loaded.items():
            if name not in self._texts and Path(_file(module)).is_file():  # one in an archive is none
                self._texts[name] = (name, _file(module), Path(_file(module)).read_text("utf-8"))

    @property
    def sources(self) -> tuple[Source, ...]:
        """The texts of the loaded modules, as they were then."""
        return tuple(self._texts.values())

    @contextmanager
    def own(self) -> Iterator[list[types.ModuleType]]:
        """The loaded modules, installed under their names in Python in the meantime."""
        kept = {name: sys.modules.get(name) for name in self._loaded}
        sys.modules.update(self._loaded)
        try:
            yield list(self._loaded.values())
        finally:
            for name, module in kept.items():
                if module is None:
                    del sys.modules[name]
                else:
                    sys.modules[name] = module

    # --- loading ------------------------------------------------------------------------------------------------------

    def _load(self) -> None:
        self.errors, self.functions, self.twice, self.rows, self._loaded, self.connectors = [], {}, {}, {}, {}, {}
        self.version += 1
        linecache.checkcache()
        known: set[str] = set()
        with self._importing() if self.runs else nullcontext():
            for path in self._seen:
                if path.suffix != ".py" and path.exists():
                    continue
                error = self._module(path)
                if error is not None and str(error.location) not in known:
                    known.add(str(error.location))
                    self.errors.append(error)
            if self.runs:
                self._loaded = {n: m for n, m in sys.modules.copy().items() if self._is_own(m)}
            self._texts = {}
            self._keep_texts()
        self.errors += self.twice.values()
        self.errors += filter(None, map(self._wrong, self.functions.values()))

    def _wrong(self, function: ModuleFunction) -> SqlStreamError | None:
        """What is wrong with the types of a function, which then can't be called."""
        try:
            signature(function.declared, function.identifier)
        except SqlStreamError as error:
            return at_line(error, self.shown(function.declared.file), function.declared.line, function.declared.file)
        return None

    def _module(self, path: Path) -> SqlStreamError | None:
        """Load one file; what is wrong with it."""
        if not path.is_file():
            what = "file" if path.suffix == ".py" else "file or folder"
            return at_line(ValidationError(f"There is no {what} '{path}' (python.files)."), self.shown(path), 1)
        if path.stem in sys.stdlib_module_names or _installed(path.stem, self._folders):
            problem = ValidationError(f"'{path.stem}' is an installed module of Python: the file can't have its name.", hint="Rename the file.")
            return at_line(problem, self.shown(path), 1)
        try:
            if not self.runs and path.parent == self.project / CONNECTORS:
                self.connectors |= {made.name: made for made in in_python.outlined(path)}
                return None
            module = importlib.import_module(path.stem) if self.runs else self._loaded.setdefault(path.stem, outline(path))
        except SyntaxError as error:
            problem = ValidationError(f"The module '{path.stem}' cannot be loaded: {error.msg}.")
            return at_line(problem, self.shown(error.filename or path), error.lineno or 1, error.filename)
        except BaseException as error:  # whatever the user's module raises, SystemExit too
            if isinstance(error, KeyboardInterrupt):
                raise
            frames = [f for f in traceback.extract_tb(error.__traceback__) if self._is_mine(f.filename)]
            file, line = (frames[-1].filename, frames[-1].lineno or 1) if frames else (str(path), 1)
            return at_line(ValidationError(f"The module '{path.stem}' cannot be loaded: {_said(error)}."), self.shown(file), line, file)
        if Path(_file(module)) != path:
            problem = ValidationError(f"Two modules are called '{path.stem}': {self.shown(_file(module))} is one, too.", hint="Rename one of them.")
            return at_line(problem, self.shown(path), 1)
        if path.parent == self.project / CONNECTORS:
            return self._add_connectors(module, path)
        for attribute, value in list(vars(module).items()):
            declared = value if isinstance(value, Declared) else foreign.from_pyflink(value)
            if declared is not None and declared.__module__ == module.__name__:
                self._add(ModuleFunction(declared, module.__name__, attribute, f"{self.shown(declared.file)}:{declared.line}"))
        return None

    def _add_connectors(self, module: types.ModuleType, path: Path) -> SqlStreamError | None:
        """Those of a module in ``connectors/``; what is wrong with one."""
        for value in in_python.sources(module):
            try:
                made = in_python.connector_of(value, self.by_value, self.project)
                if made.name in BUILTIN:
                    raise ValidationError(f"sqlstream has a connector '{made.name}' itself.", hint="Call yours otherwise.")
                if made.name in self.connectors:
                    raise ValidationError(f"Two connectors are called '{made.name}'.", hint="Rename one of them.")
            except SqlStreamError as error:
                return at_line(error, self.shown(path), in_python.line_of(value), str(path))
            self.connectors[made.name] = made
        return None

    @contextmanager
    def by_value(self) -> Iterator[None]:
        """In the meantime what is pickled has the project's modules in it, by value: workers have no such files."""
        from pyspark import cloudpickle

        with self.own() as modules:
            for module in modules:
                cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
            try:
                yield
            finally:
                for module in modules:
                    cloudpickle.unregister_pickle_by_value(module)  # type: ignore[no-untyped-call]

    def _add(self, function: ModuleFunction) -> None:
        name = (function.declared.name or function.attribute).lower()
        if functions.find(name) is not None:
            problem = ValidationError(
                f"'{name}' is the name of a built-in function: the one at {function.place} is left out.",
                hint="Rename it, or give its decorator a name.",
            )
            self.errors.append(at_line(problem, self.shown(function.declared.file), function.declared.line, function.declared.file))
        elif name in self.functions:
            other = self.functions.pop(name)
            self._refuse(name, other, function)
        elif name in self.twice:
            self._refuse(name, function, function)
        else:
            self.functions[name] = function

    def _refuse(self, name: str, first: ModuleFunction, second: ModuleFunction) -> None:
        problem = f"Two functions are called '{name}': at {first.place} and at {second.place}."
        known = self.twice.get(name)
        if known is not None:
            problem = f"{known.message.removesuffix('.')} and at {second.place}."
        hint = "Rename one of them, or give its decorator another name."
        declared = second.declared
        self.twice[name] = at_line(ValidationError(problem, hint=hint), self.shown(declared.file), declared.line, declared.file)

    def _is_mine(self, file: str) -> bool:
        return any(Path(file).is_relative_to(f) for f in self._folders) and "site-packages" not in file

    def _is_own(self, module: Any) -> bool:
        """Whether a module is a file of the project: one that the workers don't have."""
        file = _file(module)
        return file.endswith(".py") and self._is_mine(file) and module.__name__ != "__main__"

    def _in_project(self, module: Any) -> bool:
        file = _file(module)
        return file.endswith(".py") and Path(file).is_relative_to(self.project) and "site-packages" not in file

    @contextmanager
    def _importing(self) -> Iterator[None]:
        """Python finds the project's modules, as they are now, behind its own; it writes nothing beside them. What they print is not a result."""
        kept, compiled = list(sys.path), sys.dont_write_bytecode
        others = {n: m for n, m in list(sys.modules.items()) if self._replaces(m)}
        for name in others:
            del sys.modules[name]
        sys.modules.update(self._loaded)
        sys.path += [f for f in (*self._folders, str(self.project)) if f not in sys.path]
        sys.dont_write_bytecode = True
        importlib.invalidate_caches()
        shim.install()
        try:
            with redirect_stdout(sys.stderr):
                yield
        finally:
            sys.path[:], sys.dont_write_bytecode = kept, compiled

    def _replaces(self, module: Any) -> bool:
        """Whether a module is one of ours, or of another project's."""
        file = Path(_file(module))
        # No module of a package, which can have folders of these names too.
        return self._is_own(module) or (file.parent.name in (FOLDER, CONNECTORS) and file.stem == module.__name__)


def _installed(name: str, folders: tuple[str, ...]) -> bool:
    """Whether Python has a module of this name without the project's folders."""
    from importlib.machinery import PathFinder

    return PathFinder.find_spec(name, [p for p in sys.path if p not in folders and p not in ("", ".")]) is not None


def _file(module: Any) -> str:
    return (getattr(module, "__file__", None) or "") if isinstance(module, types.ModuleType) else ""


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:  # named, but missing: reported when it is loaded
        return (0, -1)
    return status.st_mtime_ns, status.st_size


def _said(error: BaseException) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def at_line(error: SqlStreamError, shown: str, line: int, file: str | None = None) -> SqlStreamError:
    """``error``, about a line of ``file``, which messages call ``shown``."""
    text = linecache.getline(file or shown, line).rstrip("\n")
    text = starred(text, places(text))
    error.location = Location(shown, line, len(text) - len(text.lstrip()) + 1, text, len(text.strip()) or 1)
    return error
