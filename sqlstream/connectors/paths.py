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


# Of these a name is the key of an object, without a slash before it.
_OBJECT_STORES = ("s3", "gs", "abfss", "abfs", "wasbs", "wasb")


def file_names(path: str, project: Path) -> tuple[str, str]:
    """The namespace and the name that OpenLineage has for a path: ``s3://bucket`` and a key, ``file`` and an absolute path; without who logs in."""
    plain = one_spelling(path)
    if not is_uri(plain):
        return "file", posixpath.normpath((project / plain).absolute().as_posix())
    scheme, _, rest = plain.partition(":")
    scheme = "s3" if scheme == "s3a" else scheme.lower()
    authority, _, key = rest.lstrip("/").partition("/") if rest.startswith("//") and not rest.startswith("///") else ("", "", rest.lstrip("/"))
    user, at, host = authority.rpartition("@")
    if at and scheme.startswith(("abfs", "wasb")):
        # Before the sign stands a container.
        host = f"{user.partition(':')[0]}@{host}"
    return f"{scheme}://{host}", key or "/" if scheme in _OBJECT_STORES else f"/{key}"
