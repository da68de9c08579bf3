"""A client of Flink's SQL gateway, over one connection."""

from __future__ import annotations

import http.client
import json
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

_LOOK_AGAIN_SECONDS = 0.002


@dataclass(frozen=True)
class Answered:
    """What a statement was answered with: its rows, the seconds until the first of them, or until the end where there is none, and what it
    asked of the server."""

    rows: int
    first_seconds: float
    requests: int


class Client:
    """A session of the server at ``endpoint``."""

    def __init__(self, endpoint: str, **options: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(endpoint).netloc)
        self._session = self.ask("POST", "/v4/sessions", {"properties": options})["sessionHandle"]

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """What a request is answered with. Raises RuntimeError where it is refused."""
        self._connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
        response = self._connection.getresponse()
        text = response.read()
        if response.status >= 300:
            raise RuntimeError(f"{method} {path}: {response.status} {text[:500]!r}")
        return json.loads(text)

    def run(self, statement: str, rows: int | None = None) -> Answered:
        """Run a statement to its end, or until ``rows`` have come, and close it."""
        began = time.perf_counter()
        operation = self.ask("POST", f"/v4/sessions/{self._session}/statements", {"statement": statement})["operationHandle"]
        path = f"/v4/sessions/{self._session}/operations/{operation}"
        address: str | None = f"{path}/result/0?rowFormat=JSON"
        requests, came, first = 1, 0, None
        while address and (rows is None or came < rows):
            answer = self.ask("GET", address)
            requests += 1
            if answer["resultType"] == "NOT_READY":
                time.sleep(_LOOK_AGAIN_SECONDS)
                continue
            came += len(answer["results"]["data"])
            if came and first is None:
                first = time.perf_counter() - began
            address = None if answer["resultType"] == "EOS" else answer.get("nextResultUri")
        self.ask("DELETE", f"{path}/close")
        return Answered(came, time.perf_counter() - began if first is None else first, requests + 1)

    def close(self) -> None:
        """Close the session."""
        self.ask("DELETE", f"/v4/sessions/{self._session}")
        self._connection.close()
