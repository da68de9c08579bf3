"""``sqlstream serve``: the server of a project."""

from __future__ import annotations

import argparse
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.core.errors import SetupError
from sqlstream.shell.screen import Screen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from socket import socket

LOOPBACK = "127.0.0.1"
PORT = 8083
# Where a server is reached on its own machine that listens at all addresses.
_ANY = {"0.0.0.0": LOOPBACK, "::": "::1"}


def parser() -> argparse.ArgumentParser:
    """The arguments of the subcommand."""
    made = argparse.ArgumentParser(
        prog="sqlstream serve",
        description="Serves a project: Flink's SQL client, its JDBC driver and dbt connect to it. Jobs go on when their clients leave.",
        allow_abbrev=False,
    )
    made.add_argument("--project", metavar="DIR", help="the project's folder (default: found from here upwards)")
    made.add_argument("--host", default=LOOPBACK, help=f"the address to listen at (default {LOOPBACK}); another needs a certificate and tokens")
    made.add_argument("--port", type=int, default=PORT, help=f"the port to listen at; 0 is any that is free (default {PORT})")
    made.add_argument("--tls-certificate", metavar="FILE", type=Path, help="the server's certificate, with those that it is signed by")
    made.add_argument("--tls-key", metavar="FILE", type=Path, help="the key of the certificate")
    made.add_argument("--timestamps", action="store_true", help="lines begin with the time")
    made.add_argument("--log-format", choices=("text", "json"), default="text", help="how lines are written; json: one object each")
    made.add_argument("--tokens", metavar="FILE", type=Path, help="the tokens of clients, one in a line; after `read-only` those that may only look")
    return made


def main(argv: Sequence[str], project: Path, options: Mapping[str, str]) -> int:
    """Run the server until it is told to end; the exit code comes back. Raises SetupError."""
    arguments = parser().parse_args(argv)
    try:
        import uvicorn

        from sqlstream.server.app import application
    except ModuleNotFoundError as error:
        raise SetupError(f"The server needs the package {error.name}.", hint="pip install 'sqlstream[server]'") from error
    from sqlstream.server.guard import MOST_BYTES, Tokens, is_loopback
    from sqlstream.server.server import Server
    from sqlstream.session.joined import SILENT_SECONDS
    from sqlstream.session.joined.place import ServerPlace

    if not is_loopback(arguments.host) and None in (arguments.tls_certificate, arguments.tls_key, arguments.tokens):
        hint = "Name --tls-certificate, --tls-key and --tokens; or let a proxy on this machine do that."
        raise SetupError(f"At {arguments.host} others reach the server, which needs a certificate and tokens there.", hint=hint)
    tokens = None if arguments.tokens is None else Tokens.read(arguments.tokens)
    # That of shells of the server's owner on this machine, who can read where it is written down.
    own = None if tokens is None else secrets.token_urlsafe(32)
    known = None if tokens is None or own is None else tokens.with_one(own)
    screen = Screen(timestamps=arguments.timestamps, log_format=arguments.log_format)
    server = Server(project, options, screen.notify)
    server.start()
    config = uvicorn.Config(
        application(server, known), host=arguments.host, port=arguments.port, log_level="warning", timeout_graceful_shutdown=5,
        ssl_certfile=arguments.tls_certificate, ssl_keyfile=arguments.tls_key, ws_max_size=MOST_BYTES, ws_per_message_deflate=False,
        ws_ping_timeout=SILENT_SECONDS,
    )  # fmt: skip

    class Listening(uvicorn.Server):
        """Says where it listens, when it does."""

        async def startup(self, sockets: list[socket] | None = None) -> None:
            await super().startup(sockets)
            sockets = [*self.servers[0].sockets] if self.started else []
            if not sockets:
                return
            certificate = arguments.tls_certificate
            scheme, port = "http" if certificate is None else "https", sockets[0].getsockname()[1]
            screen.notify(f"The project {project} is served at {scheme}://{arguments.host}:{port}")
            here = _ANY.get(sockets[0].getsockname()[0], sockets[0].getsockname()[0])
            url = f"{scheme}://{f'[{here}]' if ':' in here else here}:{port}"
            ServerPlace(url, own, None if certificate is None else str(certificate.absolute())).write(project)

    Listening(config).run()
    return 0
