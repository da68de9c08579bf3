"""The project's modules in a worker: functions come by value, and what they import while they run is loaded from its text."""

from __future__ import annotations

import os
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

# A module's name, its file, its text.
Source = tuple[str, str, str]
# The variable that names a worker's working directory, where it is not that of the session: what python.archives hold stands there.
WORKING_DIRECTORY = "SQLSTREAM_WORKING_DIRECTORY"


class _Finder(MetaPathFinder, Loader):
    """Finds the modules whose text it has, after all others."""

    def __init__(self) -> None:
        self.sources: dict[str, Source] = {}

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        source = self.sources.get(fullname)
        return None if source is None else ModuleSpec(fullname, self, origin=source[1])

    def exec_module(self, module: ModuleType) -> None:
        _, file, text = self.sources[module.__name__]
        module.__file__ = file
        exec(compile(text, file, "exec"), vars(module))


_finder = _Finder()


def install(sources: Sequence[Source]) -> None:
    """Make modules importable, in the place of others of the same project's that came before."""
    if _finder not in sys.meta_path:
        sys.meta_path.append(_finder)
    for source in sources:
        if _finder.sources.get(source[0]) not in (None, source):
            sys.modules.pop(source[0], None)
        _finder.sources[source[0]] = source


def enter() -> None:
    """Go where the archives are, from wherever Spark has started the worker."""
    if folder := os.environ.get(WORKING_DIRECTORY):
        os.chdir(folder)
