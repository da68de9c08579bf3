"""The address of what Prometheus reads: /metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from sqlstream.server.answers import Address

if TYPE_CHECKING:
    from starlette.requests import Request

    from sqlstream.server.server import Server


def addresses(server: Server) -> tuple[Address, ...]:
    """The one, without versions."""

    async def metrics(request: Request) -> Response:
        """The figures of the jobs, for Prometheus."""
        text, content_type = await run_in_threadpool(server.jobs.reporter.text, request.headers.get("accept", ""))
        return Response(text, headers={"Content-Type": content_type})

    return (Address("/metrics", "GET", metrics),)
