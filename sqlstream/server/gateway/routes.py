"""The addresses of Flink's SQL gateway: /sessions, statements, operations and their results, with and without the version before them."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sqlstream.core.defects import defect
from sqlstream.core.errors import NotSupported, SqlStreamError, ValidationError
from sqlstream.core.release import release
from sqlstream.core.secrets import masked_option
from sqlstream.server.gateway import wire
from sqlstream.server.gateway.errors import error_response, refusal
from sqlstream.server.gateway.sessions import NotThere
from sqlstream.server.gateway.wire import RowFormat
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.statements.split import split
from sqlstream.sql.statements.table import sets_up

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from starlette.requests import Request

    from sqlstream.server.gateway.operations import Page
    from sqlstream.server.gateway.sessions import ClientSession, ClientSessions

VERSIONS = ("V1", "V2", "V3", "V4")
# Flink's clients show it, and dbt refuses others.
_PRODUCT = "Apache Flink"
_TABLES = "Materialized tables are not supported."


def routes(sessions: ClientSessions, project: Path) -> list[Route]:
    """All of them, over the ``sessions`` of clients."""
    gateway = _Gateway(sessions)
    session, operation = "/sessions/{session}", "/sessions/{session}/operations/{operation}"
    made = []
    for path, method, handler in (
        ("/info", "GET", gateway.info),
        ("/api_versions", "GET", gateway.versions),
        ("/sessions", "POST", gateway.open),
        (session, "GET", gateway.options),
        (session, "DELETE", gateway.close),
        (f"{session}/heartbeat", "POST", gateway.heartbeat),
        (f"{session}/configure-session", "POST", gateway.configure),
        (f"{session}/complete-statement", "GET", gateway.complete),
        (f"{session}/statements", "POST", gateway.execute),
        (f"{session}/scripts", "POST", gateway.deploy),
        (f"{session}/materialized-tables/{{table}}/refresh", "POST", gateway.refresh),
        (f"{operation}/status", "GET", gateway.status),
        (f"{operation}/cancel", "POST", gateway.cancel),
        (f"{operation}/close", "DELETE", gateway.close_operation),
        (f"{operation}/result/{{token}}", "GET", gateway.result),
    ):
        endpoint = _answering(handler, project)
        made += [Route(prefix + path, endpoint, methods=[method]) for prefix in ("", *(f"/{v.lower()}" for v in VERSIONS))]
    return made


def _answering(handler: Callable[[Request], Awaitable[Response]], project: Path) -> Callable[[Request], Awaitable[Response]]:
    """``handler``, whose errors are answers."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except _BadRequest as problem:
            return refusal(f"Bad request, could not parse parameters: {problem}", status=400)
        except SqlStreamError as error:
            return error_response(error, f"Failed to {handler.__name__}.", 404 if isinstance(error, NotThere) else 400)
        except Exception as error:
            return error_response(defect(error, project), f"Failed to {handler.__name__}.")

    return answer


class _BadRequest(Exception):
    """A request that is not as the interface says."""


class _Gateway:
    """What each address answers."""

    def __init__(self, sessions: ClientSessions) -> None:
        self._sessions = sessions

    # --- the server ---------------------------------------------------------------------------------------------------

    async def info(self, request: Request) -> Response:
        return JSONResponse({"productName": _PRODUCT, "version": f"sqlstream {release()}"})

    async def versions(self, request: Request) -> Response:
        return JSONResponse({"versions": list(VERSIONS)})

    # --- sessions -----------------------------------------------------------------------------------------------------

    async def open(self, request: Request) -> Response:
        asked = await _body(request)
        options = _texts(asked, "properties")
        opened = await run_in_threadpool(self._sessions.open, options)
        return JSONResponse({"sessionHandle": opened.handle})

    async def options(self, request: Request) -> Response:
        options = self._session(request).session.options
        return JSONResponse({"properties": {key: masked_option(key, value) for key, value in sorted(options.items())}})

    async def close(self, request: Request) -> Response:
        await run_in_threadpool(self._sessions.close, _handle(request, "session"))
        return JSONResponse({"status": "CLOSED"})

    async def heartbeat(self, request: Request) -> Response:
        self._session(request)
        return JSONResponse({})

    async def configure(self, request: Request) -> Response:
        """Runs a statement that declares or sets, and waits for it."""
        session, asked = self._session(request), await _body(request)
        statement = _text(asked, "statement")
        if not all(sets_up(parse(piece)) for piece in split(statement)):
            hint = "Send it as a statement."
            raise NotSupported("Unsupported statement for configuring session: it takes declarations and settings.", hint=hint)
        operation = session.execute(statement, _seconds(asked))
        try:
            while await operation.page(0) is None:
                session.touch()
        finally:
            session.close_operation(operation.handle)
        return JSONResponse({})

    async def complete(self, request: Request) -> Response:
        session, asked = self._session(request), await _body(request)
        statement, position = _text(asked, "statement"), asked.get("position")
        if not isinstance(position, int) or isinstance(position, bool):
            raise _BadRequest("position is a number")
        return JSONResponse({"candidates": await run_in_threadpool(session.candidates, statement, position)})

    # --- statements ---------------------------------------------------------------------------------------------------

    async def execute(self, request: Request) -> Response:
        session, asked = self._session(request), await _body(request)
        options = _texts(asked, "executionConfig")
        operation = session.execute(_text(asked, "statement"), _seconds(asked), options)
        return JSONResponse({"operationHandle": operation.handle})

    async def deploy(self, request: Request) -> Response:
        self._session(request)
        raise NotSupported(
            "Scripts are not deployed in application mode: the server is the application.",
            hint="Send the statements one by one, or run the script by -f.",
        )

    async def refresh(self, request: Request) -> Response:
        self._session(request)
        raise NotSupported(_TABLES, hint="CREATE TABLE .. and INSERT INTO keep a table up to date.")

    # --- operations ---------------------------------------------------------------------------------------------------

    async def status(self, request: Request) -> Response:
        operation = self._session(request).operation(_handle(request, "operation"))
        return JSONResponse({"status": operation.status.value})

    async def cancel(self, request: Request) -> Response:
        operation = self._session(request).operation(_handle(request, "operation"))
        return JSONResponse({"status": operation.cancel().value})

    async def close_operation(self, request: Request) -> Response:
        return JSONResponse({"status": self._session(request).close_operation(_handle(request, "operation")).value})

    async def result(self, request: Request) -> Response:
        operation = self._session(request).operation(_handle(request, "operation"))
        token, name = request.path_params["token"], request.query_params.get("rowFormat", RowFormat.JSON.value)
        if not token.isdecimal() or not token.isascii() or len(token) > 18:
            raise _BadRequest(f'Cannot resolve path parameter (token) from value "{token}".')
        if name not in RowFormat.__members__:
            raise _BadRequest(f'Cannot resolve query parameter (rowFormat) from value "{name}".')
        page = await operation.page(int(token))
        address = request.url.path.rpartition("/")[0]
        suffix = f"?rowFormat={name}" if "rowFormat" in request.query_params else ""
        if page is None:
            return JSONResponse({"resultType": "NOT_READY", "nextResultUri": f"{address}/{token}{suffix}"})
        following = None if page.token is None else f"{address}/{page.token}{suffix}"
        return Response(_page_text(page, RowFormat[name], following), media_type="application/json")

    def _session(self, request: Request) -> ClientSession:
        return self._sessions.find(_handle(request, "session"))


def _page_text(page: Page, format_: RowFormat, following: str | None) -> str:
    """A piece of a result as JSON."""
    result = page.result
    head: dict[str, Any] = {"resultType": "EOS" if following is None else "PAYLOAD", "isQueryResult": result.query}
    if result.job_id is not None:
        head["jobID"] = result.job_id
    head["resultKind"] = result.kind
    results = json.dumps({"columns": [wire.column(c) for c in result.columns], "rowFormat": format_.value}, ensure_ascii=False)
    data = wire.rows_text(result.columns, page.changes, format_)
    tail = "" if following is None else f',"nextResultUri":{json.dumps(following)}'
    return f'{json.dumps(head)[:-1]},"results":{results[:-1]},"data":{data}}}{tail}}}'


# --- what a request says ----------------------------------------------------------------------------------------------


def _handle(request: Request, kind: str) -> str:
    """The handle of a session or an operation in the address."""
    written: str = request.path_params[kind]
    try:
        return str(uuid.UUID(written))
    except ValueError:
        raise _BadRequest(f'Cannot resolve path parameter ({kind}_handle) from value "{written}".') from None


async def _body(request: Request) -> dict[str, Any]:
    """The object that a request has; an empty one for none."""
    text = await request.body()
    if not text.strip():
        return {}
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        raise _BadRequest("the body is not JSON") from None
    if not isinstance(read, dict):
        raise _BadRequest("the body is not an object")
    return read


def _text(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        raise _BadRequest(f"{name} is a text")
    return value


def _texts(body: dict[str, Any], name: str) -> dict[str, str]:
    value = body.get(name) or {}
    if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
        raise _BadRequest(f"{name} is an object of texts")
    return value


def _seconds(body: dict[str, Any]) -> float | None:
    """For how long the statement may take; None where nothing is said, or 0."""
    millis = body.get("executionTimeout")
    if millis is None:
        return None
    if not isinstance(millis, int | float) or isinstance(millis, bool):
        raise ValidationError("executionTimeout is a number of milliseconds.")
    return millis / 1000 if millis > 0 else None
