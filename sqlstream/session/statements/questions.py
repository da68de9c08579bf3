"""What a user is asked before a DROP or STOP; the questions of QUIT."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.catalog.apply import StatementContext, apply
from sqlstream.core.errors import SqlStreamError
from sqlstream.core.job_names import short_name
from sqlstream.runtime.jobs.begin import savepoints
from sqlstream.runtime.jobs.control import registry
from sqlstream.runtime.jobs.control.ask import find
from sqlstream.runtime.monitor.figures import size
from sqlstream.session import dependents
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot import exp

    from sqlstream.session.context import Context


_CONTINUES = "Its state is kept: the same statement continues from there."


def handing_over(jobs: Sequence[str]) -> str:
    """The question before these jobs go on without the shell."""
    return f"{_running(jobs)}: {', '.join(jobs)}.\nHand {'it' if len(jobs) == 1 else 'them'} over to the background, and quit?"


def _running(jobs: Sequence[str]) -> str:
    return "1 job is running" if len(jobs) == 1 else f"{len(jobs)} jobs are running"


def leaving(jobs: Sequence[str]) -> str:
    """The question before these jobs stop with the shell."""
    if len(jobs) == 1:
        those, kept = "1 job is running and stops", "Its state is kept: submitted again, the same statement continues"
    else:
        those, kept = f"{len(jobs)} jobs are running and stop", "Their state is kept: submitted again, the same statements continue"
    return f"{those} with the shell: {', '.join(jobs)}.\n{kept} from there. Quit?"


def agreed(node: exp.Expr, context: Context) -> bool:
    """Whether the user agrees to a statement; the question names what depends on it. Scripts, and other statements, are not asked about."""
    if context.user.ask is None:
        return True
    jobs, agrees = context.jobs, context.user.agrees
    match node:
        case ast.StopJob() if _runs(node, context):
            then = "What it waits for is emitted: the same statement starts anew." if node.drain else _CONTINUES
            return agrees(f"Stop the job {short_name(find(jobs, node.this.name).name)}? {then}")
        case ast.DropJob() if registry.exists(jobs.folders.jobs, node.this.name, whole=True):
            record = registry.find(jobs.folders.jobs, node.this.name, whole=True)
            record.check_stopped()
            return agrees(f"Delete job '{short_name(record.name)}' ({size(record.size())})? Its state and offsets are lost; tables keep their rows.")
        case ast.DropSavepoint() if savepoints.exists(context.engine.place(node.this.name)):
            return agrees(f"Delete the savepoint {node.this.name}? No job can begin with it then.")
        case ast.Drop() if _drops(node, context):
            return agrees(_dropping(node, context))
    return True


def _runs(node: ast.StopJob, context: Context) -> bool:
    found = find(context.jobs, node.this.name)
    return found.held if isinstance(found, registry.JobRecord) else found.lives


def _drops(node: ast.Drop, context: Context) -> bool:
    """Whether there is something to drop, which may be; what is wrong is said when it is carried out."""
    strict = node.copy()
    strict.set("if_exists", False)
    try:
        apply(context.catalog.isolated_copy(), strict, StatementContext())
    except SqlStreamError:
        return False
    return True


def _dropping(node: ast.Drop, context: Context) -> str:
    catalog, names = context.catalog, ast.parts(node.this)
    needed: list[str] = []
    if node.kind in ("TABLE", "VIEW"):
        needed = sorted(map(str, dependents.of_object(catalog.path(names), catalog, context.jobs, context.project)))
    depending = f" These depend on it: {', '.join(needed)}." if needed else ""
    return f"DROP {node.args['kind']} {'.'.join(names)}?{depending}"
