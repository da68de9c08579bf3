"""Savepoints: SHOW, DESCRIBE and DROP."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from sqlstream.core import storage
from sqlstream.core.job_names import short_name
from sqlstream.runtime.jobs.begin import savepoints
from sqlstream.runtime.monitor.figures import size
from sqlstream.session import results
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlglot import exp

    from sqlstream.core.storage import Place
    from sqlstream.session.context import Context
    from sqlstream.session.results import Outcome
    from sqlstream.session.statements.handler import Handler


def listed(folder: Place) -> Outcome:
    """SHOW SAVEPOINTS, those in ``folder``."""
    return results.text_rows(("job name", "created", "size", "status", "savepoint path"), _rows(folder))


def _rows(folder: Place) -> Iterator[tuple[str | None, ...]]:
    for path, savepoint in savepoints.below(folder):
        where, bytes_ = path.absolute().as_uri(), size(storage.size(path))
        if savepoint is None:
            yield None, None, bytes_, "INCOMPLETE", where
        else:
            created = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(savepoint.created))
            yield short_name(savepoint.job), created, bytes_, "DRAINED" if savepoint.drained else "COMPLETED", where


def describe(node: ast.DescribeSavepoint, context: Context) -> Outcome:
    """DESCRIBE SAVEPOINT. Raises ValidationError."""
    described = savepoints.describe(savepoints.read(context.engine.place(node.this.name)))
    return results.masked_rows(("info name", "info value"), described.items())


def drop(node: ast.DropSavepoint, context: Context) -> Outcome:
    """DROP SAVEPOINT. Raises ValidationError."""
    savepoints.drop(context.engine.place(node.this.name))
    return results.Done()


HANDLERS: Mapping[type[exp.Expr], Handler] = {ast.DescribeSavepoint: describe, ast.DropSavepoint: drop}
