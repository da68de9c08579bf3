"""The table that gets dead letters: a row for each record and each row that a query leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlstream.connectors import find_connector
from sqlstream.connectors.base import DEAD_LETTER
from sqlstream.core.changelog import ChangelogMode
from sqlstream.core.errors import ValidationError, did_you_mean
from sqlstream.plan.builder.usable import usable
from sqlstream.sql.coercion import implicitly_castable
from sqlstream.sql.statements.parsing import path_of
from sqlstream.sql.tables import View
from sqlstream.sql.types import STRING, timestamp_ltz

if TYPE_CHECKING:
    from sqlstream.plan.builder.scope import Environment
    from sqlstream.sql.tables import Table

# What a dead letter has. Such a table has some of these columns.
COLUMNS = {
    "left_out_at": timestamp_ltz(3), "job": STRING, "kind": STRING, "source": STRING, "place": STRING, "reason": STRING, "record": STRING,
}  # fmt: skip
_SETTING = "table.exec.dead-letter"
_DECLARED = ", ".join(f"{name} {type_}" for name, type_ in COLUMNS.items())


def of_source(table: Table, env: Environment, at: Any) -> Table | None:
    """Where records of ``table`` go that can't be read; None where they fail the query. Raises ValidationError."""
    name = table.options.get(DEAD_LETTER)
    return of_query(env, at) if name is None else _named(name, f"Option '{DEAD_LETTER}' of {table.path.name}", env, at)


def of_query(env: Environment, at: Any) -> Table | None:
    """Where rows go that a query leaves out; None where they fail it, or as other settings say. Raises ValidationError."""
    return None if env.settings.dead_letters is None else _named(env.settings.dead_letters, _SETTING, env, at)


def _named(name: str, said_by: str, env: Environment, at: Any) -> Table:
    try:
        table = env.resolver.resolve(path_of(name), at=at)
    except ValidationError as error:
        raise ValidationError(f"{said_by} names '{name}', which is not there: {error.message}.", at=at, hint=error.hint) from error
    if isinstance(table, View):
        raise ValidationError(f"{said_by} names '{name}', which is a view: nothing can be written into it.", at=at)
    connector = find_connector(table.connector, at)
    table = usable(table, env, at)
    if not connector.is_sink or ChangelogMode.APPEND not in connector.sink_modes(table):
        raise ValidationError(f"{said_by} names '{name}', which takes no rows: its connector is '{table.connector}'.", at=at)
    for column in table.persisted:
        given = COLUMNS.get(column.name)
        if given is None:
            hint = did_you_mean(column.name, COLUMNS) or f"It can have these: {_DECLARED}."
            raise ValidationError(f"{said_by} names '{name}', whose column '{column.name}' no dead letter has.", at=at, hint=hint)
        if not implicitly_castable(given, column.type) or not column.type.nullable:
            problem = f"{said_by} names '{name}', whose column '{column.name}' is {column.type.full}."
            raise ValidationError(problem, at=at, hint=f"Declare it as {given}.")
    return table
