"""A server that answers beside what its process does."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import uvicorn

from sqlstream.server.app import application

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.server.server import Server

_HOST = "127.0.0.1"


@contextmanager
def answering(server: Server) -> Iterator[str]:
    """The address, of this machine alone, at which ``server`` answers until the end, which closes it."""
    app = application(server)
    running = uvicorn.Server(uvicorn.Config(app, log_config=None, log_level="warning", timeout_graceful_shutdown=1))
    with socket.create_server((_HOST, 0)) as listening:
        thread = threading.Thread(target=running.run, args=([listening],), name="server")
        thread.start()
        try:
            yield f"http://{_HOST}:{listening.getsockname()[1]}/"
        finally:
            app.state.leaving.set()
            running.should_exit = True
            thread.join()
