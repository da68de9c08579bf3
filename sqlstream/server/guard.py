"""Who may ask the server for what: checked of each request before anything else looks at it."""

from __future__ import annotations

import hmac
import re
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse

from sqlstream.server.answers import refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from sqlstream.core.tokens import Tokens

# A request has so many bytes at most: scripts are far shorter.
MOST_BYTES = 8 * 1024 * 1024
_SAFE = ("GET", "HEAD", "OPTIONS")
_MAY_CHANGE = "may_change"
_PORT = re.compile("[0-9]{1,5}")


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine alone."""
    if host.rstrip(".").lower() == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def allowed(tokens: Tokens, given: bytes, method: str) -> bool | None:
    """Whether a request with this token may be made; None where it is no token. Each is compared, for as long as any takes."""
    every = [hmac.compare_digest(given, token) for token in tokens.all]
    looking = [hmac.compare_digest(given, token) for token in tokens.read_only]
    return True if any(every) else method in _SAFE if any(looking) else None


def cookie_of(host: str) -> str:
    """In what a browser keeps the token of the server at ``host``: it sends a cookie to all ports of a machine."""
    port = host.rpartition(":")[2]
    return f"sqlstream_token_{port if _PORT.fullmatch(port) else 0}"


def wants_html(scope: Scope) -> bool:
    """Whether it is a browser that asks for a page, and no client of an interface."""
    return scope["type"] == "http" and "text/html" in Headers(scope=scope).get("accept", "")


def _is_open(path: str) -> bool:
    """Whether it is answered without a token: the form for one, what that looks like, and leaving."""
    return path in ("/login", "/logout") or path.startswith("/static/")


def may_change(scope: Scope) -> bool:
    """Whether who makes a request may also make one that changes something."""
    return bool(scope.get("state", {}).get(_MAY_CHANGE, True))


def login_address(path: str, query: str) -> str:
    """Where a browser without a token is sent, and comes from to this address."""
    return f"/login?{urlencode({'to': path + (f'?{query}' if query else '')})}"


class Guard:
    """An application before which each request is checked: its address, where it comes from, its token, its size."""

    def __init__(self, app: ASGIApp, tokens: Tokens | None, tell: Callable[[str], None]) -> None:
        """``tokens``: None on an address of this machine alone, where Host has to be such, too: a page that a browser shows could name another.
        ``tell`` hears who was refused.
        """
        self._app = app
        self._tokens = tokens
        self._tell = tell

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        # Over a websocket anything may be said.
        if (refused := self._refused(scope, headers)) is not None:
            status, why = refused
            if status == 401 and wants_html(scope):
                # A browser that comes for the first time.
                query = scope["query_string"].decode("latin-1")
                await RedirectResponse(login_address(scope["path"], query), 303)(scope, receive, send)
                return
            client = scope.get("client") or ("?",)
            self._tell(f"[WARNING] {client[0]} was refused: {why}")
            await refusal(why, status=status, headers={"WWW-Authenticate": "Bearer"} if status == 401 else None)(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await self._app(scope, receive, send)
            return
        await _Limited(self._app, receive, send)(scope)

    def _refused(self, scope: Scope, headers: Mapping[bytes, bytes]) -> tuple[int, str] | None:
        """The status, and why."""
        method = scope.get("method", "POST")
        host = headers.get(b"host", b"").decode("latin-1")
        if self._tokens is None and not is_loopback(_name(host)):
            return 403, f"The host {host[:100]!r} is none of this server."
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin and urlsplit(origin).netloc != host:
            return 403, "The request comes from a page of another site."
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > MOST_BYTES:
            return 413, f"A request has at most {MOST_BYTES:,} bytes."
        if self._tokens is None or _is_open(scope["path"]):
            return None
        token = _token(headers, cookie_of(host))
        may = allowed(self._tokens, token, "POST")
        if may is None:
            return 401, "The request has no token that is known."
        scope.setdefault("state", {})[_MAY_CHANGE] = may
        return None if may or method in _SAFE else (403, "The token is for looking alone.")


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


def _token(headers: Mapping[bytes, bytes], cookie: str) -> bytes:
    """That of a request: a client's in its header, a browser's in its ``cookie``; empty where it has none."""
    scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
    if scheme.lower() == b"bearer":
        return token.strip()
    return cookie_parser(headers.get(b"cookie", b"").decode("latin-1")).get(cookie, "").encode("latin-1")


def _name(host: str) -> str:
    """A host without its port."""
    return urlsplit(f"//{host}").hostname or ""
