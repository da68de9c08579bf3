"""ADD JAR and REMOVE JAR: the jars of a session, which are those of its option ``pipeline.jars``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.core import user_jars
from sqlstream.core.errors import ValidationError, listed_by
from sqlstream.session import results
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot import exp

    from sqlstream.session.context import Context
    from sqlstream.session.results import Outcome
    from sqlstream.session.statements.handler import Handler


def change(node: ast.Jar, context: Context) -> Outcome:
    """Raises ValidationError for a jar that is not there."""
    name, known = node.this.name, user_jars.written(context.options)
    if node.kind == "REMOVE":
        if name not in known:
            raise ValidationError(f"There is no jar '{name}' in this session.", at=node.this, hint=listed_by("SHOW JARS"))
        known.remove(name)
    elif user_jars.file_named(name, context.project) is None:
        raise ValidationError(f"There is no jar '{name}'.", at=node.this, hint="A jar is a file of this machine; a relative one is in the project.")
    elif name not in known:
        known.append(name)
    context.options[user_jars.OPTION] = ";".join(known)
    return results.Done()


HANDLERS: Mapping[type[exp.Expr], Handler] = {ast.Jar: change}
