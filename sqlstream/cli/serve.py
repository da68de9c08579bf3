"""``sqlstream serve``: the server of a project."""

from __future__ import annotations

import argparse
import errno
import logging
import secrets
import socket
import ssl
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.cli.arguments import Parser
from sqlstream.core.errors import SetupError
from sqlstream.shell.screen import Screen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LOOPBACK = "127.0.0.1"
PORT = 8083
_MOST_PORT = 65535
# What uvicorn says of each websocket that is answered with a status, as one is whose client has no token.
_NO_HANDSHAKE = "ASGI callable returned without completing handshake."
# Where a server is reached on its own machine that listens at all addresses.
_ANY = {"0.0.0.0": LOOPBACK, "::": "::1"}


def parser() -> argparse.ArgumentParser:
    """The arguments of the subcommand."""
    made = Parser(
        prog="sqlstream serve",
        description="Serves a project: Flink's SQL client, its JDBC driver and dbt connect to it. Jobs go on when their clients leave.",
    )
    made.add_argument("--project", metavar="DIR", help="the project's folder (default: found from here upwards)")
    made.add_argument("--host", default=LOOPBACK, help=f"the address to listen at (default {LOOPBACK}); another needs a certificate and tokens")
    made.add_argument("--port", type=_port, default=PORT, help=f"the port to listen at; 0 is any that is free (default {PORT})")
    made.add_argument("--tls-certificate", metavar="FILE", type=Path, help="the server's certificate, with those that it is signed by")
    made.add_argument("--tls-key", metavar="FILE", type=Path, help="the key of the certificate")
    made.add_argument("--timestamps", action="store_true", help="lines begin with the time")
    made.add_argument("--log-format", choices=("text", "json"), default="text", help="how lines are written; json: one object each")
    made.add_argument("--tokens", metavar="FILE", type=Path, help="the tokens of clients, one in a line; after `read-only` those that may only look")
    return made


def _port(text: str) -> int:
    if not (text.isdecimal() and int(text) <= _MOST_PORT):
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to {_MOST_PORT}, which '{text}' is not")
    return int(text)


def main(argv: Sequence[str], project: Path, options: Mapping[str, str]) -> int:
    """Run the server until it is told to end; the exit code comes back. Raises SetupError."""
    arguments = parser().parse_args(argv)
    try:
        import uvicorn

        from sqlstream.server.app import application
    except ModuleNotFoundError as error:
        raise SetupError(f"The server needs the package {error.name}.", hint="pip install 'sqlstream[server]'") from error
    from sqlstream.core.tokens import Tokens
    from sqlstream.server.guard import MOST_BYTES, is_loopback
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
    _check_tls(arguments.tls_certificate, arguments.tls_key)
    screen = Screen(timestamps=arguments.timestamps, log_format=arguments.log_format)
    with ExitStack() as open_:
        listening = [open_.enter_context(each) for each in _listening(arguments.host, arguments.port)]
        logging.getLogger("uvicorn").addHandler(_OnScreen(screen))
        server = Server(project, options, screen.notify)
        server.start()
        app = application(server, known)
        config = uvicorn.Config(
            app, log_config=None, log_level="warning", timeout_graceful_shutdown=5, ssl_certfile=arguments.tls_certificate,
            ssl_keyfile=arguments.tls_key, ws_max_size=MOST_BYTES, ws_per_message_deflate=False, ws_ping_timeout=SILENT_SECONDS,
        )  # fmt: skip

        class Listening(uvicorn.Server):
            """Says where it listens, when it does."""

            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                await super().startup(sockets)
                if not self.started:
                    return
                certificate = arguments.tls_certificate
                address, port = listening[0].getsockname()[:2]
                scheme = "http" if certificate is None else "https"
                screen.notify(f"The project {project} is served at {scheme}://{arguments.host}:{port}")
                here = _ANY.get(address, address)
                url = f"{scheme}://{f'[{here}]' if ':' in here else here}:{port}"
                ServerPlace(url, own, None if certificate is None else str(certificate.absolute())).write(project)

            async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
                app.state.leaving.set()
                await super().shutdown(sockets)

        Listening(config).run(listening)
    return 0


def _check_tls(certificate: Path | None, key: Path | None) -> None:
    """Raises SetupError for what no connection could be made with."""
    if certificate is None and key is None:
        return
    if certificate is None or key is None:
        missing = "--tls-certificate" if certificate is None else "--tls-key"
        raise SetupError("A certificate and its key go together.", hint=f"Name {missing}, too.")
    for file in (certificate, key):
        try:
            file.read_bytes()
        except OSError as error:
            raise SetupError(f"'{file}' can't be read: {error.strerror}.", hint="Check --tls-certificate and --tls-key.") from error
    try:
        # A key with a password asks for it where there is a terminal.
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key, password=lambda: "")
    except (ssl.SSLError, ValueError) as error:
        hint = "Both are PEM, the key is that of the certificate, and has no password."
        raise SetupError(f"'{certificate}' and '{key}' are no certificate with its key: {error}.", hint=hint) from error


def _listening(host: str, port: int) -> list[socket.socket]:
    """The sockets at all addresses that ``host`` has, of one port. Raises SetupError where they can't be had."""
    with ExitStack() as made:
        sockets: list[socket.socket] = []
        try:
            for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE):
                one = made.enter_context(socket.socket(family, kind, protocol))
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                one.bind((address[0], sockets[0].getsockname()[1] if sockets else port, *address[2:]))
                sockets.append(one)
        except OSError as error:
            hint = "--port names another port; 0 is any that is free." if error.errno == errno.EADDRINUSE else "Check --host and --port."
            raise SetupError(f"The server can't listen at {host}:{port}: {error.strerror}.", hint=hint) from error
        except UnicodeError as error:
            raise SetupError(f"The server can't listen at '{host}', which is no name of a host.", hint="Check --host.") from error
        made.pop_all()
        return sockets


class _OnScreen(logging.Handler):
    """What uvicorn has to say, as lines of the server's log."""

    def __init__(self, screen: Screen) -> None:
        super().__init__(logging.WARNING)
        self._screen = screen

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage() != _NO_HANDSHAKE:
            self._screen.notify(f"[{'ERROR' if record.levelno >= logging.ERROR else 'WARNING'}] {self.format(record)}")
