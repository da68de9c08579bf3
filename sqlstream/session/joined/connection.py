"""The shell's end of the websocket: what is said, and who hears the answers."""

from __future__ import annotations

import json
import os
import socket
import ssl
import threading
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from sqlstream.core.errors import SetupError, SqlStreamError
from sqlstream.session.joined import PATH, SILENT_SECONDS, wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from websockets.sync.client import ClientConnection

    from sqlstream.session.joined.place import ServerPlace

_OPEN_SECONDS = 20
_ANSWER_SECONDS = 20
_SCHEMES = {"http": "ws", "https": "wss"}


class Connection:
    """A connection to a server. ``hear`` is called with what the server says by itself, from the thread that reads."""

    def __init__(self, place: ServerPlace, hear: Callable[[dict[str, Any]], None]) -> None:
        """Raises SetupError where there is no server, or none that lets one in."""
        self.url = place.url
        self._open = ExitStack()
        self._socket = _connected(place, self._open)
        self._hear = hear
        self._numbers = count(1)
        self._hearers: dict[int, Callable[[dict[str, Any] | None], None]] = {}
        self._lock = threading.Lock()
        self._is_over = False
        threading.Thread(target=self._read, name="joined", daemon=True).start()

    @property
    def is_over(self) -> bool:
        """Whether it has ended: nothing that is asked is answered any more."""
        return self._is_over

    def say(self, do: str, **more: Any) -> None:
        """Say something. Raises SetupError where the connection has ended."""
        from websockets.exceptions import ConnectionClosed

        try:
            self._socket.send(json.dumps({"do": do, **more}))
        except (ConnectionClosed, OSError):
            raise self.gone() from None

    def ask(self, do: str, then: Callable[[dict[str, Any] | None], None], **more: Any) -> int:
        """Ask something: ``then`` is called with each answer, from the thread that reads, and with None when the connection has ended."""
        number = next(self._numbers)
        with self._lock:
            if self._is_over:
                raise self.gone()
            self._hearers[number] = then
        self.say(do, id=number, **more)
        return number

    def answer(self, do: str, *, seconds: float = _ANSWER_SECONDS, **more: Any) -> dict[str, Any]:
        """The one answer to a question. Raises SqlStreamError: what the server says is wrong, and where it says nothing for so long."""
        answers: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        number = self.ask(do, answers.put, **more)
        said: dict[str, Any] | None = None
        with suppress(Empty):
            said = answers.get(timeout=seconds)
        self.forget(number)
        if said is None:
            raise self.gone()
        if "error" in said:
            raise wire.error_in(said["error"])
        return said

    def forget(self, number: int) -> None:
        """Nobody waits for answers to this question any more."""
        with self._lock:
            self._hearers.pop(number, None)

    def gone(self) -> SqlStreamError:
        """The error where the server does not answer."""
        hint = "Its jobs go on where it does, or when it is started again. What this session had declared for itself is gone: open another one."
        return SetupError(f"The server at {self.url} does not answer any more.", hint=hint)

    def close(self) -> None:
        """End it, and the session with it."""
        self._open.close()

    def cut_off(self) -> None:
        """End it without a word."""
        with suppress(OSError):
            self._socket.socket.shutdown(socket.SHUT_RDWR)

    def _read(self) -> None:
        from websockets.exceptions import ConnectionClosed

        with suppress(ConnectionClosed, OSError):
            for text in self._socket:
                said = json.loads(text)
                number = said.get("id", 0)
                with self._lock:
                    hearer = self._hearers.get(number)
                if number == 0:
                    self._hear(said)
                elif hearer is not None:
                    hearer(said)
        with self._lock:
            self._is_over = True
            left = list(self._hearers.values())
        for hearer in left:
            hearer(None)


def _connected(place: ServerPlace, stack: ExitStack) -> ClientConnection:
    """The connection, which ends with ``stack``."""
    try:
        from websockets.exceptions import InvalidHandshake, InvalidStatus, InvalidURI
        from websockets.sync.client import connect
    except ModuleNotFoundError as error:
        raise SetupError("A shell that joins a server needs the package websockets.", hint="pip install 'sqlstream[server]'") from error
    try:
        parts = urlsplit(place.url)
        known = parts.scheme in _SCHEMES and parts.hostname and parts.port != 0
    except ValueError:  # of a port, or an address of IPv6
        known = False
    if not known:
        raise SetupError(f"'{place.url}' is no address of a server.", hint="It begins with http:// or https://, as in http://127.0.0.1:8083.")
    headers = {} if place.token is None else {"Authorization": f"Bearer {place.token}"}
    address = urlunsplit((_SCHEMES[parts.scheme], parts.netloc, parts.path.rstrip("/") + PATH, "", ""))
    try:
        return stack.enter_context(connect(
            address, additional_headers=headers, ssl=_trust(place) if parts.scheme == "https" else None, compression=None, max_size=None,
            open_timeout=_OPEN_SECONDS, ping_timeout=SILENT_SECONDS, proxy=None,
        ))  # fmt: skip
    except InvalidStatus as refused:
        raise _refused(place, refused.response.status_code, refused.response.body) from None
    except ssl.SSLError as error:
        hint = "SSL_CERT_FILE names those to trust."
        raise SetupError(f"The certificate of the server at {place.url} is not trusted: {error}.", hint=hint) from None
    except InvalidHandshake as error:
        scheme = "https" if parts.scheme == "http" else "http"
        raise SetupError(f"What answers at {place.url} is no server of sqlstream's: {error}.", hint=f"Is it {scheme}://{parts.netloc}?") from None
    except (OSError, InvalidURI) as error:
        raise SetupError(f"No server answers at {place.url}: {error}.", hint="sqlstream serve starts one.") from None


def _trust(place: ServerPlace) -> ssl.SSLContext:
    if place.certificate is None:
        named = os.environ.get("SSL_CERT_FILE")
        if named and not Path(named).is_file():
            raise SetupError(f"There is no file '{named}', which SSL_CERT_FILE names.", hint="It names the certificates to trust.")
        return ssl.create_default_context()
    # The server's own, which its owner has written down: its name says nothing more.
    made = ssl.create_default_context(cafile=place.certificate)
    made.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    made.check_hostname = False
    return made


def _refused(place: ServerPlace, status: int, body: bytes | bytearray | None) -> SqlStreamError:
    if status == 401:
        return SetupError(f"The server at {place.url} wants a token.", hint="--token-file names a file with one.")
    if status == 404:
        return SetupError(f"The server at {place.url} has nothing for a shell.", hint="It is none of sqlstream's, or of another release.")
    try:
        told = "; ".join(json.loads(body or b"")["errors"])
    except (ValueError, KeyError, TypeError):
        told = f"status {status}"
    return SetupError(f"The server at {place.url} refuses: {told}")
