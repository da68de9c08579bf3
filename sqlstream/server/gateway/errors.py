"""Errors as Flink's clients read them: what stands behind the last ``Caused by:``, up to the trace, is what they show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

from sqlstream.core.errors import Defect, JobFailed, NotSupported, SetupError, SyntaxProblem, ValidationError

if TYPE_CHECKING:
    from sqlstream.core.errors import SqlStreamError

_SERVICE = "org.apache.flink.table.gateway.api.utils.SqlGatewayException"
# Flink's classes for our kinds of errors.
_CLASSES: tuple[tuple[type[Exception], str], ...] = (
    (SyntaxProblem, "org.apache.flink.sql.parser.impl.ParseException"),
    (ValidationError, "org.apache.flink.table.api.ValidationException"),
    (NotSupported, "org.apache.flink.table.api.TableException"),
    (JobFailed, "org.apache.flink.runtime.client.JobExecutionException"),
    (SetupError, "org.apache.flink.util.FlinkException"),
)


def error_response(error: SqlStreamError, what: str, status: int = 400) -> JSONResponse:
    """The answer to a request that failed: ``what`` did. Of a defect of ours the status is 500."""
    cause = f"Caused by: {_class_of(error)}: {told(error)}\n\tat sqlstream"
    failed = f"<Exception on server side:\n{_SERVICE}: {what}\n{cause}\n\nEnd of exception on server side>"
    return refusal("Internal server error.", failed, status=500 if isinstance(error, Defect) else status)


def refusal(*errors: str, status: int) -> JSONResponse:
    """The answer to a request that can't be met."""
    return JSONResponse({"errors": list(errors)}, status)


def told(error: SqlStreamError) -> str:
    """An error with its place and its hint."""
    lines = [error.message]
    if error.location is not None:
        lines += [f" --> {error.location}", *(f"  {text}" for text in error.location.caret.split("\n"))]
    if error.hint:
        lines.append(f"hint: {error.hint}")
    return "\n".join(lines)


def _class_of(error: SqlStreamError) -> str:
    return next((name for kind, name in _CLASSES if isinstance(error, kind)), "java.lang.RuntimeException")
