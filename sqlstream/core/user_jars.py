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


def named(options: Mapping[str, str], project: Path) -> list[Path]:
    """The files; relative ones are in ``project``. Raises ValidationError for what is not there."""
    found = []
    for written in filter(None, re.split("[;,]", options.get(OPTION, ""))):
        location = urlparse(written.strip())
        path = project / Path(unquote(location.path) if location.scheme == "file" else written.strip()).expanduser()
        if location.scheme not in ("", "file") or not path.is_file():
            raise ValidationError(f"There is no file '{written.strip()}', which '{OPTION}' names.", hint="Jars are files of this machine.")
        found.append(path.resolve())
    return found
