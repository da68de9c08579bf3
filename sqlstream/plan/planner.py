"""From a statement's syntax to its plan: the part that needs no Spark, for sessions and for the linter."""

from __future__ import annotations

import os
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlstream.catalog.apply import StatementContext
from sqlstream.catalog.schema import table_columns
from sqlstream.connectors import CONNECTORS
from sqlstream.core import settings, spark_releases
from sqlstream.core.errors import SqlStreamError, ValidationError
from sqlstream.core.project_folder import ProjectFolder
from sqlstream.core.zones import is_zone
from sqlstream.formats.base import ProjectFiles
from sqlstream.plan.builder import queries as build
from sqlstream.plan.builder import relations, scope
from sqlstream.plan.builder.expanded import expanded
from sqlstream.plan.builder.insert import insert, into
from sqlstream.plan.conflicts import check_conflicts
from sqlstream.plan.nodes import Limit, Node, Sink, Sort
from sqlstream.plan.planned import Planned
from sqlstream.plan.properties import changelog_mode, fields, static
from sqlstream.plan.real_time import RealTime, refuse_unless_real_time
from sqlstream.plan.rules import rewrite
from sqlstream.plan.rules.each_node import resolved
from sqlstream.plan.validate import one_rowtime, validate
from sqlstream.sql.bind import Scope
from sqlstream.sql.syntax import ast
from sqlstream.sql.tables import Table, View
from sqlstream.udf.declarations import lookup
from sqlstream.udf.declarations.functions import FunctionSettings
from sqlstream.udf.declarations.modules import Modules
from sqlstream.udf.worker.concurrent import Calls

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from sqlglot import exp

    from sqlstream.catalog.entries import UserFunction
    from sqlstream.catalog.namespaces import CatalogManager
    from sqlstream.catalog.project import CatalogFiles
    from sqlstream.udf.declarations.java import JavaFunctions


_ASYNC = ("max-concurrent-operations", "timeout", "retry-strategy", "retry-delay", "max-attempts")


class Planner:
    """A session's catalog and options, and the plans of statements in them."""

    def __init__(
        self, project: Path, catalog: CatalogManager, files: CatalogFiles, options: MutableMapping[str, str], java: JavaFunctions, *,
        python: bool = True,
    ) -> None:  # fmt: skip
        """``java``: what knows the functions in jars. ``python``: whether the project's modules of functions are run; if not, the functions are read
        from their text.
        """
        self.project = project
        self.catalog = catalog
        self.files = files
        self.options = options
        self.errors: list[SqlStreamError] = []
        self.modules = Modules(project, runs=python)
        self._java = java
        self._placed: dict[str, UserFunction] = {}
        # The version of the modules whose functions are in the catalog.
        self._registered = 0
        # Whether nothing is run, so that variables of the environment need not be set.
        self.dry = False

    def load(self) -> list[SqlStreamError]:
        """Register the functions of the project's modules and what its catalog files declare; the errors come back."""
        self.reload()
        self.errors = [*self.modules.errors, *self.files.load(self.catalog, self._scope)]
        return self.errors

    def reload(self) -> tuple[list[str], list[SqlStreamError]]:
        """Load the modules of functions whose files have changed, and register the functions: a line about each file, and what is wrong in them."""
        lines = self.modules.refresh(settings.read(self.options, "python.files"))
        # A copy of this planner may have loaded them.
        if self.modules.version == self._registered:
            return lines, []
        CONNECTORS.take(self.modules.connectors.values())
        self._placed = lookup.register_functions(self.catalog, self.modules, self._placed)
        self._registered = self.modules.version
        return lines, self.modules.errors

    def isolated_copy(self, *, dry: bool = False) -> Planner:
        """A planner that starts with this one's catalog and options and keeps changes to itself. ``dry``: what it plans is not run."""
        other = copy(self)
        other.dry = dry or self.dry
        other.catalog, other.options = self.catalog.isolated_copy(), dict(self.options)
        return other

    @property
    def zone(self) -> str:
        """``table.local-time-zone``."""
        zone = self.options.get("table.local-time-zone", "default")
        return _machine_zone() if zone == "default" else zone

    # --- what names mean ----------------------------------------------------------------------------------------------

    def environment(self, catalog: str | None = None, database: str | None = None) -> scope.Environment:
        resolver = self.catalog.within(catalog, database) if catalog and database else self.catalog
        notices: list[str] = []
        functions = self.functions(resolver, notices)
        return scope.Environment(
            resolver,
            scope.PlanSettings(
                zone=self.zone,
                database=self.catalog.current_database,
                batch=settings.read(self.options, "execution.runtime-mode") == "batch",
                dynamic_options=settings.read(self.options, "table.dynamic-table-options.enabled"),
                real_time=RealTime.wanted(self.options),
                release=spark_releases.wanted(self.options),
                state_ttl=int(settings.read(self.options, "table.exec.state.ttl")),
                require_on_conflict=settings.read(self.options, "table.exec.sink.require-on-conflict"),
                drop_nulls=settings.read(self.options, "table.exec.sink.not-null-enforcer").upper() == "DROP",
                dead_letters=settings.read(self.options, "table.exec.dead-letter"),
                changes_twice=settings.read(self.options, "table.exec.source.cdc-events-duplicate"),
                dry=self.dry,
                warehouse=settings.read(self.options, "table.warehouse"),
                files=ProjectFiles(self.project, self.options),
                functions=functions,
            ),
            table_function=functions.table,
            notices=notices,
        )

    def functions(self, resolver: CatalogManager | None = None, notices: list[str] | None = None) -> lookup.UserFunctions:
        """The user's functions by name; what a query should be told of them is added to ``notices``."""
        return lookup.UserFunctions(resolver or self.catalog, self.modules, self._java, self.function_settings, notices)

    @property
    def function_settings(self) -> FunctionSettings:
        """The options that Python functions depend on."""
        parameters = settings.read(self.options, "pipeline.global-job-parameters")
        table = settings.read(self.options, "table.exec.dead-letter")
        files = ""
        if settings.read(self.options, "udf.on-error") == "dead-letter":
            files = self.modules.shown(ProjectFolder(self.project).dead_letters)
        asked = (settings.read(self.options, f"table.exec.async-scalar.{name}") for name in _ASYNC)
        most, timeout, strategy, delay, attempts = asked
        calls = Calls(most, timeout, attempts if strategy == "fixed_delay" else 1, delay)
        return FunctionSettings(tuple(sorted(parameters.items())), table or files, calls)

    @property
    def _scope(self) -> Scope:
        return Scope((), zone=self.zone, functions=self.functions())

    def check_function(self, declared: UserFunction, at: exp.Expr) -> None:
        """Raises the error of a function that can't be declared."""
        self.functions().described(declared, at)

    def schema(self, item: Table | View) -> Any:
        """The columns of a table or a view: name, type, time attribute, whether they can be NULL."""
        if isinstance(item, Table):
            return table_columns(item, self.zone, self.functions())
        return _schema(relations.view(item, self.environment(), build.query, None))

    def expanded(self, view: View) -> exp.Query:
        """The query of ``view`` with every name in it qualified."""
        return expanded(view.query, self.environment(view.path.catalog, view.path.database))

    def context(self, *, script: bool, save: bool) -> StatementContext:
        """The context in which declarations are executed."""
        return StatementContext(scope=self._scope, schema_of=self._schema_of, project=self.files, script=script, save=save)

    def _schema_of(self, query: exp.Query) -> Any:
        env = self.environment()
        plan = build.query(query, env)
        return tuple((name, *column[1:]) for name, column in zip(env.names(query, plan), _schema(plan), strict=True))

    # --- plans --------------------------------------------------------------------------------------------------------

    def planned(self, node: exp.Expr, env: scope.Environment) -> Planned:
        """The plan of a query or an INSERT, or of the query of a CREATE TABLE .. AS. Raises SqlStreamError."""
        env = replace(env, reads=[])
        match node:
            case ast.Insert():
                logical: Node = insert(node, self.catalog.sink(ast.parts(node.this), node.this), env)
            case ast.CreateTable():
                target = self.catalog.sink(ast.parts(node.this), node.this)
                assert node.query is not None
                logical = into(build.query(node.query, env), target, env, node)
            case _:
                logical = build.query(node, env)

        def check(node: Node) -> None:
            one_rowtime(node, batch=env.settings.batch)
            if not env.settings.batch:
                check_conflicts(node, required=env.settings.require_on_conflict, notify=env.notices.append)

        plan = rewrite(logical, env.settings.state_ttl, batch=env.settings.batch, check=check)
        validate(plan if isinstance(plan, Sink) or env.settings.batch else without_limit(plan)[0], batch=env.settings.batch)
        if env.settings.real_time is RealTime.TRUE and not env.settings.batch:
            refuse_unless_real_time(plan, env.settings.release)
        return Planned(node, logical, plan)

    def selected(self, query: exp.Expr, env: scope.Environment) -> tuple[Node, int | None]:
        """The plan of a SELECT that is run, and after how many rows it ends (see ``without_limit``). Raises SqlStreamError."""
        logical = build.query(query, env)
        limited, count = (logical, None) if env.settings.batch else without_limit(logical)
        plan = rewrite(limited, env.settings.state_ttl, batch=env.settings.batch)
        validate(plan, batch=env.settings.batch)
        return plan, count

    def plans(self, node: exp.Expr) -> tuple[Planned, ...]:
        """The plans of the queries in a statement. Raises SqlStreamError."""
        env = self.environment()
        while isinstance(node, ast.Explain):
            node = node.this
        return tuple(self.planned(n, env) for n in (node.expressions if isinstance(node, ast.StatementSet) else [node]))


def without_limit(plan: Node) -> tuple[Node, int | None]:
    """A plan without the LIMIT at its end, and the limit's count: rows that never change can simply be counted, and the query ends with the last."""
    if not isinstance(plan, Limit) or plan.offset or static(plan):
        return plan, None
    counted = not isinstance(plan.input, Sort) and not changelog_mode(resolved(plan.input)).updates
    return (plan.input, plan.count) if counted else (plan, None)


def check_option(key: str, value: str, at: exp.Expr) -> str | None:
    """Check a SET; a notice for the user. Raises ValidationError, NotSupported."""
    notice = settings.check(key, value, at=at, key_at=at.meta.get("key", at))
    if key == "table.local-time-zone" and value != "default":
        _check_zone(value, at)
    return notice


def _schema(node: Node) -> Any:
    return tuple((f.name, f.type, f.time.value if f.time else None, f.type.nullable) for f in fields(resolved(node)))


def _machine_zone() -> str:
    if zone := os.environ.get("TZ", "").lstrip(":"):
        return "UTC" if zone in ("UTC", "Etc/UTC", "UTC0") else zone
    zone = str(Path("/etc/localtime").resolve()).partition("zoneinfo/")[2]
    if not zone and (named := Path("/etc/timezone")).is_file():
        zone = named.read_text("utf-8").strip()
    return "UTC" if not zone or zone in ("UTC", "Etc/UTC", "Universal", "UCT", "Zulu", "Etc/UCT") else zone


def _check_zone(zone: str, at: exp.Expr) -> None:
    if not is_zone(zone):
        raise ValidationError(
            f"The supplied zone ID '{zone}' is not valid.", at=at, hint="Use a region, as Europe/Prague, or an offset, as GMT+02:00."
        )
