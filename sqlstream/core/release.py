"""The release of sqlstream that runs."""

from __future__ import annotations

from importlib import metadata


def release() -> str:
    """Its version; that it is a source tree where it is not installed."""
    try:
        return metadata.version("sqlstream")
    except metadata.PackageNotFoundError:
        return "(from a source tree)"
