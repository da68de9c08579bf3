"""Items of FROM: tables with their computed columns and watermark, views, sub-queries, VALUES, window table functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlstream.catalog.circles import reads_itself
from sqlstream.connectors import find_connector
from sqlstream.core.errors import NotSupported, SqlStreamError, ValidationError, did_you_mean
from sqlstream.plan.builder.correlate import column_names
from sqlstream.plan.builder.dead_letters import of_source
from sqlstream.plan.builder.hints import check_of_table
from sqlstream.plan.builder.match import match
from sqlstream.plan.builder.metadata import refuse_unknown_metadata
from sqlstream.plan.builder.savepoint_metadata import NAME as SAVEPOINT_METADATA
from sqlstream.plan.builder.savepoint_metadata import savepoint_metadata
from sqlstream.plan.builder.scope import Environment, Relation
from sqlstream.plan.builder.time_travel import travelled
from sqlstream.plan.builder.usable import about, usable
from sqlstream.plan.builder.windows import over_windows
from sqlstream.plan.nodes import WINDOW_COLUMNS, ChangelogNormalize, Named, Node, Project, Scan, Watermark, Window
from sqlstream.plan.properties import field, fields, walk
from sqlstream.plan.time_attributes import time_attribute, why_none
from sqlstream.sql.bind import bind
from sqlstream.sql.expressions import ColumnRef
from sqlstream.sql.functions import elsewhere
from sqlstream.sql.functions.windows import WINDOW_FUNCTIONS, window_function
from sqlstream.sql.literals import interval_millis
from sqlstream.sql.names import UNIQUE, repeated
from sqlstream.sql.syntax import ast
from sqlstream.sql.syntax.clauses import alias_of, hints_of, is_modified, version_of
from sqlstream.sql.tables import ComputedColumn, Table, View

Query = Callable[[exp.Expr, Environment], Node]

# Flink's planner ends between 200 and 400 of them.
_MOST_VIEWS = 400
# A view that reads another one twice, which reads another one twice, has more of them soon than anything ends with.
_MOST_READS = 2000


def relation(node: exp.Expr, env: Environment, query: Query) -> Relation:
    """The relation of one item of FROM. Raises ValidationError, NotSupported."""
    made = _relation(node, env, query)
    return replace(made, node=env.placed(made.node, node))


def _relation(node: exp.Expr, env: Environment, query: Query) -> Relation:
    for part in ("pivots", "sample", "joins", "laterals", "when", "version", "partition", "ordinality"):
        if node.args.get(part):
            at = node.args[part][0] if isinstance(node.args[part], list) else node
            raise NotSupported(f"{part.upper()} is not Flink SQL.", at=at, hint="Leave it out: Flink SQL has nothing of the kind behind a table.")
    match node:
        case ast.MatchRecognize():
            return _aliased(match(node, relation(node.this, env, query).node, env), node, default=None)
        case exp.Table():
            return _aliased(_named(node, env, query), node, default=node.name)
        case exp.Subquery():
            made = query(_unaliased(node), env)
            return _aliased(made, node, default=None, names=env.names(node, made))
        case exp.Values():
            bare = node.copy()
            bare.set("alias", None)
            values = query(bare, env)
            if node.alias and len(fields(values)) == 1 and not node.args["alias"].columns:
                # As in SQL the only column has the name of the whole.
                values = Project(values, tuple(Named(node.alias, ColumnRef(f.type, f.name)) for f in fields(values)))
            return _aliased(values, node, default=None)
        case ast.TableFunction():
            made, names = _table_function(node, env, query)
            return _aliased(made, node, default=None, names=names)
    raise NotSupported(
        "This is nothing that rows come from.", at=node, hint="FROM takes a table, a view, a query in parentheses, TABLE(function) or UNNEST(..)."
    )


def _unaliased(node: exp.Subquery) -> exp.Expr:
    modified = is_modified(node)
    return node if modified else node.this


def _aliased(node: Node, item: exp.Expr, default: str | None, names: Sequence[str] | None = None) -> Relation:
    """``node`` under the alias of ``item``; ``names`` are the names of its columns before that, where they differ from those of ``node``."""
    alias = alias_of(item)
    if alias is None:
        return Relation.of(node, default, names)
    if alias.columns:
        columns = fields(node)
        names = column_names([f.name for f in columns], alias)
        node = Project(node, tuple(Named(n, ColumnRef(f.type, f.name)) for n, f in zip(names, columns, strict=True)))
    return Relation.of(node, alias.name or default, names)


def _named(node: exp.Table, env: Environment, query: Query) -> Node:
    parts = ast.parts(node)
    version = version_of(node)
    if len(parts) == 1 and parts[0] in env.ctes:
        if version is not None:
            raise ValidationError(f"'{parts[0]}' is a query, but time travel is not supported for queries.", at=version)
        named = env.ctes[parts[0]]
        _count(sum(not n.inputs for n in walk(named)), node, env)
        return named
    declared = env.resolver.resolve(parts, at=node)
    hints = hint_options(hints_of(node), env)
    if isinstance(declared, View):
        if version is not None:
            raise ValidationError(f"{declared.path} is a view, but time travel is not supported for view.", at=version)
        if hints:
            raise ValidationError(f"View '{declared.path}' cannot be enriched with new options. Hints can only be applied to tables.", at=node)
        return view(declared, env, query, node)
    declared = replace(declared, options={**declared.options, **hints})
    _count(1, node, env)
    return table(declared if version is None else travelled(declared, version, env.settings.zone), env, at=node)


def _count(more: int, at: exp.Expr, env: Environment) -> None:
    env.reads.extend([at] * more)
    if len(env.reads) > _MOST_READS:
        problem = f"More than {_MOST_READS:,} tables are read; those of a view or of WITH count each time that it is read."
        raise NotSupported(problem, at=at, hint="INSERT what is read so often into a table, and read that.")


def hint_options(hints: list[ast.OptionsHint], env: Environment) -> dict[str, str]:
    """The options of ``/*+ OPTIONS(..) */``; hints for other places get a notice. Raises ValidationError for one that is not known."""
    options: dict[str, str] = {}
    for hint in hints:
        check_of_table(hint)
        if hint.name != "OPTIONS":
            env.notices.append(f"The hint {hint.name} has no effect.")
            continue
        if not env.settings.dynamic_options:
            raise ValidationError(
                "The 'OPTIONS' hint is allowed only when the config option 'table.dynamic-table-options.enabled' is set to true.", at=hint
            )
        options |= {o.this.name: o.expression.name for o in hint.expressions}
    return options


def view(declared: View, env: Environment, query: Query, at: exp.Expr | None) -> Node:
    """A view: its query's columns under its own names."""
    around = (*env.views, declared.path)
    if declared.path in env.views:
        raise reads_itself(around[env.views.index(declared.path) :], at)
    if len(around) > _MOST_VIEWS:
        raise NotSupported(f"More than {_MOST_VIEWS} views are nested.", at=at, hint="Write the query of some of them into others.")
    resolver = env.resolver.within(declared.path.catalog, declared.path.database)
    of_view = replace(env, resolver=resolver, ctes={}, views=around, view_at=env.view_at or at)
    try:
        node = query(declared.query, of_view)
    except SqlStreamError as error:
        # The query of a view has no place in the statement.
        error.at = error.at if error.offset is not None else at
        raise
    by_name = {f.name: f for f in fields(node)}
    read = declared.given or tuple(by_name)
    names = declared.columns or read
    if not declared.columns and (twice := repeated(env.names(declared.query, node))) is not None:
        raise ValidationError(f"View '{declared.path}' has two columns '{twice}'.", at=at, hint=UNIQUE)
    if names == tuple(by_name):
        return node
    if missing := next((g for g in read if g not in by_name), None):
        raise ValidationError(f"View '{declared.path}' reads the column '{missing}', which is no longer there.", at=at)
    return Project(node, tuple(Named(n, ColumnRef(by_name[g].type, g)) for n, g in zip(names, read, strict=True)))


def table(declared: Table, env: Environment, at: exp.Expr | None) -> Node:
    """A table as a query sees it: declared columns in order, computed ones included, and its watermark."""
    declared = usable(declared, env, at)
    connector = find_connector(declared.connector, at)
    if not connector.is_source:
        raise ValidationError(f"Connector '{declared.connector}' can only be used as a sink. It cannot be used as a source.", at=at)
    refuse_unknown_metadata(declared, at, writing=False)
    with about(at):
        connector.check_source(declared)
    fixed = env.settings.batch or connector.static(declared)
    mode = connector.source_mode(declared)
    node: Node = Scan(declared, connector.bounded(declared), fixed, mode, dead_letters=of_source(declared, env, at))
    if fixed or not (mode.updates and (env.settings.changes_twice or not mode.retracts)):
        return _watermarked(_with_computed(node, declared, env, [c.name for c in declared.columns]), declared, env)
    if declared.primary_key is None:
        raise ValidationError(
            "Configuration 'table.exec.source.cdc-events-duplicate' is enabled which requires the changelog sources to define a PRIMARY KEY. "
            f"However, table '{declared.path}' doesn't have a primary key.",
            at=at,
        )
    # What a row is compared with is as its source has it: a time that is read from the clock comes above.
    read = {name.name for name in declared.watermark.expression.find_all(exp.Column)} | {declared.watermark.column} if declared.watermark else set()
    below = [c.name for c in declared.columns if not isinstance(c, ComputedColumn) or c.name in read]
    node = _watermarked(_with_computed(node, declared, env, below), declared, env)
    node = ChangelogNormalize(node, declared.primary_key.columns)
    return _with_computed(node, declared, env, [c.name for c in declared.columns])


def _with_computed(node: Node, declared: Table, env: Environment, names: list[str]) -> Node:
    """``node`` with exactly the columns ``names`` of the table, of which it computes those that ``node`` lacks."""
    types = {f.name: f.type for f in fields(node)}
    if list(types) == names:
        return node
    scope = Relation.of(node, None).scope(env.settings)
    computed = {c.name: c.expression for c in declared.columns if isinstance(c, ComputedColumn)}
    return Project(node, tuple(Named(n, ColumnRef(types[n], n) if n in types else bind(computed[n], scope)) for n in names))


def _watermarked(node: Node, declared: Table, env: Environment) -> Node:
    if declared.watermark is None:
        return node
    scope = Relation.of(node, None).scope(env.settings)
    return Watermark(node, declared.watermark.column, bind(declared.watermark.expression, scope))


def _table_function(node: ast.TableFunction, env: Environment, query: Query) -> tuple[Node, tuple[str, ...]]:
    """The node of a window function, or of savepoint_metadata, and the names of its columns: a column of its input may have the name of one that
    it adds.
    """
    name = node.name.upper()
    if name == SAVEPOINT_METADATA:
        return savepoint_metadata(node)
    if (function := window_function(name)) is None:
        there = (*(f.name for f in WINDOW_FUNCTIONS), "UNNEST", SAVEPOINT_METADATA, *env.settings.functions)
        near = elsewhere.TABLE_FUNCTIONS.get(name) or did_you_mean(name, there, "SHOW FUNCTIONS")
        raise ValidationError(f"No match found for function signature {node.name}", at=node, hint=near)
    arguments = _arguments(node, ("DATA", "TIMECOL", *function.lengths, *(() if function.merges else ("OFFSET",))))
    data, descriptor = arguments.get("DATA"), arguments.get("TIMECOL")
    if not isinstance(data, ast.TableArgument) or not isinstance(descriptor, ast.Descriptor):
        raise ValidationError(f"{name} takes TABLE t, DESCRIPTOR(time), {', '.join(function.lengths).lower()} [, offset].", at=node)
    partition = data.partition
    if partition and not function.merges:
        raise ValidationError(f"{name} takes no PARTITION BY.", at=node)
    source = _named(data.this, env, query) if isinstance(data.this, exp.Table) else query(data.this, env)
    if len(descriptor.expressions) != 1:
        raise ValidationError(f"{name} takes one time attribute in DESCRIPTOR.", at=descriptor.expressions[1])
    time = descriptor.expressions[0].name
    known = [f.name for f in fields(source)]
    if time not in known:
        raise ValidationError(f"Column '{time}' not found in any table", at=descriptor, hint=did_you_mean(time, known))
    column = field(source, time)
    if time_attribute(source, time) is None and not env.settings.batch:
        raise ValidationError(
            f"The window function requires the timecol is a time attribute type, but is {column.type}.",
            at=descriptor,
            hint=why_none(source, time),
        )
    if not column.type.is_timestamp:
        raise ValidationError(f"The window function requires the timecol to be a timestamp, but '{time}' is {column.type}.", at=descriptor)
    keys = []
    for item in partition:
        if item.name not in known:
            raise ValidationError(f"Column '{item.name}' not found in any table", at=item, hint=did_you_mean(item.name, known))
        keys.append(item.name)
    *distance, whole = function.lengths
    size = _millis(arguments.get(whole), whole.lower(), node)
    slide = _millis(arguments.get(distance[0]), distance[0].lower(), node) if distance else size
    offset = _millis(arguments["OFFSET"], "offset", node, signed=True) if "OFFSET" in arguments else 0
    if function.in_multiples and size % slide:
        sized, part = (first + "".join(map(str.capitalize, more)) for first, *more in (n.split("_") for n in function.plan_names))
        raise ValidationError(
            f"{name} table function based aggregate requires {sized} must be an integral multiple of {part}, but got "
            f"{sized} {size} ms and {part} {slide} ms",
            at=node,
            hint=f"Behind the time the {part} stands first, then the {sized}.",
        )
    return over_windows(source, Window(function, time, size, slide, offset, tuple(keys)), env.settings.zone), (*known, *WINDOW_COLUMNS)


def _arguments(node: ast.TableFunction, names: tuple[str, ...]) -> dict[str, exp.Expr]:
    by_name: dict[str, exp.Expr] = {}
    for position, argument in enumerate(node.expressions):
        named = isinstance(argument, ast.NamedArgument)
        if named and argument.this not in names:
            raise ValidationError(f"{node.name} has no argument '{argument.this}'.", at=argument, hint=f"It has {', '.join(names)}.")
        if not named and position >= len(names):
            raise ValidationError(f"{node.name} takes at most {len(names)} arguments.", at=argument)
        name = argument.this if named else names[position]
        if name in by_name:
            raise ValidationError(f"{node.name} has its argument '{name}' twice.", at=argument)
        by_name[name] = argument.expression if named else argument
    return by_name


def _millis(node: exp.Expr | None, what: str, at: exp.Expr, *, signed: bool = False) -> int:
    millis = interval_millis(node) if node is not None else None
    if millis is None:
        problem = f"The {what} of a window is an INTERVAL of days to seconds."
        raise ValidationError(problem, at=node if node is not None else at, hint="Write INTERVAL '1' MINUTE.")
    if millis <= 0 and not signed:
        raise ValidationError(f"The {what} of a window must be greater than zero.", at=node)
    return millis
