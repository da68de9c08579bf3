"""The user's files, which SOURCE reads and EXPORT writes: those of this machine, or of the client's."""

from __future__ import annotations

import os
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sqlstream.core.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager


class Files(Protocol):
    """Where the names of files in statements lead to. What they raise, ValidationError, has no place in the statement yet."""

    def read(self, name: str) -> tuple[str, str]:
        """The path of a script, by which it is the same as another, and its text."""

    def new(self, name: str, *, overwrite: bool) -> AbstractContextManager[Path]:
        """Where to write what the user gets as the file ``name``, when it is whole. Nothing that is there is replaced, but a file with
        ``overwrite``.
        """

    def shown(self, name: str) -> str:
        """The path of ``name``, for the user."""


@dataclass(frozen=True)
class LocalFiles:
    """Those of this machine. Names are relative to ``folder``."""

    folder: Path

    def read(self, name: str) -> tuple[str, str]:
        """See Files."""
        try:
            path = (self.folder / name).resolve()
            return str(path), path.read_text("utf-8")
        except (OSError, UnicodeDecodeError, ValueError) as error:
            reason = (error.strerror or str(error)) if isinstance(error, OSError) else "it is not UTF-8"
            raise ValidationError(f"Cannot read '{name}': {reason}.") from None

    @contextmanager
    def new(self, name: str, *, overwrite: bool) -> Iterator[Path]:
        """See Files."""
        path = self._path(name)
        _check_free(path, overwrite=overwrite)
        part = path.with_name(f".{uuid.uuid4().hex}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                yield part
                part.replace(path)
            finally:
                part.unlink(missing_ok=True)
        except OSError as error:
            raise ValidationError(f"'{path}' cannot be written: {error.strerror or error}.") from None

    def shown(self, name: str) -> str:
        """See Files."""
        return str(self._path(name))

    def _path(self, name: str) -> Path:
        return self.folder / Path(name).expanduser()


def _check_free(path: Path, *, overwrite: bool) -> None:
    """Raises ValidationError where something is at ``path`` that an export is not to replace: a file unless ``overwrite``, all else always."""
    try:
        there, replaceable = os.path.lexists(path), path.is_file()
    except (OSError, ValueError):  # too long, or a NUL in it
        raise ValidationError(f"'{str(path)[:80]}' can't be the name of a file.") from None
    if there and not replaceable:
        raise ValidationError(f"'{path}' exists and is not a file, so it is not replaced.", hint="Name a file that does not exist.")
    if there and not overwrite:
        raise ValidationError(f"'{path}' already exists.", hint="Name another file, or end the statement with OVERWRITE to replace it.")
