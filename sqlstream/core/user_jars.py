"""The jars that a user brings: the files that the option pipeline.jars names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

from sqlstream.core.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping

OPTION = "pipeline.jars"


def written(options: Mapping[str, str], key: str = OPTION) -> list[str]:
    """The files as the option ``key`` names them."""
    return [name for part in re.split("[;,]", options.get(key, "")) if (name := part.strip())]


def named(options: Mapping[str, str], project: Path) -> list[Path]:
    """The files; relative ones are in ``project``. Raises ValidationError for what is not there."""
    found = []
    for name in written(options):
        if (path := file_named(name, project)) is None:
            raise ValidationError(f"There is no file '{name}', which '{OPTION}' names.", hint="Jars are files of this machine.")
        found.append(path)
    return found


def file_named(name: str, project: Path) -> Path | None:
    """The file that ``name``, a path or a ``file:`` address, means; a relative one is in ``project``. None where there is none."""
    location = urlparse(name)
    path = project / Path(unquote(location.path) if location.scheme == "file" else name).expanduser()
    return path.resolve() if location.scheme in ("", "file") and path.is_file() else None
