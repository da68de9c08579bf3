"""The addresses of Flink's SQL gateway: /sessions, statements, operations and their results, with and without the version before them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from sqlstream.core.errors import NotSupported
from sqlstream.core.release import release
from sqlstream.core.secrets import masked_option
from sqlstream.server.answers import NUMBER, TEXT, TEXTS, Address, BadRequest, body, handle, seconds_of, text_of, texts_of
from sqlstream.server.gateway import wire
from sqlstream.server.gateway.wire import RowFormat
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.statements.split import split
from sqlstream.sql.statements.table import sets_up

if TYPE_CHECKING:
    from starlette.requests import Request

    from sqlstream.server.gateway.operations import Page
    from sqlstream.server.gateway.sessions import ClientSession, ClientSessions

VERSIONS = ("v1", "v2", "v3", "v4")
# Flink's clients show it, and dbt refuses others.
_PRODUCT = "Apache Flink"
_TABLES = "Materialized tables are not supported."


def addresses(sessions: ClientSessions) -> tuple[Address, ...]:
    """All of them, over the ``sessions`` of clients, without the versions that may stand before."""
    gateway = _Gateway(sessions)
    session, operation = "/sessions/{session}", "/sessions/{session}/operations/{operation}"
    options = {"executionConfig": TEXTS}
    statement = {"statement": TEXT, "executionTimeout": NUMBER, **options}
    row_format = {"rowFormat": {**TEXT, "enum": [*RowFormat.__members__]}}
    return (
        Address("/info", "GET", gateway.info),
        Address("/api_versions", "GET", gateway.versions),
        Address("/sessions", "POST", gateway.open, {"sessionName": TEXT, "properties": TEXTS}),
        Address(session, "GET", gateway.options),
        Address(session, "DELETE", gateway.close),
        Address(f"{session}/heartbeat", "POST", gateway.heartbeat),
        Address(f"{session}/configure-session", "POST", gateway.configure, {"statement": TEXT, "executionTimeout": NUMBER}, ("statement",)),
        Address(f"{session}/complete-statement", "GET", gateway.complete, {"statement": TEXT, "position": NUMBER}, ("statement", "position")),
        Address(f"{session}/statements", "POST", gateway.execute, statement, ("statement",)),
        Address(f"{session}/scripts", "POST", gateway.deploy, {"script": TEXT, **options}, ("script",)),
        Address(f"{session}/materialized-tables/{{table}}/refresh", "POST", gateway.refresh),
        Address(f"{operation}/status", "GET", gateway.status),
        Address(f"{operation}/cancel", "POST", gateway.cancel),
        Address(f"{operation}/close", "DELETE", gateway.close_operation),
        Address(f"{operation}/result/{{token}}", "GET", gateway.result, query=row_format),
    )


class _Gateway:
    """What each address answers."""

    def __init__(self, sessions: ClientSessions) -> None:
        self._sessions = sessions

    # --- the server ---------------------------------------------------------------------------------------------------

    async def info(self, request: Request) -> Response:
        return JSONResponse({"productName": _PRODUCT, "version": f"sqlstream {release()}"})

    async def versions(self, request: Request) -> Response:
        return JSONResponse({"versions": [version.upper() for version in VERSIONS]})

    # --- sessions -----------------------------------------------------------------------------------------------------

    async def open(self, request: Request) -> Response:
        asked = await body(request)
        options = texts_of(asked, "properties")
        opened = await run_in_threadpool(self._sessions.open, options)
        return JSONResponse({"sessionHandle": opened.handle})

    async def options(self, request: Request) -> Response:
        options = self._session(request).session.options
        return JSONResponse({"properties": {key: masked_option(key, value) for key, value in sorted(options.items())}})

    async def close(self, request: Request) -> Response:
        await run_in_threadpool(self._sessions.close, handle(request, "session"))
        return JSONResponse({"status": "CLOSED"})

    async def heartbeat(self, request: Request) -> Response:
        self._session(request)
        return JSONResponse({})

    async def configure(self, request: Request) -> Response:
        """Runs a statement that declares or sets, and waits for it."""
        session, asked = self._session(request), await body(request)
        statement = text_of(asked, "statement")
        if not all(sets_up(parse(piece)) for piece in split(statement)):
            hint = "Send it as a statement."
            raise NotSupported("Unsupported statement for configuring session: it takes declarations and settings.", hint=hint)
        operation = session.execute(statement, seconds_of(asked))
        try:
            while await operation.page(0) is None:
                session.touch()
        finally:
            session.close_operation(operation.handle)
        return JSONResponse({})

    async def complete(self, request: Request) -> Response:
        session, asked = self._session(request), await body(request)
        statement, position = text_of(asked, "statement"), asked.get("position")
        if not isinstance(position, int) or isinstance(position, bool):
            raise BadRequest("position is a number")
        return JSONResponse({"candidates": await run_in_threadpool(session.candidates, statement, position)})

    # --- statements ---------------------------------------------------------------------------------------------------

    async def execute(self, request: Request) -> Response:
        session, asked = self._session(request), await body(request)
        options = texts_of(asked, "executionConfig")
        operation = session.execute(text_of(asked, "statement"), seconds_of(asked), options)
        return JSONResponse({"operationHandle": operation.handle})

    async def deploy(self, request: Request) -> Response:
        """Runs a script to its end, behind the answer."""
        session, asked = self._session(request), await body(request)
        if asked.get("scriptUri") is not None:
            raise NotSupported("The script of 'scriptUri' is a file of the machine that the server runs on.", hint="Send its text as 'script'.")
        options = {**session.session.options, **texts_of(asked, "executionConfig")}
        return JSONResponse({"clusterID": await run_in_threadpool(self._sessions.deploy, text_of(asked, "script"), options)})

    async def refresh(self, request: Request) -> Response:
        self._session(request)
        raise NotSupported(_TABLES, hint="CREATE TABLE .. and INSERT INTO keep a table up to date.")

    # --- operations ---------------------------------------------------------------------------------------------------

    async def status(self, request: Request) -> Response:
        operation = self._session(request).operation(handle(request, "operation"))
        return JSONResponse({"status": operation.status.value})

    async def cancel(self, request: Request) -> Response:
        operation = self._session(request).operation(handle(request, "operation"))
        return JSONResponse({"status": operation.cancel().value})

    async def close_operation(self, request: Request) -> Response:
        return JSONResponse({"status": self._session(request).close_operation(handle(request, "operation")).value})

    async def result(self, request: Request) -> Response:
        operation = self._session(request).operation(handle(request, "operation"))
        token, name = request.path_params["token"], request.query_params.get("rowFormat", RowFormat.JSON.value)
        if not token.isdecimal() or not token.isascii() or len(token) > 18:
            raise BadRequest(f'Cannot resolve path parameter (token) from value "{token}".')
        if name not in RowFormat.__members__:
            raise BadRequest(f'Cannot resolve query parameter (rowFormat) from value "{name}".')
        page = await operation.page(int(token))
        address = request.url.path.rpartition("/")[0]
        suffix = f"?rowFormat={name}" if "rowFormat" in request.query_params else ""
        if page is None:
            return JSONResponse({"resultType": "NOT_READY", "nextResultUri": f"{address}/{token}{suffix}"})
        following = None if page.token is None else f"{address}/{page.token}{suffix}"
        return Response(_page_text(page, RowFormat[name], following), media_type="application/json")

    def _session(self, request: Request) -> ClientSession:
        return self._sessions.find(handle(request, "session"))


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
