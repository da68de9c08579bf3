"""Where a table's files are: relative paths start at the project folder, URIs stay what they are. Raises ValidationError in a package."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from sqlstream.core import storage
from sqlstream.core.errors import ValidationError
from sqlstream.core.project_folder import PACKAGE

if TYPE_CHECKING:
    from pathlib import Path


def is_uri(path: str) -> bool:
    """Whether ``path`` names a file system."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*:/", path) is not None


def one_spelling(path: str) -> str:
    """``path`` as each spelling of it has it: without what names no folder, and as Spark names S3 and the local file system."""
    if match := re.fullmatch(r"file:/+(.*)", path):
        path = f"/{match[1]}"
    if is_uri(path):
        return storage.S3.sub("s3a:", path).rstrip("/")
    return posixpath.normpath(path)


def resolve(path: str, project: Path) -> str:
    """``path`` as Spark takes it: a URI as it is, but for Flink's names of S3, anything else as an absolute path. Raises ValidationError."""
    if is_uri(path):
        return storage.S3.sub("s3a:", path)
    if not path.startswith("/") and (project / PACKAGE).exists():
        raise ValidationError(
            f"The path '{path}' is relative, and a package is unpacked anew on each machine.",
            hint="Write an absolute one, or a URI such as hdfs://.. or s3a://.., of storage that all machines reach.",
        )
    return str((project / path).absolute())
