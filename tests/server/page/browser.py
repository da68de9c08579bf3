"""What a browser does without a script: it asks for pages, keeps cookies, sends forms, reads events."""

from __future__ import annotations

import gzip
import http.client
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator


class Page:
    """An answer: its status, its headers, its text, of how many bytes it was sent, and what in it is read."""

    def __init__(self, status: int, headers: dict[str, str], text: str, size: int) -> None:
        self.status, self.headers, self.html, self.size = status, headers, text, size
        reader = _Reader()
        reader.feed(text)
        self.text = " ".join(" ".join(reader.words).split())
        self.links = reader.links
        self.buttons = reader.buttons


class _Reader(HTMLParser):
    """The words of a page, where its links lead, and the values of its buttons."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.links: list[str] = []
        self.buttons: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "a":
            self.links.append(values.get("href") or "")
        if tag == "button" and values.get("name") == "action":
            self.buttons.append(values.get("value") or "")

    def handle_data(self, data: str) -> None:
        self.words.append(data)


class Browser:
    """One with its cookies."""

    def __init__(self, address: str) -> None:
        self.host = urlsplit(address).netloc
        self.cookies: dict[str, str] = {}

    def get(self, path: str, **headers: str) -> Page:
        """A page, as it is answered."""
        return self._ask("GET", path, None, headers)

    def post(self, path: str, fields: dict[str, str] | bytes, **headers: str) -> Page:
        """What a form is answered."""
        body = fields if isinstance(fields, bytes) else urlencode(fields).encode()
        return self._ask("POST", path, body, {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://{self.host}", **headers})

    def _ask(self, method: str, path: str, body: bytes | None, more: dict[str, str]) -> Page:
        connection = http.client.HTTPConnection(self.host, timeout=60)
        headers = {"Accept": "text/html,application/xhtml+xml", "Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items()), **more}
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            sent = answer.read()
        finally:
            connection.close()
        text = (gzip.decompress(sent) if answer.headers["content-encoding"] == "gzip" else sent).decode()
        for cookie in answer.headers.get_all("set-cookie") or ():
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value.strip('"')
        return Page(answer.status, {k.lower(): v for k, v in answer.headers.items()}, text, len(sent))

    def events(self, path: str) -> Iterator[tuple[str, str]]:
        """The events of a stream, each with its name, until it ends."""
        connection = http.client.HTTPConnection(self.host, timeout=60)
        headers = {"Accept": "text/event-stream", "Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items())}
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            assert answer.status == 200, answer.read()
            assert answer.headers["content-type"].startswith("text/event-stream")
            name, data = "", []
            for line in answer:
                text = line.decode().rstrip("\n")
                if text.startswith("event: "):
                    name = text.removeprefix("event: ")
                elif text.startswith("data: "):
                    data.append(text.removeprefix("data: "))
                elif not text and name:
                    yield name, "\n".join(data)
                    name, data = "", []
        finally:
            connection.close()
