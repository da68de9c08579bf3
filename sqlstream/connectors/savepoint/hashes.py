"""Whether a savepoint is as it was written: the SHA-256 of each of its files, by the path below its folder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sqlstream.connectors.savepoint.contents import FILE
from sqlstream.core import storage
from sqlstream.core.errors import ValidationError
from sqlstream.core.java import classes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

    from sqlstream.core.storage import Place

# In the folder of a savepoint that is being made or deleted.
UNFINISHED = "savepoint.unfinished"


def hashes(spark: SparkSession, folder: Place) -> Mapping[str, str]:
    """Those of the files in ``folder``, all of which are read; what a savepoint says of itself is left out."""
    found = json.loads(classes(spark).checkpoints.Contents.of(spark._jsparkSession, storage.uri(folder)))
    return {name: digest for name, digest in found.items() if name not in (FILE, UNFINISHED)}


def check_whole(spark: SparkSession, folder: Place, written: Mapping[str, str], within: str = "") -> None:
    """Raises ValidationError where files of the savepoint in ``folder`` are not as they were ``written``: any, or one of its folder ``within``."""
    start, place = (f"{within}/", folder / within) if within else ("", folder)
    found = {start + name: digest for name, digest in hashes(spark, place).items()} if place.exists() else {}
    for name, digest in written.items():
        if name.startswith(start) and found.get(name) != digest:
            what = f"Its file {name} is not there." if name not in found else f"Its file {name} is not as it was written."
            raise ValidationError(f"The savepoint '{folder}' is damaged. {what}", hint="Put it back from a copy.")
