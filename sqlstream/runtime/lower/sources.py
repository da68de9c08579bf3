"""What a connector gives, against what it was asked for: a fault of it is told by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from sqlstream.connectors.base import SPLIT, SourceFrame
from sqlstream.core.changelog import KIND, KIND_TYPE
from sqlstream.core.errors import SetupError
from sqlstream.sql.quoting import quote

if TYPE_CHECKING:
    from typing import Any

    from sqlstream.connectors.base import Read


def checked_source(request: Read, source: Any, *, carries_kinds: bool) -> SourceFrame:
    """``source``, what ``read`` gave for ``request``; ``carries_kinds``: its rows have to. Raises SetupError for what is not as it has to be."""
    fault = _fault(request, source, carries_kinds=carries_kinds)
    if fault is not None:
        raise SetupError(f"The connector '{request.table.connector}' can't be used: what it reads of '{request.table.path}' {fault}.")
    assert isinstance(source, SourceFrame)
    return source


def _fault(request: Read, source: Any, *, carries_kinds: bool) -> str | None:
    """The end of a sentence."""
    from pyspark.sql.types import StructType

    if not isinstance(source, SourceFrame):
        return f"is a {type(source).__name__}, and has to be a SourceFrame"
    if source.frame.isStreaming != request.streaming:
        return "is a stream, and has to be static" if source.frame.isStreaming else "is static, and has to be a stream"
    table = request.table
    types = {c.name: c.type.spark for c in table.physical} | {c.name: c.type.spark for c in table.metadata}
    if carries_kinds:
        types[KIND] = KIND_TYPE
    if request.splits and len(source.splits) > 1:
        types[SPLIT] = "INT"
    given = {f.name: f.dataType.simpleString() for f in source.frame.schema}
    if missing := [name for name in types if name not in given]:
        return f"has no column '{missing[0]}'"
    asked = cast("StructType", StructType.fromDDL(", ".join(f"{quote(name)} {spark}" for name, spark in types.items())))
    for field in asked.fields:
        if given[field.name] != field.dataType.simpleString():
            return f"has a column '{field.name}' of Spark's type {given[field.name]}, and has to have {field.dataType.simpleString()}"
    return None
