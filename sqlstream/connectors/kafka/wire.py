"""Requests of Kafka's protocol: in comes a broker's address, out come its topics, or a new one, or the leaders of a topic's partitions.

They answer in a millisecond where Kafka's own tools start a JVM for two seconds; an answer is also the proof that a
broker is up: a port that is open proves nothing.
"""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.core.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Mapping

CREATE_TOPICS = 19
METADATA = 3
TOPIC_EXISTS = 36
TIMEOUT_S = 10
ERRORS = {
    17: "the name is not allowed",
    37: "the number of partitions is not allowed",
    38: "the replication factor is not allowed",
    40: "its configuration is not allowed",
    44: "the broker's policy forbids it",
}


class WireError(SetupError):
    """The broker does not answer, or says no."""


@dataclass(frozen=True)
class Partition:
    """A partition of a topic and the broker that has it, empty where none does."""

    index: int
    leader: str


def topics(bootstrap: str, timeout: float = TIMEOUT_S) -> dict[str, int]:
    """The topics, but for Kafka's own, and the number of partitions of each. Raises WireError."""
    return {name: len(found) for name, found in partitions(bootstrap, timeout).items()}


def partitions(bootstrap: str, timeout: float = TIMEOUT_S) -> dict[str, list[Partition]]:
    """The partitions of all topics, but for Kafka's own. Raises WireError."""
    reply = ask(bootstrap, METADATA, 1, struct.pack(">i", -1), timeout)
    brokers = {}
    for _ in range(reply.int32()):
        node, host, port = reply.int32(), reply.string(), reply.int32()
        brokers[node] = f"{host}:{port}"
        reply.string()  # the rack
    if not brokers:
        raise WireError("The broker is not ready.")
    reply.int32()  # the controller
    found = {}
    for _ in range(reply.int32()):
        reply.int16()
        name, internal = reply.string(), reply.int8()
        there = []
        for _ in range(reply.int32()):
            reply.int16()  # the error
            index, leader = reply.int32(), reply.int32()
            there.append(Partition(index, brokers.get(leader, "")))
            reply.take(4 * reply.int32())  # replicas
            reply.take(4 * reply.int32())  # those in sync
        if not internal:
            found[name] = sorted(there, key=lambda p: p.index)
    return dict(sorted(found.items()))


def create_topic(bootstrap: str, name: str, partitions: int, config: Mapping[str, str]) -> None:
    """Create a topic; one that is there is left alone. Raises WireError."""
    settings = b"".join(packed(k) + packed(v) for k, v in config.items())
    topic = packed(name) + struct.pack(">ihii", partitions, 1, 0, len(config)) + settings
    body = struct.pack(">i", 1) + topic + struct.pack(">i?", TIMEOUT_S * 1000, False)
    reply = ask(bootstrap, CREATE_TOPICS, 2, body)
    reply.take(4 + 4)  # throttle time, count
    reply.string()
    error, message = reply.int16(), reply.string()
    if error not in (0, TOPIC_EXISTS):
        why = message or ERRORS.get(error, f"error {error} of Kafka")
        raise WireError(f"The topic '{name}' cannot be created: {why.rstrip('.')}.")


class Reply:
    """Reads a reply from its beginning to its end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, count: int) -> bytes:
        part = self._data[self._at : self._at + count]
        if len(part) < count:
            raise WireError("The broker's reply is cut short.")
        self._at += count
        return part

    def int8(self) -> int:
        return self.take(1)[0]

    def int16(self) -> int:
        return int.from_bytes(self.take(2), "big", signed=True)

    def int32(self) -> int:
        return int.from_bytes(self.take(4), "big", signed=True)

    def int64(self) -> int:
        return int.from_bytes(self.take(8), "big", signed=True)

    def string(self) -> str:
        length = self.int16()
        return self.take(length).decode("utf-8", "replace") if length > 0 else ""


def packed(text: str) -> bytes:
    """A string of the protocol."""
    data = text.encode()
    return struct.pack(">h", len(data)) + data


def ask(bootstrap: str, request: int, version: int, body: bytes, timeout: float = TIMEOUT_S) -> Reply:
    """The answer of the first broker of ``bootstrap``, a list, that there is. Raises WireError."""
    first, *others = [b.strip() for b in bootstrap.split(",") if b.strip()] or [bootstrap]
    try:
        return _ask(first, request, version, body, timeout)
    except WireError:
        if not others:
            raise
        return ask(",".join(others), request, version, body, timeout)


def _ask(bootstrap: str, request: int, version: int, body: bytes, timeout: float) -> Reply:
    host, _, port = bootstrap.rpartition(":")
    message = struct.pack(">hhi", request, version, 1) + packed("sqlstream") + body
    try:
        with socket.create_connection((host, int(port)), timeout) as connection:
            connection.sendall(struct.pack(">i", len(message)) + message)
            size = int.from_bytes(_receive(connection, 4), "big")
            reply = Reply(_receive(connection, size))
    except (OSError, ValueError) as e:
        raise WireError(f"No Kafka broker answers at {bootstrap}: {e}.") from e
    reply.int32()  # the number of the request
    return reply


def _receive(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = connection.recv(min(65536, count - len(data)))
        if not part:
            raise WireError("The broker closed the connection.")
        data += part
    return data
