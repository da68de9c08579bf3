"""Requests and answers: what the body and the address of a request say, and errors as Flink's clients read them.

What stands behind the last ``Caused by:`` of an error, up to the trace, is what they show.
"""

from __future__ import annotations

import json
import threading
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse
from starlette.routing import Route

from sqlstream.core import foreign_json
from sqlstream.core.characters import HALF
from sqlstream.core.defects import defect
from sqlstream.core.errors import Defect, JobFailed, NotSupported, SetupError, SqlStreamError, SyntaxProblem, ValidationError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response

    Handler = Callable[[Request], Awaitable[Response]]

_SERVICE = "org.apache.flink.table.gateway.api.utils.SqlGatewayException"
# Flink's classes for our kinds of errors.
_CLASSES: tuple[tuple[type[Exception], str], ...] = (
    (SyntaxProblem, "org.apache.flink.sql.parser.impl.ParseException"),
    (ValidationError, "org.apache.flink.table.api.ValidationException"),
    (NotSupported, "org.apache.flink.table.api.TableException"),
    (JobFailed, "org.apache.flink.runtime.client.JobExecutionException"),
    (SetupError, "org.apache.flink.util.FlinkException"),
)


class NotThere(ValidationError):
    """Nothing has this id."""


class BadRequest(Exception):
    """A request that is not as the interface says."""


# What is in a body, or behind the ? of an address, as OpenAPI says it.
TEXT: Mapping[str, Any] = {"type": "string"}
NUMBER: Mapping[str, Any] = {"type": "integer"}
FLAG: Mapping[str, Any] = {"type": "boolean"}
TEXTS: Mapping[str, Any] = {"type": "object", "additionalProperties": {"type": "string"}}


@dataclass(frozen=True)
class Address:
    """A path and a method, what answers them, and what a request may say in its body and behind the ?; ``needs``: what it has to say."""

    path: str
    method: str
    handler: Handler
    body: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    query: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def routes(table: Iterable[Address], versions: Iterable[str], project: Path) -> list[Route]:
    """What answers the addresses of a table, with and without each of the versions before them. Errors of a handler are answers."""
    prefixes = ("", *(f"/{version}" for version in versions))
    return [Route(p + one.path, answering(one.handler, project), methods=[one.method]) for one in table for p in prefixes]


# --- answers ----------------------------------------------------------------------------------------------------------


def answering(handler: Handler, project: Path) -> Handler:
    """``handler``, whose errors are answers."""

    async def answer(request: Request) -> Response:
        what = f"Failed to answer {request.method} {request.url.path[:200]}."
        try:
            return await handler(request)
        except BadRequest as problem:
            return refusal(f"Bad request, could not parse parameters: {problem}", status=400)
        except SqlStreamError as error:
            return error_response(error, what, 404 if isinstance(error, NotThere) else 400)
        except Exception as error:
            return error_response(defect(error, project), what)

    return answer


def error_response(error: SqlStreamError, what: str, status: int = 400) -> JSONResponse:
    """The answer to a request that failed: ``what`` did. Of a defect of ours the status is 500."""
    cause = f"Caused by: {_class_of(error)}: {told(error)}\n\tat sqlstream"
    failed = f"<Exception on server side:\n{_SERVICE}: {what}\n{cause}\n\nEnd of exception on server side>"
    return refusal("Internal server error.", failed, status=500 if isinstance(error, Defect) else status)


def refusal(*errors: str, status: int, headers: dict[str, str] | None = None) -> JSONResponse:
    """The answer to a request that can't be met."""
    return JSONResponse({"errors": list(errors)}, status, headers)


def told(error: SqlStreamError) -> str:
    """An error with its place and its hint."""
    return "\n".join([error.message, *error.details])


def _class_of(error: SqlStreamError) -> str:
    return next((name for kind, name in _CLASSES if isinstance(error, kind)), "java.lang.RuntimeException")


# --- what a request says ----------------------------------------------------------------------------------------------


def handle(request: Request, kind: str) -> str:
    """The handle of a session or an operation in the address."""
    written: str = request.path_params[kind]
    try:
        return str(uuid.UUID(written))
    except ValueError:
        raise BadRequest(f'Cannot resolve path parameter ({kind}_handle) from value "{written}".') from None


async def body(request: Request) -> dict[str, Any]:
    """The object that a request has; an empty one for none."""
    text = await request.body()
    return object_of(text, "the body") if text.strip() else {}


def object_of(text: str | bytes, what: str) -> dict[str, Any]:
    """The object that ``text`` is as JSON. Raises BadRequest, which calls it ``what``, where it is none."""
    try:
        read = foreign_json.read(text)
    except ValueError:
        raise BadRequest(f"{what} is not JSON") from None
    if not isinstance(read, dict):
        raise BadRequest(f"{what} is not an object")
    # No answer could repeat it.
    if HALF.search(json.dumps(read, ensure_ascii=False)):
        raise BadRequest(f"{what} holds half of a surrogate pair, which is no character")
    return read


def text_of(asked: dict[str, Any], name: str) -> str:
    """The text ``name`` of a body. Raises BadRequest, as the following."""
    value = asked.get(name)
    if not isinstance(value, str):
        raise BadRequest(f"{name} is a text")
    return value


def texts_of(asked: dict[str, Any], name: str) -> dict[str, str]:
    """The texts of an object by their names."""
    value = asked.get(name) or {}
    if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
        raise BadRequest(f"{name} is an object of texts")
    return value


def flag_of(asked: dict[str, Any], name: str) -> bool:
    """The flag ``name`` of a body; false where it is not there."""
    value = asked.get(name)
    if not isinstance(value, bool | None):
        raise BadRequest(f"{name} is true or false")
    return value is True


def seconds_of(asked: dict[str, Any]) -> float | None:
    """For how long the statement may take; None where nothing is said, or 0."""
    millis = asked.get("executionTimeout")
    if millis is None:
        return None
    if not isinstance(millis, int | float) or isinstance(millis, bool):
        raise BadRequest("executionTimeout is a number of milliseconds")
    # No clock waits longer.
    return min(millis / 1000, threading.TIMEOUT_MAX) if millis > 0 else None
