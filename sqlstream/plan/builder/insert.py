"""INSERT: maps the query's columns to the sink's, by position, with Flink's implicit casts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlstream.connectors import find_connector
from sqlstream.core.errors import NotSupported, ValidationError, did_you_mean
from sqlstream.plan.builder import dead_letters
from sqlstream.plan.builder.metadata import refuse_unknown_metadata
from sqlstream.plan.builder.queries import query
from sqlstream.plan.builder.relations import hint_options
from sqlstream.plan.builder.usable import usable
from sqlstream.plan.nodes import Conflict, Field, Named, Node, Project, Sink
from sqlstream.plan.places import placed
from sqlstream.plan.properties import fields
from sqlstream.sql.bind import Scope, bind, cast_to, implicitly_castable
from sqlstream.sql.expressions import ColumnRef, Expr, Literal
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from sqlglot import exp

    from sqlstream.plan.builder.scope import Environment
    from sqlstream.sql.tables import MetadataColumn, PhysicalColumn, Table


def insert(node: ast.Insert, target: Table, env: Environment) -> Sink:
    """The plan of an INSERT into ``target``. Raises ValidationError, NotSupported."""
    target = replace(target, options={**target.options, **hint_options(node.hints, env)})
    static = _partition(node, target, env)
    source = query(node.query, env)
    sink = into(source, target, env, node, static=static, overwrite=node.overwrite)
    # In batch mode Flink takes no notice of the clause.
    return sink if node.conflict is None or env.settings.batch else replace(sink, conflict=Conflict(node.conflict.this), on_conflict=node.conflict)


def into(source: Node, target: Table, env: Environment, node: exp.Expr, *, static: dict[str, Expr] | None = None, overwrite: bool = False) -> Sink:
    """``source`` written into ``target``; ``static`` are the values of PARTITION (..)."""
    static = static or {}
    target = usable(target, env, node.this)
    connector = find_connector(target.connector, node.this)
    if not connector.is_sink:
        problem = f"Connector '{target.connector}' can only be used as a source. It cannot be used as a sink."
        raise ValidationError(problem, at=node.this, hint="HELP lists the connectors; HELP CONNECTOR kafka says what one does.")
    if overwrite and not env.settings.batch:
        raise ValidationError("INSERT OVERWRITE is only supported in batch mode.", at=node, hint="SET 'execution.runtime-mode' = 'batch'.")
    refuse_unknown_metadata(target, node.this, writing=True)
    columns = target.persisted
    of_query = fields(source)
    named = node.columns if isinstance(node, ast.Insert) else []
    wanted = [c for c in columns if c.name not in static]
    if named:
        wanted = [_column(target, n) for n in named]
        if len({c.name for c in wanted}) != len(wanted):
            raise ValidationError("Target column is assigned more than once", at=named[0])
    if len(wanted) != len(of_query):
        raise _mismatch(target, "Different number of columns.", of_query, wanted, node)
    by_name: dict[str, Expr] = dict(static)
    for position, (field, column) in enumerate(zip(of_query, wanted, strict=True)):
        if not implicitly_castable(field.type, column.type):
            raise _mismatch(target, f"Incompatible types for sink column '{column.name}' at position {position}.", of_query, wanted, node)
        by_name[column.name] = _stored(ColumnRef(field.type, field.name), column)
    for column in columns:
        if column.name not in by_name and not column.type.nullable:
            raise ValidationError(f"Column '{column.name}' has no default value and does not allow NULLs", at=node)
    projected = Project(source, tuple(Named(c.name, by_name.get(c.name, Literal(c.type, None))) for c in columns))
    partition = tuple((k, str(v.value)) for k, v in static.items() if isinstance(v, Literal))
    return Sink(
        placed(projected, node.this),
        target,
        overwrite,
        partition,
        drop_nulls=env.settings.drop_nulls,
        dead_letters=dead_letters.of_query(env, node.this),
        at=node.this,
    )


def _stored(ref: ColumnRef, column: PhysicalColumn | MetadataColumn) -> Expr:
    # Lengths of strings are not enforced (table.exec.sink.type-length-enforcer = IGNORE).
    if (ref.type.is_string and column.type.is_string) or (ref.type.is_binary and column.type.is_binary):
        return ref
    return cast_to(ref, column.type)


def _column(target: Table, name: exp.Identifier) -> PhysicalColumn | MetadataColumn:
    for column in target.persisted:
        if column.name == name.name:
            return column
    raise ValidationError(f"Unknown target column '{name.name}'", at=name, hint=did_you_mean(name.name, [c.name for c in target.persisted]))


def _partition(node: ast.Insert, target: Table, env: Environment) -> dict[str, Expr]:
    values: dict[str, Expr] = {}
    for item in node.partition:
        name = item.this.name
        if name not in target.partition_keys:
            raise ValidationError(f"PARTITION: '{name}' is not among the partition columns of '{target.path}'.", at=item)
        column = next(c for c in target.persisted if c.name == name)
        value = bind(item.expression, Scope((), zone=env.settings.zone, functions=env.settings.functions))
        if not isinstance(value, Literal):
            raise NotSupported(
                "PARTITION takes constants.", at=item, hint="Select what is computed as that column, without PARTITION: each row goes into its own."
            )
        values[name] = value if value.type.is_string and column.type.is_string else cast_to(value, column.type)
    return values


def _mismatch(
    target: Table, cause: str, columns: tuple[Field, ...], wanted: list[PhysicalColumn | MetadataColumn], node: exp.Expr
) -> ValidationError:
    return ValidationError(
        f"Column types of query result and sink for '{target.path}' do not match.\nCause: {cause}\n\n"
        f"Query schema: [{', '.join(f'{f.name}: {f.type.full}' for f in columns)}]\n"
        f"Sink schema:  [{', '.join(f'{c.name}: {c.type.full}' for c in wanted)}]",
        at=node.query if isinstance(node, ast.Insert | ast.CreateTable) and node.query else node,
        hint="INSERT INTO t (columns) names those that the query fills, in its order; CAST(x AS type) gives a column another type.",
    )
