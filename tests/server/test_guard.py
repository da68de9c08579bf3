"""Who may ask the server: addresses, pages of other sites, tokens, sizes."""

from __future__ import annotations

import http.client
import socket
import ssl
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from sqlstream.cli import serve as command
from sqlstream.core.errors import SetupError
from sqlstream.core.tokens import Tokens
from sqlstream.server.guard import MOST_BYTES, is_loopback
from sqlstream.session.joined.place import ServerPlace
from sqlstream.session.joined.session import JoinedSession
from tests.server.conftest import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.server.client import Client


def asked(client: Client, method: str, path: str, headers: dict[str, str] | None = None, body: bytes | None = None) -> int:
    """The status of a request with these headers."""
    connection = http.client.HTTPConnection(urlsplit(client.address).netloc, timeout=60)
    try:
        connection.request(method, path, body, headers or {})
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True), ("127.3.2.1", True), ("::1", True), ("[::1]", True), ("localhost", True), ("LOCALHOST.", True),
        ("0.0.0.0", False), ("10.0.0.1", False), ("example.com", False), ("localhost.example.com", False), ("", False), ("127.0.0.1.example.com", False),
    ],
)  # fmt: skip
def test_addresses_of_this_machine_alone(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:8083"}, 200),
        ({"Host": "[::1]:8083"}, 200),
        # A page that a browser shows, whose name means this machine by now.
        ({"Host": "evil.example:8083"}, 403),
        ({"Host": ""}, 403),
        ({"Host": "localhost:8083", "Origin": "http://localhost:8083"}, 200),
        ({"Host": "localhost:8083", "Origin": "http://localhost:3000"}, 403),
        ({"Host": "localhost:8083", "Origin": "https://evil.example"}, 403),
        ({"Host": "localhost:8083", "Origin": "null"}, 403),
    ],
)
def test_where_a_request_comes_from(client: Client, headers: dict[str, str], status: int) -> None:
    assert asked(client, "GET", "/info", headers) == status


def test_long_requests(client: Client) -> None:
    assert asked(client, "POST", "/v4/sessions", {"Content-Length": str(MOST_BYTES + 1)}) == 413
    assert asked(client, "POST", "/v4/sessions", {"Content-Length": "x"}) in (400, 413)
    # One that does not say how long it is.
    host = urlsplit(client.address)
    with socket.create_connection((host.hostname, host.port), timeout=60) as connection:
        connection.sendall(b"POST /v4/sessions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        piece = b" " * 1_000_000
        try:
            for _ in range(MOST_BYTES // len(piece) + 2):
                connection.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has answered, and reads no more
        assert b" 413 " in connection.recv(100)
    assert client.get("/info").status == 200


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    file = tmp_path / "tokens"
    file.write_text("# of the team\nsecret-of-the-team-1\n\nread-only  looking-alone-is-all-1 \n")
    file.chmod(0o600)
    return file


@pytest.fixture
def guarded(tmp_path: Path, tokens: Path, no_engine: object) -> Iterator[Client]:
    with serving(tmp_path, {}, no_engine, Tokens.read(tokens)) as made:
        yield made


@pytest.mark.parametrize(
    ("authorization", "get", "post"),
    [
        ("Bearer secret-of-the-team-1", 200, 200),
        ("bearer secret-of-the-team-1", 200, 200),
        ("Bearer looking-alone-is-all-1", 200, 403),
        ("Bearer secret-of-the-team-2", 401, 401),
        ("Bearer secret-of-the-team-1x", 401, 401),
        ("Bearer ", 401, 401),
        ("Bearer", 401, 401),
        ("secret-of-the-team-1", 401, 401),
        ("Basic secret-of-the-team-1", 401, 401),
        ("Bearer read-only looking-alone-is-all-1", 401, 401),
        (None, 401, 401),
    ],
)
def test_tokens(guarded: Client, authorization: str | None, get: int, post: int) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}
    assert asked(guarded, "GET", "/info", headers) == get
    assert asked(guarded, "POST", "/v4/sessions", headers, b"{}") == post
    # What is there is not told to who has none.
    assert asked(guarded, "GET", "/nothing", headers) == (404 if get == 200 else get)


def test_who_was_refused_is_told_of_without_what_was_sent(
    tmp_path: Path, tokens: Path, no_engine: object, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(tmp_path, {}, no_engine, Tokens.read(tokens)) as client:
        assert asked(client, "GET", "/info", {"Authorization": "Bearer canary-of-a-token"}) == 401
        assert asked(client, "POST", "/sessions", {"Authorization": "Bearer looking-alone-is-all-1"}, b"{}") == 403
        with pytest.raises(InvalidStatus):
            connect(client.address.replace("http", "ws") + "/shell", additional_headers={"Authorization": "Bearer canary-of-a-token"})
    said = [line for line in capsys.readouterr().out.splitlines() if "refused" in line]
    no_token, looks = "The request has no token that is known.", "The token is for looking alone."
    assert said == [f"[WARNING] 127.0.0.1 was refused: {why}" for why in (no_token, looks, no_token)]


def test_files_of_tokens(tokens: Path) -> None:
    assert Tokens.read(tokens) == Tokens((b"secret-of-the-team-1",), (b"looking-alone-is-all-1",))
    tokens.chmod(0o640)
    with pytest.raises(SetupError, match="Others may read the file of tokens"):
        Tokens.read(tokens)
    tokens.chmod(0o600)
    tokens.write_text("# none\n")
    with pytest.raises(SetupError, match="There is no token in"):
        Tokens.read(tokens)
    with pytest.raises(SetupError, match="none, can't be read: No such file"):
        Tokens.read(tokens.with_name("none"))
    tokens.write_bytes(b"\xff" * 32)
    with pytest.raises(SetupError, match="it is not UTF-8"):
        Tokens.read(tokens)


LONG = "0123456789abcdef"


@pytest.mark.parametrize(
    "line", ["read-only", "read-only ", "read-only short", "short", f"{LONG} {LONG}", f"read-only {LONG} x", f"{LONG}\u00e9", f"{LONG}\x07"]
)
def test_lines_that_are_no_token_are_refused_and_not_shown(tokens: Path, line: str) -> None:
    tokens.write_text(f"{LONG}\n{line}\n", "utf-8")
    with pytest.raises(SetupError, match="Line 2 of .*tokens is not a token") as caught:
        Tokens.read(tokens)
    assert LONG not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "sent"), [(LONG, LONG), (f"read-only {LONG}x\n{LONG}y\n{LONG}z", f"{LONG}y"), (f"# looks\nread-only {LONG}x", f"{LONG}x")]
)
def test_what_a_client_sends_of_a_file(tokens: Path, text: str, sent: str) -> None:
    tokens.write_text(text, "utf-8")
    assert Tokens.read(tokens).of_client() == sent


@pytest.mark.parametrize("arguments", [["--host", "0.0.0.0"], ["--host", "10.1.2.3", "--tokens", "t"], ["--host", "example.com", "--tls-key", "k"]])
def test_an_address_that_others_reach_needs_tls_and_tokens(tmp_path: Path, arguments: list[str]) -> None:
    with pytest.raises(SetupError, match="others reach the server, which needs a certificate and tokens there"):
        command.main(arguments, tmp_path, {})


@pytest.fixture
def other_port() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield str(taken.getsockname()[1])


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["--tls-certificate", "c.pem"], "A certificate and its key go together", "Name --tls-key"),
        (["--tls-key", "c.pem"], "A certificate and its key go together", "Name --tls-certificate"),
        (["--tls-certificate", "none.pem", "--tls-key", "c.pem"], "none.pem' can't be read: No such file", "Check --tls-certificate"),
        (["--tls-certificate", "c.pem", "--tls-key", "c.pem"], "are no certificate with its key", "Both are PEM"),
        (["--port", "TAKEN"], "can't listen at 127.0.0.1:.*: Address already in use", "--port names another"),
        (["--host", "localhost.invalid", "--tls-certificate", "c.pem", "--tls-key", "c.pem"], "others reach the server", "--tokens"),
    ],
)
def test_arguments_that_can_not_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other_port: str, arguments: list[str], message: str, hint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.pem").write_text("no certificate")
    with pytest.raises(SetupError, match=message) as caught:
        command.main([argument.replace("TAKEN", other_port) for argument in arguments], tmp_path, {})
    assert hint in str(caught.value.hint)


@pytest.mark.parametrize("port", ["99999", "-1", "x", ""])
def test_ports_that_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str], port: str) -> None:
    with pytest.raises(SystemExit):
        command.main([f"--port={port}"], tmp_path, {})
    assert "a port is a number from 0 to 65535" in capsys.readouterr().err


def test_all_addresses_of_a_name_have_one_port() -> None:
    sockets = command._listening("localhost", 0)
    try:
        assert len({one.getsockname()[1] for one in sockets}) == 1
    finally:
        for one in sockets:
            one.close()


def test_tls(tmp_path: Path, tokens: Path, no_engine: object) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    asked_for = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    subprocess.run(
        [*asked_for, "-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True
    )
    with serving(tmp_path, {}, no_engine, Tokens.read(tokens), ssl_certfile=certificate, ssl_keyfile=key) as client:
        address = urlsplit(client.address)
        connection = http.client.HTTPSConnection("localhost", address.port, context=ssl.create_default_context(cafile=str(certificate)))
        connection.request("GET", "/info", headers={"Authorization": "Bearer secret-of-the-team-1"})
        assert connection.getresponse().status == 200
        connection.close()
        shells = f"https://127.0.0.1:{address.port}"

        def join(**more: str) -> JoinedSession:
            user = {"options": {}, "variables": {}, "interactive": False, "notify": print, "emit": print, "save": False, "ask": None}
            place = ServerPlace(shells, "secret-of-the-team-1", **more)
            return JoinedSession(place, tmp_path, **user, progress=print, keep_stopped=False, width=lambda: 80)

        # The certificate names another host, and nobody has signed it: who has it as a file knows the server all the same.
        with closing(join(certificate=str(certificate))) as session:
            assert [outcome.rows for outcome in session.run("SHOW CURRENT CATALOG")] == [(("default_catalog",),)]
        with pytest.raises(SetupError, match="is not trusted"):
            join()
        other = tmp_path / "other.pem"
        subprocess.run([*asked_for, "-keyout", str(key), "-out", str(other)], check=True, capture_output=True)
        with pytest.raises(SetupError, match="is not trusted"):
            join(certificate=str(other))
        with pytest.raises(SetupError):
            join(certificate=str(tmp_path / "none.pem"))
