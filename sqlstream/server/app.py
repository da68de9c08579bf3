"""The server's web application: each subject has routes of its own."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware

from sqlstream.core.errors import ValidationError, shortened
from sqlstream.server import answers, metrics, openapi
from sqlstream.server.answers import refusal
from sqlstream.server.gateway import routes as gateway
from sqlstream.server.guard import Guard, wants_html
from sqlstream.server.joined import routes as joined
from sqlstream.server.monitoring import routes as monitoring
from sqlstream.server.page import routes as page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response

    from sqlstream.core.tokens import Tokens
    from sqlstream.server.server import Server


def application(server: Server, tokens: Tokens | None = None) -> Starlette:
    """The application of ``server``, which it closes at its end; ``tokens`` as of Guard."""

    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        looking = asyncio.create_task(_close_idle(server))
        try:
            yield
        finally:
            looking.cancel()
            await run_in_threadpool(server.close)

    async def refused(request: Request, problem: Exception) -> Response:
        status = getattr(problem, "status_code", 404)
        what = "Not found" if status == 404 else "Method not allowed"
        if wants_html(request.scope):
            return pages.failed(request, ValidationError(f"{what}: {shortened(request.scope['path'])}"), status)
        return refusal(f"{what}: {request.method} {request.url.path}", status=status)

    pages = page.Pages(server, tokens)
    subjects = (
        (gateway.addresses(server.sessions), gateway.VERSIONS),
        (monitoring.addresses(server), monitoring.VERSIONS),
        (metrics.addresses(server), ()),
    )
    answered = [route for addresses, versions in subjects for route in answers.routes(addresses, versions, server.project)]
    made = Starlette(
        routes=[
            *answered,
            openapi.route(address for addresses, _ in subjects for address in addresses),
            joined.route(server),
            *page.routes(pages),
        ],
        middleware=[Middleware(Guard, tokens=tokens, tell=server.tell)],
        lifespan=running,
        exception_handlers={404: refused, 405: refused},
    )
    # Set when the server is about to end: what would go on until its client leaves ends then.
    made.state.leaving = asyncio.Event()
    return made


async def _close_idle(server: Server) -> None:
    while True:
        await asyncio.sleep(server.sessions.look_seconds)
        await run_in_threadpool(server.sessions.close_idle)
