"""Records as lines of text, into a topic and out of it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.core.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlstream.connectors.kafka.client import KafkaClient, Record


def create_topic(client: KafkaClient, name: str, partitions: int = 1, compacted: bool = False) -> None:
    """Create a topic; one that exists with the same number of partitions is left alone. Raises SetupError."""
    there = client.topics().get(name)
    if there is None:
        client.create_topic(name, partitions, {"cleanup.policy": "compact"} if compacted else {})
        end = time.monotonic() + client.timeout
        while name not in client.topics() and time.monotonic() < end:  # a broker tells of it a moment after the controller made it
            time.sleep(0.02)
    elif there != partitions:
        what = f"The topic '{name}' has {there} partitions, not {partitions}."
        raise SetupError(what, hint="Choose another name, or the same number of partitions.")


def produce(client: KafkaClient, topic: str, source: Path | Iterable[str], key_separator: str | None = None) -> int:
    """Send the lines of a file, or ``source`` itself, one record each; how many. See Broker.produce."""
    lines = source if not isinstance(source, Path) else _lines_of(source)
    return client.produce(topic, _pairs(topic, lines, key_separator))


def line_of(record: Record, key_separator: str | None) -> bytes:
    """A record as a line: its value, after its key where a separator is wanted; what is absent is ``null``."""
    value = b"null" if record.value is None else record.value
    if key_separator is None:
        return value
    return (b"null" if record.key is None else record.key) + key_separator.encode() + value


def _lines_of(path: Path) -> Iterator[str]:
    """The lines of a file, one at a time, whatever bytes they hold. Raises SetupError."""
    try:
        with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as handle:
            yield from handle
    except OSError as e:
        raise SetupError(f"'{path}' cannot be read: {e.strerror}.") from e


def _pairs(topic: str, lines: Iterable[str], key_separator: str | None) -> Iterator[tuple[bytes | None, bytes]]:
    """The key and the value of each line. Raises SetupError."""
    for count, line in enumerate(lines):
        text = line.rstrip("\r\n")
        if key_separator is None:
            yield None, _bytes(text)
            continue
        key, separator, value = text.partition(key_separator)
        if not separator:
            why = f"line {count + 1} has no {key_separator!r} after its key; {count} lines were sent"
            raise SetupError(f"Not all records could be sent to '{topic}': {why}.")
        yield _bytes(key), _bytes(value)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
