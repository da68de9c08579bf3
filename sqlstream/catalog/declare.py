"""CREATE TABLE and CREATE VIEW statements as Table and View values.

A statement's syntax goes in with the path it names; a checked value comes out. LIKE's base and a query's schema come from the caller. Messages are
Flink's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from sqlglot import exp

from sqlstream.catalog import functions
from sqlstream.catalog.circles import refuse_circle
from sqlstream.catalog.like import PLAIN, merge, strategies, with_query_schema
from sqlstream.catalog.schema import NOTHING, SchemaColumn, checked
from sqlstream.connectors import CONNECTORS
from sqlstream.core.errors import SqlStreamError, ValidationError
from sqlstream.sql.functions import find as builtin
from sqlstream.sql.names import unique
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.syntax import ast
from sqlstream.sql.syntax.calls import Builtin
from sqlstream.sql.syntax.clauses import with_of
from sqlstream.sql.syntax.data_types import flink_type
from sqlstream.sql.tables import (
    Column,
    ComputedColumn,
    Distribution,
    MetadataColumn,
    ObjectPath,
    PhysicalColumn,
    PrimaryKey,
    Table,
    View,
    WatermarkStrategy,
)

if TYPE_CHECKING:
    from sqlstream.catalog.namespaces import CatalogManager
    from sqlstream.sql.bind import Scope

E = TypeVar("E", bound=exp.Expr)
SchemaOf = Callable[[exp.Query], tuple[SchemaColumn, ...]]
"""What the planner says that a query gives; several of its columns may have one name."""

_ENFORCED = (
    "Flink doesn't support ENFORCED mode for PRIMARY KEY constraint. ENFORCED/NOT ENFORCED controls if the constraint checks are performed on the "
    "incoming/outgoing data. Flink does not own the data therefore the only supported mode is the NOT ENFORCED mode"
)


@dataclass
class Components:
    """The parts of a table that a statement lists between its parentheses."""

    columns: list[Column] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    watermarks: list[WatermarkStrategy] = field(default_factory=list)
    keys: list[PrimaryKey] = field(default_factory=list)
    distribution: Distribution | None = None
    places: dict[tuple[str, str], Any] = field(default_factory=dict)


def components(nodes: Iterable[exp.Expr]) -> Components:
    """The declared parts among ``nodes``, with their places."""
    parts = Components()
    for node in nodes:
        match node:
            case ast.NameDef():
                parts.order.append(node.name)
                parts.places["column", node.name] = node
            case ast.PhysicalColumnDef() | ast.ComputedColumnDef() | ast.MetadataColumnDef():
                parts.columns.append(column(node))
                parts.places["column", node.name] = node
                declared = node.primary_key if isinstance(node, ast.PhysicalColumnDef) else None
                if declared:
                    definition = declared if isinstance(declared, ast.PrimaryKeyDef) else None
                    _add_key(
                        parts,
                        PrimaryKey((node.name,), definition.name or None if definition else None),
                        [node],
                        definition,
                    )
            case ast.WatermarkDef():
                parts.watermarks.append(watermark(node))
                parts.places["watermark", parts.watermarks[-1].column] = node
            case ast.PrimaryKeyDef():
                key = PrimaryKey(tuple(c.name for c in node.expressions), node.name or None)
                _add_key(parts, key, node.expressions, node)
            case ast.DistributionDef():
                parts.distribution = distribution(node)
                parts.places.update({("bucket", c.name): c for c in node.expressions} | {("bucket", ""): node})
    if len(parts.watermarks) > 1:
        raise ValidationError(
            "Multiple WATERMARK declarations are not supported yet.",
            at=parts.places["watermark", parts.watermarks[1].column],
            hint="Declare a second table over the same data for a watermark of another column.",
        )
    if len(parts.keys) > 1:
        raise ValidationError("Duplicate primary key definition", at=parts.places["key", parts.keys[1].columns[0]])
    return parts


def _add_key(parts: Components, key: PrimaryKey, nodes: list[exp.Expression], definition: ast.PrimaryKeyDef | None) -> None:
    parts.keys.append(key)
    parts.places.update({("key", n.name): n for n in nodes})
    if definition is not None and definition.enforced:
        raise ValidationError(_ENFORCED, at=definition, hint="Write NOT ENFORCED behind PRIMARY KEY.")


def column(node: exp.Expr) -> Column:
    """One column's declaration."""
    assert isinstance(node, ast.PhysicalColumnDef | ast.MetadataColumnDef | ast.ComputedColumnDef)
    comment = text_of(node.comment)
    match node:
        case ast.PhysicalColumnDef():
            return PhysicalColumn(node.name, flink_type(node.kind), comment)
        case ast.MetadataColumnDef():
            key = text_of(node.metadata_key)
            return MetadataColumn(node.name, flink_type(node.kind), key or node.name, node.virtual, comment)
    subquery = node.expression.find(exp.Query)
    if subquery is not None:
        raise ValidationError("Query expression encountered in illegal context", at=subquery)
    return ComputedColumn(node.name, node.expression, comment)


def watermark(node: ast.WatermarkDef) -> WatermarkStrategy:
    """A watermark's declaration; a dotted column keeps its dots, so that it is found missing."""
    target = node.this
    name = ".".join(p.name for p in target.parts) if isinstance(target, exp.Column | exp.Dot) else target.name
    return WatermarkStrategy(name, node.expression)


def distribution(node: ast.DistributionDef) -> Distribution:
    """DISTRIBUTED BY, or ADD and MODIFY DISTRIBUTION."""
    kind, buckets = node.kind, node.buckets
    return Distribution(
        str(getattr(kind, "name", kind)).upper() if kind else None,
        tuple(c.name for c in node.expressions),
        int(buckets.name) if buckets is not None else None,
    )


def names_of(node: exp.Expression) -> tuple[str, ...]:
    """The names of a path, or of a single identifier."""
    return ast.parts(node) if isinstance(node, exp.Table) else (node.name,)


def text_of(node: Any) -> str | None:
    """The text of a string literal; None where there is none."""
    return node.name if isinstance(node, exp.Expression) else node


def options_of(nodes: Iterable[exp.Expression] | None) -> dict[str, str]:
    """WITH's or SET's options; of two with one key the last counts."""
    return {node.this.name: node.expression.name for node in nodes or ()}


def table(node: ast.CreateTable, path: ObjectPath, manager: CatalogManager, schema_of: SchemaOf | None, scope: Scope = NOTHING) -> Table:
    """The table of a CREATE TABLE statement, LIKE and AS SELECT included."""
    parts = components(
        [
            *node.columns,
            *node.watermarks,
            *node.primary_keys,
        ]
    )
    if isinstance(node.distribution, ast.DistributionDef):
        spread = components([node.distribution])
        parts.distribution = spread.distribution
        parts.places.update(spread.places)
    partitions = node.partitioned_by
    parts.places.update({("partition", p.name): p for p in partitions})
    made = Table(
        path,
        tuple(parts.columns),
        options_of(node.options),
        parts.watermarks[0] if parts.watermarks else None,
        parts.keys[0] if parts.keys else None,
        tuple(p.name for p in partitions),
        parts.distribution,
        text_of(node.comment),
        node.temporary,
    )
    own: frozenset[str] | None = None
    like, query = node.like_clause, node.query
    if query is not None:
        made = _from_query(made, query, tuple(parts.order), parts, schema_of)
    elif parts.order:
        raise ValidationError(f"Column '{parts.order[0]}' has no type.", at=parts.places["column", parts.order[0]])
    elif like is not None:
        own = frozenset(c.name for c in made.columns)
        how = strategies(tuple((o.name.upper(), _kind(o)) for o in like.expressions))
        made = merge(_like_source(like.this, manager), made, how, parts.places)
    else:
        made = merge(None, _with_inferred_columns(made), PLAIN, parts.places)
    made = checked(made, parts.places, own=own, scope=scope, in_order=like is None and query is None)
    return without_places(made, manager)


def _with_inferred_columns(made: Table) -> Table:
    """``made`` with the columns that its connector finds, where it declares none."""
    connector = None if made.columns else CONNECTORS.find(made.connector)
    return made if connector is None else replace(made, columns=connector.columns(made))


def _kind(option: ast.LikeOption) -> str:
    return option.kind.upper()


def _like_source(node: exp.Expression, manager: CatalogManager) -> Table:
    path = manager.path(ast.parts(node), node)
    source = manager.get(path, node)
    if source is None:
        raise ValidationError(f"Source table '{path.quoted}' of the LIKE clause not found in the catalog", at=node, hint=manager.meant(path))
    if isinstance(source, View):
        raise ValidationError(
            f"Source table '{path.quoted}' of the LIKE clause can not be a VIEW", at=node, hint="Name the table that the view reads."
        )
    return source


def _from_query(made: Table, query: exp.Query, order: tuple[str, ...], parts: Components, schema_of: SchemaOf | None) -> Table:
    if made.temporary:
        raise ValidationError(
            "CREATE TABLE AS SELECT syntax does not support to create temporary table yet.",
            at=query,
            hint="CREATE the TEMPORARY TABLE with its columns, then INSERT INTO it.",
        )
    if not made.connector:
        raise ValidationError(
            "Table options do not contain an option key 'connector' for discovering a connector.", hint="HELP lists the connectors."
        )
    if schema_of is None:
        raise ValidationError("CREATE TABLE ... AS SELECT can't be used here: it runs a job.", at=query)
    columns = schema_of(query)
    schema = tuple((name, one[1]) for name, one in zip(unique([c[0] for c in columns]), columns, strict=True))
    return with_query_schema(made, schema, order, parts.places)


def view(node: ast.CreateView, path: ObjectPath, manager: CatalogManager, schema_of: SchemaOf | None) -> View:
    """The view of a CREATE VIEW statement. Its query is analysed where ``schema_of`` is given."""
    return checked_view(_view(node, path), manager, schema_of, node.columns)


def stored_view(node: ast.CreateView, path: ObjectPath, manager: CatalogManager) -> View:
    """The view of a CREATE VIEW statement that a store keeps: nothing that it reads is looked up, also not whether that leads back to it."""
    made = _view(node, path)
    return replace(made, query=_strip_places(qualified(made.query, manager)))


def _view(node: ast.CreateView, path: ObjectPath) -> View:
    names = tuple(c.name for c in node.columns)
    return View(path, node.query, names, text_of(node.comment), node.temporary, text_of(node.query_text) or "")


def checked_view(declared: View, manager: CatalogManager, schema_of: SchemaOf | None, columns: Iterable[exp.Expr] = ()) -> View:
    """``declared`` with its query's names resolved, if the query can be analysed and its columns fit."""
    nodes = tuple(columns)
    selected: list[str] = []
    if schema_of is not None:
        selected = [c[0] for c in schema_of(declared.query)]
        if declared.columns and len(declared.columns) != len(selected):
            raise ValidationError(
                f"VIEW definition and input fields not match:\n\tDef fields: [{', '.join(declared.columns)}].\n"
                f"\tInput fields: [{', '.join(selected)}].",
                at=nodes[0] if nodes else None,
            )
        final = list(declared.columns) or selected
        for i, name in enumerate(final):
            if name in final[:i]:
                at = nodes[i] if nodes else declared.query
                raise ValidationError(f"A column with the same name `{name}` has been defined.", at=at)
    named = replace(declared, query=qualified(declared.query, manager), given=tuple(unique(selected)))
    refuse_circle(named, manager)
    return replace(named, query=_strip_places(named.query))


def qualified(query: exp.Query, manager: CatalogManager) -> exp.Query:
    """A copy of ``query`` whose names of tables and functions are full paths: the current catalog and database are those of now."""
    copy: exp.Query = with_full_calls(query, manager)
    for node in list(copy.find_all(exp.Table)):
        if not isinstance(node.this, exp.Identifier) or _is_cte(node):
            continue
        names = ast.parts(node)
        node.this.set("quoted", True)
        if len(names) < 3:
            path = manager.path(names, node)
            node.set("catalog", exp.to_identifier(path.catalog, quoted=True))
            node.set("db", exp.to_identifier(path.database, quoted=True))
            if not node.alias and len(names) == 1 and not isinstance(node.parent, ast.TableArgument):
                node.set("alias", exp.TableAlias(this=exp.to_identifier(path.name, quoted=True)))
    return copy


def says_the_same(declared: View, manager: CatalogManager, text: str) -> bool:
    """Whether ``text``, read in the current catalog and database of ``manager``, is the query of ``declared``."""
    try:
        query = parse(text)
        return isinstance(query, exp.Query) and qualified(query, manager) == declared.query
    except SqlStreamError:
        return False


def with_full_calls(node: E, manager: CatalogManager) -> E:
    """A copy of ``node`` in which the calls of functions of a catalog have full paths."""
    copy = node.copy()
    # Functions that sqlglot knows are built in.
    for call in copy.find_all(exp.Anonymous, Builtin, ast.TableFunction):
        names = tuple(call.name.split("."))
        if len(names) == 1 and builtin(call.name) is not None:
            continue
        function = functions.find_function(manager, names)
        if function is not None and not function.system:
            call.set("this", ".".join(function.path))
    return copy


def _is_cte(node: exp.Table) -> bool:
    """Whether a WITH around ``node`` names it: before the query that it is in, if that is one of them."""
    if node.args.get("db") is not None:
        return False
    inside: exp.Expr = node
    while (above := inside.parent) is not None:
        with_ = above if isinstance(above, exp.With) else with_of(above)
        for cte in with_.expressions if with_ is not None else ():
            if cte is inside:
                break
            if cte.alias == node.name:
                return True
        # What the WITH of a query names is known to the query, but not to what stands in the WITH itself.
        inside = above.parent if isinstance(above, exp.With) and above.parent is not None else above
    return False


def _strip_places(node: Any) -> Any:
    """``node`` without its places in the script it came from: later errors are about another script."""
    for part in node.walk():
        part.meta.pop("start", None)
        part.meta.pop("end", None)
    return node


def without_places(declared: Table, manager: CatalogManager) -> Table:
    """``declared`` with all its expressions without places, and with the full paths of the functions that they call."""

    def bare(expression: E) -> E:
        full: E = _strip_places(with_full_calls(expression, manager))
        return full

    mark = declared.watermark
    return replace(
        declared,
        columns=tuple(replace(c, expression=bare(c.expression)) if isinstance(c, ComputedColumn) else c for c in declared.columns),
        watermark=mark and replace(mark, expression=bare(mark.expression)),
    )
