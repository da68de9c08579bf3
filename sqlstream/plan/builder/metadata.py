"""Checks the metadata columns of a table that is read or written: the connector or its format must have their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.connectors import find_connector
from sqlstream.core.errors import ValidationError, did_you_mean

if TYPE_CHECKING:
    from sqlglot import exp

    from sqlstream.sql.tables import Table


def refuse_unknown_metadata(table: Table, at: exp.Expr | None, *, writing: bool) -> None:
    """Raises ValidationError for a metadata column that ``table``, which is read or written, can't have; a VIRTUAL one is never written."""
    known = [m.key for m in find_connector(table.connector, at).metadata_keys(table) if m.writable or not writing]
    columns = [c for c in table.metadata if not (writing and c.virtual)]
    wrong = next((c for c in columns if c.key not in known), None)
    if wrong is None:
        return
    how = "written" if writing else "read"
    if not known:
        problem = f"The '{table.connector}' connector has no metadata columns that can be {how}"
        raise ValidationError(f"{problem}: '{wrong.name}' of '{table.path}'.", at=at)
    raise ValidationError(
        f"Invalid metadata key '{wrong.key}' in column '{wrong.name}' of table '{table.path}'. The connector supports the following metadata "
        f"keys for {'writing' if writing else 'reading'}:\n" + "\n".join(known),
        at=at,
        hint=did_you_mean(wrong.key, known) or ("Declare it VIRTUAL." if writing else None),
    )
