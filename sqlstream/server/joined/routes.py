"""The address of joined shells: a websocket for each."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocketDisconnect

from sqlstream.server.answers import BadRequest, object_of
from sqlstream.server.joined.shell import Shell
from sqlstream.session.joined import PATH

if TYPE_CHECKING:
    from starlette.websockets import WebSocket

    from sqlstream.server.server import Server

# So many messages wait for a shell that reads none: then it has gone.
_MOST_MESSAGES = 10_000
# Codes of RFC 6455: what a shell says is not as it should be, it is too slow, there are too many.
_WRONG, _SLOW, _FULL = 1007, 1008, 1013


def route(server: Server) -> WebSocketRoute:
    """The shells of ``server``."""

    async def joined(socket: WebSocket) -> None:
        await socket.accept()
        if not server.shells.enter():
            await socket.close(_FULL, f"The server has {server.shells.most} sessions, which is all that it takes.")
            return
        try:
            await _talk(server, socket)
        finally:
            server.shells.leave()

    return WebSocketRoute(PATH, joined)


async def _talk(server: Server, socket: WebSocket) -> None:
    loop = asyncio.get_running_loop()
    outgoing: asyncio.Queue[str] = asyncio.Queue()

    def send(message: dict[str, Any]) -> None:
        # A cell of a row may be half of a character.
        text = json.dumps(message)
        # Of a shell that has gone nobody hears any more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(outgoing.put_nowait, text)

    shell = Shell(server, send)
    sending = asyncio.create_task(_send(socket, outgoing))
    answering: set[asyncio.Task[None]] = set()
    try:
        while True:
            said = object_of(await socket.receive_text(), "a message")
            if said.get("do") in shell.waits:
                task = asyncio.create_task(run_in_threadpool(shell.answer, said))
                answering.add(task)
                task.add_done_callback(answering.discard)
            else:
                shell.hear(said)
    except BadRequest as problem:
        await socket.close(_WRONG, str(problem)[:120])
    except WebSocketDisconnect:
        pass
    finally:
        sending.cancel()
        await run_in_threadpool(shell.close)


async def _send(socket: WebSocket, outgoing: asyncio.Queue[str]) -> None:
    with suppress(WebSocketDisconnect):
        while True:
            text = await outgoing.get()
            if outgoing.qsize() > _MOST_MESSAGES:
                await socket.close(_SLOW, "The shell reads too slowly.")
                return
            await socket.send_text(text)
