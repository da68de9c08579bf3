"""The files that a user's statements name: a server gets no others of the user's machine, and writes no others there."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from sqlstream.core.depth import deeply
from sqlstream.core.errors import SqlStreamError, ValidationError
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.statements.split import split, substitute
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Mapping


class NamedFiles:
    """Those that the texts name that were ``seen``: a script, and the files that it runs. ``variables`` are the values of ``${NAME}``."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self._sources: set[str] = set()
        # Whether what is there may be replaced, by the name.
        self._exports: dict[str, bool] = {}

    def seen(self, text: str) -> None:
        """What ``text`` names counts. A statement that is wrong names nothing."""
        upper = text.upper()
        if "SOURCE" in upper or "EXPORT" in upper:
            with suppress(SqlStreamError):
                deeply(lambda: self._see(text))

    def _see(self, text: str) -> None:
        for piece in split(substitute(text, self._variables)):
            with suppress(SqlStreamError):
                match parse(piece):
                    case ast.Source() as source:
                        self._sources.add(source.this.name)
                    case ast.Export() as export:
                        name = export.this.name
                        self._exports[name] = self._exports.get(name, False) or export.overwrite

    def check_read(self, name: str) -> None:
        """Raises ValidationError for a file that no SOURCE names."""
        if name not in self._sources:
            hint = "Run the file with -f, or SOURCE it."
            raise ValidationError(f"The server asks for your file '{name}', which no SOURCE of yours names.", hint=hint)

    def check_written(self, name: str, *, overwrite: bool) -> None:
        """Raises ValidationError for a file that no EXPORT names, or that none may replace."""
        if self._exports.get(name) not in (True, overwrite):
            hint = "EXPORT LAST TO the file yourself."
            raise ValidationError(f"The server writes your file '{name}', which no EXPORT of yours names so.", hint=hint)
