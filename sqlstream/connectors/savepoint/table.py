"""The savepoint connector: the state of one operator in a savepoint as a table, a row for each key.

Its columns are found by their names. They may be declared, all or some of them, or be left out: then the table has all that there are.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sqlstream.connectors.base import Connector, Dataset, Read, SourceFrame, plain_options
from sqlstream.connectors.paths import file_names
from sqlstream.connectors.savepoint.contents import StateColumn, StateOperator, find, folder_of, written
from sqlstream.connectors.savepoint.hashes import check_whole
from sqlstream.core import options as option_rows
from sqlstream.core import storage
from sqlstream.core.errors import NotSupported, ValidationError, did_you_mean
from sqlstream.core.java import classes
from sqlstream.core.options import Option, OptionKind, Role, Support
from sqlstream.sql.quoting import spark_string
from sqlstream.sql.tables import PhysicalColumn

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.core.storage import Place
    from sqlstream.sql.tables import Table
    from sqlstream.sql.types import Type

_BY_NAME = "The columns of a savepoint are found by their names, and know their types. Leave it out."


class Savepoint(Connector):
    """An operator's state in a savepoint."""

    name = "savepoint"
    summary = "What an operator of a job has kept, by key, as it is in a savepoint; read at once."
    example = (
        "CREATE TABLE kept (account BIGINT, total DECIMAL(38, 2)) WITH ('connector' = 'savepoint',\n"
        "  'state.path' = '/work/bank/.sqlstream/savepoints/totals-20260102-030405-a1b2c3', 'operator.uid' = '0_totals/0');"
    )
    is_source = True
    options = (
        Option("state.path", OptionKind.STRING, required=True, summary="The savepoint's folder, as SHOW SAVEPOINTS prints it.", role=Role.PLACE),
        Option("operator.uid", OptionKind.STRING, summary="The operator, as DESCRIBE SAVEPOINT prints it: the sink's folder and a number."),
        Option("operator.uid.hash", OptionKind.STRING, summary="The operator by the stable id of its node; instead of operator.uid."),
        Option("state.backend.type", OptionKind.STRING, use=Support.NOTICE, why="the savepoint itself says how its state is stored"),
        Option("fields.#.state-name", use=Support.REFUSED, why=_BY_NAME),
        Option("fields.#.state-type", use=Support.REFUSED, why=_BY_NAME),
        Option("fields.#.key-class", use=Support.REFUSED, why=_BY_NAME),
        Option("fields.#.key-type-factory", use=Support.REFUSED, why=_BY_NAME),
        Option("fields.#.value-class", use=Support.REFUSED, why=_BY_NAME),
        Option("fields.#.value-type-factory", use=Support.REFUSED, why=_BY_NAME),
    )  # fmt: skip

    def columns(self, table: Table) -> tuple[PhysicalColumn, ...]:
        path = self._path(table)
        if (folder := folder_of(path)) is None:
            raise ValidationError(
                f"The columns of a table in '{path}' must be declared: a savepoint that is not on this machine is looked at when it is read.",
                hint=f"DESCRIBE SAVEPOINT '{path}' prints a CREATE TABLE of each operator.",
            )
        return tuple(PhysicalColumn(c.name, c.type) for c in self._operator(table, folder).columns)

    def check(self, table: Table) -> list[str]:
        notices = option_rows.check_options(self.name, plain_options(table), self.options)
        if (folder := folder_of(self._path(table))) is not None:
            _check_columns(table, self._operator(table, folder))
        return notices

    def bounded(self, table: Table) -> bool:
        return True

    def static(self, table: Table) -> bool:
        return True

    def read(self, request: Read) -> SourceFrame:
        from pyspark.sql import DataFrame
        from pyspark.sql import functions as F

        table, spark = request.table, request.spark
        path = self._path(table)
        savepoint = folder_of(path) or storage.place(path, request.project, storage.Hadoop(lambda: storage.Running(spark)))
        operator = self._operator(table, savepoint)
        _check_columns(table, operator)
        check_whole(spark, savepoint, written(savepoint), f"{operator.checkpoint.parent.name}/{operator.checkpoint.name}")
        if not operator.checkpoint.exists():
            # Its query had not begun.
            return SourceFrame(spark.range(0).select(*[F.lit(None).cast(c.type.spark).alias(c.name) for c in table.physical]))
        rows = classes(spark).checkpoints.StateRows.of(
            spark._jsparkSession, storage.uri(operator.checkpoint), operator.number, json.dumps(operator.reader)
        )
        there = {c.name: c for c in operator.columns}
        return SourceFrame(DataFrame(rows, spark).select(*[F.expr(_carried(there[c.name], c.type)).alias(c.name) for c in table.physical]))

    def datasets(self, table: Table, project: Path) -> tuple[Dataset, ...]:
        return (Dataset(*file_names(self._path(table), project)),)

    def _path(self, table: Table) -> str:
        if (path := table.options.get("state.path")) is None:
            option_rows.check_options(self.name, plain_options(table), self.options)
        return path or ""

    def _operator(self, table: Table, savepoint: Place) -> StateOperator:
        """The operator that ``table`` names, of this ``savepoint``. Raises ValidationError, NotSupported."""
        uid, by_hash = (table.options.get(key) for key in ("operator.uid", "operator.uid.hash"))
        if (uid is None) == (by_hash is None):
            raise ValidationError("Either 'operator.uid' or 'operator.uid.hash' must be set.", hint="DESCRIBE SAVEPOINT prints the uids.")
        operator = find(savepoint, uid=uid, node_hash=by_hash)
        if not operator.columns:
            raise NotSupported(
                f"What operator '{operator.uid}' keeps can't be read as a table: {operator.text}.",
                hint="A savepoint of an earlier release says nothing of its columns: run its job with this one, and save it again."
                if not operator.reader
                else "DESCRIBE SAVEPOINT lists what can be read.",
            )
        return operator


def _check_columns(table: Table, operator: StateOperator) -> None:
    """Refuse what ``table`` declares and ``operator`` does not keep. Raises ValidationError."""
    there = {c.name: c for c in operator.columns}
    right = f"This is right:\n{operator.declaration(table.options['state.path'], table.path.name)}"
    if table.metadata:
        raise ValidationError("The 'savepoint' connector has no metadata columns.", hint=right)
    for column in table.physical:
        kept = there.get(column.name)
        if kept is None:
            raise ValidationError(
                f"Operator '{operator.uid}' of the savepoint keeps no '{column.name}'.",
                hint=did_you_mean(column.name, there) or right,
            )
        if not kept.type.same(column.type):
            problem = f"Column '{column.name}' is declared {column.type.full}, and operator '{operator.uid}' keeps {kept.type.full}."
            raise ValidationError(problem, hint=right)
    keys = [c.name for c in operator.columns if c.key]
    declared = table.primary_key.columns if table.primary_key else ()
    if declared and set(declared) != set(keys):
        raise ValidationError(f"The key of operator '{operator.uid}' is ({', '.join(keys)}), not ({', '.join(declared)}).", hint=right)


def _carried(kept: StateColumn, type_: Type) -> str:
    """SQL of a column that is declared as ``type_``; the query fails on a NULL that there must not be."""
    value = f"CAST({kept.sql} AS {type_.spark})"
    if type_.nullable or not kept.type.nullable:
        return value
    problem = f"Column '{kept.name}' is declared NOT NULL, and the savepoint has a key for which it is NULL."
    return f"coalesce({value}, CAST(raise_error({spark_string(problem)}) AS {type_.spark}))"
