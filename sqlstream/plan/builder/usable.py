"""A declared table as it is used: its options checked, and resolved."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from sqlstream.connectors import declared_options, find_connector, with_files
from sqlstream.core import spark_releases
from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.core.options import meant, resolve_environment, with_samples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlglot import exp

    from sqlstream.plan.builder.scope import Environment
    from sqlstream.sql.tables import Table


def usable(declared: Table, env: Environment, at: exp.Expr | None) -> Table:
    """``declared`` with its options checked and resolved; notices go to the environment. Raises ValidationError."""
    if not declared.connector:
        raise ValidationError(
            f"Table '{declared.path}' has no option 'connector', so nothing can be read from or written to it.",
            at=at,
            hint=meant("connector", declared.options) or "HELP CONNECTOR lists them.",
        )
    if not declared.columns:
        raise NotSupported(f"Table '{declared.path}' has no columns.", at=at, hint="Declare them in its CREATE TABLE.")
    connector = find_connector(declared.connector, at)
    if connector.library in env.settings.release.lacks:
        raise NotSupported(
            f"There is no {connector.library} for Spark {env.settings.release.name}, so table '{declared.path}' can't be used.", at=at,
            hint=f"RESET '{spark_releases.OPTION}' runs on Spark {spark_releases.INSTALLED}. One process runs on one release: put these"
            " statements into a script of their own, for `sqlstream jobs start`.",
        )  # fmt: skip
    known = partial(with_samples, declared=declared_options(declared.options)) if env.settings.dry else resolve_environment
    resolved = replace(declared, options=known(declared.options))
    if env.settings.warehouse:
        resolved = connector.placed(resolved, known({"warehouse": env.settings.warehouse})["warehouse"])
    with about(at):
        resolved = replace(resolved, options=with_files(resolved.options, env.settings.files))
        env.notices.extend(f"{declared.path.name}: {n}" for n in connector.check(resolved))
    return resolved


@contextmanager
def about(at: exp.Expr | None) -> Iterator[None]:
    """Errors are about ``at`` where they say nothing else."""
    try:
        yield
    except ValidationError as error:
        error.at = error.at if error.at is not None else at
        raise
