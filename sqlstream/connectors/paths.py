"""Where a table's files are: relative paths start at the project folder, URIs stay what they are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def resolve(path: str, project: Path) -> str:
    """``path`` as Spark takes it: a URI as it is, anything else as an absolute path."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:/", path):
        return path
    return str((project / path).absolute())
