"""Who may ask the server for what: checked of each request before anything else looks at it."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sqlstream.core import private
from sqlstream.core.errors import SetupError
from sqlstream.server.answers import refusal

if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from pathlib import Path

    from starlette.responses import JSONResponse
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# A request has so many bytes at most: scripts are far shorter.
MOST_BYTES = 8 * 1024 * 1024
_READ_ONLY = "read-only "
_SAFE = ("GET", "HEAD", "OPTIONS")


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine alone."""
    if host.rstrip(".").lower() == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Tokens:
    """Those with which requests are allowed: all of them, or only such as change nothing."""

    all: tuple[bytes, ...] = ()
    read_only: tuple[bytes, ...] = ()

    @classmethod
    def read(cls, file: Path) -> Tokens:
        """The tokens of a file: one in a line, behind ``read-only`` where it is for looking alone. Raises SetupError where others may read it."""
        try:
            if private.others_may_read(file):
                raise SetupError(f"Others may read the file of tokens, {file}.", hint=f"chmod 600 {file}")
            lines = [line.strip() for line in file.read_text("utf-8").splitlines()]
        except (OSError, UnicodeDecodeError) as error:
            raise SetupError(f"The file of tokens can't be read: {error}.") from error
        written = [line for line in lines if line and not line.startswith("#")]
        read_only = [line.removeprefix(_READ_ONLY).strip().encode() for line in written if line.startswith(_READ_ONLY)]
        tokens = cls(tuple(line.encode() for line in written if not line.startswith(_READ_ONLY)), tuple(read_only))
        if not (tokens.all or tokens.read_only):
            raise SetupError(f"There is no token in {file}.", hint="One in a line, as `openssl rand -hex 32` prints it.")
        return tokens

    def with_one(self, token: str) -> Tokens:
        """These, and one more that allows all."""
        return replace(self, all=(*self.all, token.encode()))

    def allow(self, given: bytes, method: str) -> bool | None:
        """Whether a request with this token may be made; None where it is no token. Each is compared, for as long as any takes."""
        every = [hmac.compare_digest(given, token) for token in self.all]
        looking = [hmac.compare_digest(given, token) for token in self.read_only]
        return True if any(every) else method in _SAFE if any(looking) else None


class Guard:
    """An application before which each request is checked: its address, where it comes from, its token, its size."""

    def __init__(self, app: ASGIApp, tokens: Tokens | None = None) -> None:
        """``tokens``: None on an address of this machine alone, where Host has to be such, too: a page that a browser shows could name another."""
        self._app = app
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        # Over a websocket anything may be said.
        if (refused := self._refused(scope.get("method", "POST"), headers)) is not None:
            await refused(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await self._app(scope, receive, send)
            return
        await _Limited(self._app, receive, send)(scope)

    def _refused(self, method: str, headers: MutableMapping[bytes, bytes]) -> JSONResponse | None:
        host = headers.get(b"host", b"").decode("latin-1")
        if self._tokens is None and not is_loopback(_name(host)):
            return refusal(f"The host '{host[:100]}' is none of this server.", status=403)
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin and urlsplit(origin).netloc != host:
            return refusal("The request comes from a page of another site.", status=403)
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > MOST_BYTES:
            return refusal(f"A request has at most {MOST_BYTES:,} bytes.", status=413)
        if self._tokens is None:
            return None
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        allowed = self._tokens.allow(token.strip(), method) if scheme.lower() == b"bearer" else None
        if allowed is None:
            return refusal("The request has no token that is known.", status=401, headers={"WWW-Authenticate": "Bearer"})
        return None if allowed else refusal("The token is for looking alone.", status=403)


class _Limited:
    """A request whose body is read as far as one may be long."""

    def __init__(self, app: ASGIApp, receive: Receive, send: Send) -> None:
        self._app = app
        self._receive = receive
        self._send = send
        self._read = 0
        self._began = False

    async def __call__(self, scope: Scope) -> None:
        try:
            await self._app(scope, self._received, self._sent)
        except _TooLong:
            if not self._began:
                await refusal(f"A request has at most {MOST_BYTES:,} bytes.", status=413)(scope, self._receive, self._send)

    async def _received(self) -> Message:
        message = await self._receive()
        self._read += len(message.get("body", b""))
        if self._read > MOST_BYTES:
            raise _TooLong
        return message

    async def _sent(self, message: Message) -> None:
        self._began = True
        await self._send(message)


class _TooLong(BaseException):
    """More has come than is read: no handler takes it for a defect."""


def _name(host: str) -> str:
    """A host without its port."""
    return urlsplit(f"//{host}").hostname or ""
