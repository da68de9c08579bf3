"""Options that are those of the server, and not of a session: what names files, where jobs are kept, what Spark was started with."""

from __future__ import annotations

from sqlstream.core.errors import NotSupported
from sqlstream.core.storage import DIRECTORIES, SAVEPOINTS

_FILES = ("pipeline.jars", "pipeline.classpaths", "python.files", "python.archives", "python.executable", "python.client.executable")
_PLACES = (*DIRECTORIES, *SAVEPOINTS)
NAMED_BY_SERVER = "Name it in 'pipeline.jars' in sqlstream.toml of the project, and start the server again."
_HINT = "Set it in sqlstream.toml of the project, and start the server again."


def of_server(key: str) -> NotSupported | None:
    """Why a session can't set ``key``; None where it can."""
    if key in _FILES:
        return NotSupported(f"'{key}' names files of the machine that the server runs on.", hint=_HINT)
    if key in _PLACES:
        return NotSupported(f"'{key}' says where the jobs of the server are: it has one place for all.", hint=_HINT)
    if key.startswith("spark."):
        hint = f"{_HINT} A script with options of its own runs by sqlstream jobs start FILE --detach --embedded."
        return NotSupported(f"'{key}' is one of Spark's options, which are those of the server.", hint=hint)
    if key.startswith(("alert.", "lineage.")):
        return NotSupported(f"'{key}' is about all jobs of the server.", hint=_HINT)
    if key.startswith("metrics."):
        return NotSupported(f"'{key}' is about metrics of all jobs of the server.", hint="The server has them at /metrics.")
    return None
