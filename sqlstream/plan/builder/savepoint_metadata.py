"""savepoint_metadata('path'): the operators in a savepoint that keep state, as constant rows; the columns are Flink's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlstream.connectors.savepoint.contents import StateOperator, folder_of, operators
from sqlstream.core import storage
from sqlstream.core.errors import ValidationError
from sqlstream.plan.nodes import Field, Values
from sqlstream.sql import types as t
from sqlstream.sql.expressions import Literal

if TYPE_CHECKING:
    from sqlstream.sql.syntax import ast

NAME = "SAVEPOINT_METADATA"
_COLUMNS = (
    Field("checkpoint-id", t.BIGINT.not_null()),
    Field("operator-name", t.STRING),
    Field("operator-uid", t.STRING),
    Field("operator-uid-hash", t.STRING.not_null()),
    Field("operator-parallelism", t.INT.not_null()),
    Field("operator-max-parallelism", t.INT.not_null()),
    Field("operator-subtask-state-count", t.INT.not_null()),
    Field("operator-coordinator-state-size-in-bytes", t.BIGINT.not_null()),
    Field("operator-total-size-in-bytes", t.BIGINT.not_null()),
)


def savepoint_metadata(node: ast.TableFunction) -> tuple[Values, tuple[str, ...]]:
    """The rows of the call ``node``, and the names of their columns. Raises ValidationError."""
    match node.expressions:
        case [exp.Literal(is_string=True) as path]:
            pass
        case _:
            raise ValidationError(f"{node.name} takes the path of a savepoint, a text that is written there.", at=node)
    try:
        if (folder := folder_of(path.name)) is None:
            raise ValidationError(
                f"savepoint_metadata reads savepoints of this machine, and '{path.name}' is on another file system.",
                hint="DESCRIBE SAVEPOINT says what is in it; a copy on this machine is read.",
            )
        rows = tuple(tuple(map(_literal, _COLUMNS, _row(operator))) for operator in operators(folder))
    except ValidationError as error:
        error.at = path
        raise
    return Values(rows, _COLUMNS), tuple(f.name for f in _COLUMNS)


def _literal(column: Field, value: Any) -> Literal:
    return Literal(column.type, value)


def _row(operator: StateOperator) -> tuple[Any, ...]:
    """A savepoint is a checkpoint of its own, whose first micro-batch is all that there was."""
    partitions = [p for p in operator.state.glob("*") if p.name.isdigit()]
    size = sum(map(storage.size, partitions))
    return (0, operator.text, operator.uid, operator.hash or operator.uid, len(partitions), len(partitions), len(partitions), 0, size)
