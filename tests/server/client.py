"""A client of the gateway, as plain as its interface."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class Answer:
    """What a request was answered."""

    status: int
    body: Any
    # The body as it is written: a number has digits that Python's would lose.
    text: str = ""

    @property
    def error(self) -> str:
        """The text of an error."""
        return str(self.body["errors"][-1])


@dataclass
class Fetched:
    """A result that was fetched to its end, or until enough rows had come."""

    columns: list[dict[str, Any]] = field(default_factory=list)
    data: list[dict[str, Any]] = field(default_factory=list)
    query: bool = False
    kind: str = ""
    job_id: str | None = None
    complete: bool = False
    # The last answer that has rows.
    text: str = ""
    # The address of what comes next.
    next: str = ""

    @property
    def rows(self) -> list[list[Any]]:
        """The fields of each row."""
        return [row["fields"] for row in self.data]


class GatewayError(Exception):
    """The server refused."""


class Client:
    """Requests to one server."""

    def __init__(self, address: str, version: str = "v4", headers: dict[str, str] | None = None) -> None:
        self.address = address
        self.version = version
        self.headers = headers or {}

    def ask(self, method: str, path: str, body: Any = None, *, raw: bytes | None = None) -> Answer:
        """Any request: ``body`` as JSON, or ``raw``."""
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **self.headers}
        request = urllib.request.Request(self.address + path, method=method, data=data, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                status, text = response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read().decode()
        return Answer(status, json.loads(text), text)

    def get(self, path: str, body: Any = None) -> Answer:
        return self.ask("GET", f"/{self.version}{path}", body)

    def post(self, path: str, body: Any = None) -> Answer:
        return self.ask("POST", f"/{self.version}{path}", body)

    def delete(self, path: str) -> Answer:
        return self.ask("DELETE", f"/{self.version}{path}")

    def open(self, **options: str) -> OpenSession:
        answer = self.post("/sessions", {"properties": {key.replace("__", ".").replace("_", "-"): value for key, value in options.items()}})
        assert answer.status == 200, answer
        return OpenSession(self, answer.body["sessionHandle"])


@dataclass
class OpenSession:
    """A session of the client."""

    client: Client
    handle: str

    @property
    def path(self) -> str:
        return f"/sessions/{self.handle}"

    def begin(self, statement: str, **more: Any) -> str:
        """The path of the operation of a statement."""
        answer = self.client.post(f"{self.path}/statements", {"statement": statement, **more})
        assert answer.status == 200, answer
        return f"{self.path}/operations/{answer.body['operationHandle']}"

    def fetch(self, operation: str, *, format_: str = "JSON", rows: int | None = None, seconds: float = 90, after: str = "") -> Fetched:
        """The result of an operation, or its first ``rows``; or what comes ``after`` an address. Raises GatewayError."""
        fetched, deadline = Fetched(), time.monotonic() + seconds
        path = after or f"/{self.client.version}{operation}/result/0?rowFormat={format_}"
        while time.monotonic() < deadline:
            answer = self.client.ask("GET", path)
            if answer.status != 200:
                raise GatewayError(answer.error)
            body = answer.body
            if body["resultType"] == "NOT_READY":
                assert body["nextResultUri"] == path
                continue
            fetched.columns, fetched.kind, fetched.query = body["results"]["columns"], body["resultKind"], body["isQueryResult"]
            fetched.job_id = body.get("jobID")
            fetched.data += body["results"]["data"]
            fetched.text = answer.text if body["results"]["data"] else fetched.text
            if body["resultType"] == "EOS":
                fetched.complete = True
                return fetched
            path = fetched.next = body["nextResultUri"]
            if rows is not None and len(fetched.data) >= rows:
                return fetched
        raise AssertionError(f"{seconds} s without the end of the result: {fetched}")

    def run(self, statement: str, **more: Any) -> Fetched:
        """The whole result of a statement."""
        return self.fetch(self.begin(statement), **more)

    def close(self) -> Answer:
        return self.client.delete(self.path)


def at_once(work: Callable[[int], None], count: int, seconds: float) -> list[BaseException]:
    """The errors of ``work``, done for so many numbers at the same time, each in a thread that is awaited for so long."""
    failed: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
    return failed
