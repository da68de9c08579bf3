"""The latest records of a topic, by Kafka's own protocol: no JVM, no consumer group, nothing is committed."""

from __future__ import annotations

import gzip
import struct
import zlib
from dataclasses import dataclass

from sqlstream.connectors.kafka import compression
from sqlstream.connectors.kafka.wire import Reply, WireError, ask, packed, partitions
from sqlstream.core.errors import SetupError, did_you_mean

FETCH, LIST_OFFSETS = 1, 2
LATEST, EARLIEST = -1, -2
WAIT_MS = 500
MOST_BYTES = 4 * 1024 * 1024
_CODECS = {0: "none", 1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}
_CONTROL, _COMPRESSION = 0x20, 0x07


@dataclass(frozen=True)
class Record:
    """A record of a topic; ``timestamp`` in milliseconds since 1970."""

    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None


def latest(bootstrap: str, topic: str, count: int) -> list[Record]:
    """The last ``count`` records of a topic, by time, from all of its partitions. Raises SetupError."""
    known = partitions(bootstrap)
    if topic not in known:
        hint = did_you_mean(topic, known) or f"There are: {', '.join(known) or 'none'}."
        raise SetupError(f"There is no topic '{topic}' at {bootstrap}.", hint=hint)
    found: list[Record] = []
    for partition in known[topic]:
        if not partition.leader:
            raise WireError(f"Partition {partition.index} of '{topic}' has no leader now.")
        first, end = (_offset(partition.leader, topic, partition.index, when) for when in (EARLIEST, LATEST))
        found += _tail(partition.leader, topic, partition.index, first, end, count)
    return sorted(found, key=lambda r: (r.timestamp, r.partition, r.offset))[-count:] if count else []


def _tail(leader: str, topic: str, partition: int, first: int, end: int, count: int) -> list[Record]:
    """The last ``count`` records before ``end``. Offsets may have gaps (compaction, transactions): it looks further back until there are enough."""
    span = count
    while True:
        begin = max(first, end - span)
        found = _from(leader, topic, partition, begin, end)
        if len(found) >= count or begin == first:
            return found[-count:]
        span *= 4


def _from(leader: str, topic: str, partition: int, begin: int, end: int) -> list[Record]:
    found: list[Record] = []
    at = begin
    while at < end:
        data = _fetch(leader, topic, partition, at)
        batches = list(_batches(data, partition))
        if not batches:
            break
        for after, records in batches:
            found += [r for r in records if at <= r.offset < end]
            at = max(at, after)
    return found


def _offset(leader: str, topic: str, partition: int, when: int) -> int:
    body = struct.pack(">i", -1) + struct.pack(">i", 1) + packed(topic) + struct.pack(">iiq", 1, partition, when)
    reply = ask(leader, LIST_OFFSETS, 1, body)
    reply.int32()
    reply.string()
    reply.int32()
    reply.int32()
    error = reply.int16()
    reply.int64()
    if error:
        raise WireError(f"The topic '{topic}' cannot be read: error {error} of Kafka.")
    return reply.int64()


def _fetch(leader: str, topic: str, partition: int, offset: int) -> bytes:
    head = struct.pack(">iiiib", -1, WAIT_MS, 1, MOST_BYTES, 1)  # of transactions only those that are committed
    body = head + struct.pack(">i", 1) + packed(topic) + struct.pack(">iiqi", 1, partition, offset, MOST_BYTES)
    reply = ask(leader, FETCH, 4, body)
    reply.int32()  # throttle time
    reply.int32()
    reply.string()
    reply.int32()
    reply.int32()
    error = reply.int16()
    if error:
        raise WireError(f"The topic '{topic}' cannot be read: error {error} of Kafka.")
    reply.int64()
    reply.int64()
    reply.take(16 * max(0, reply.int32()))  # aborted transactions
    return reply.take(max(0, reply.int32()))


def _batches(data: bytes, partition: int) -> list[tuple[int, list[Record]]]:
    """The whole batches of a fetch: the offset behind each, and its records. The last one may be cut short."""
    found = []
    at = 0
    while at + 61 <= len(data):
        base, length = struct.unpack_from(">qi", data, at)
        end = at + 12 + length
        if end > len(data):
            break
        magic = data[at + 16]
        if magic != 2:
            raise SetupError(f"The records have the format {magic}, of a Kafka before 0.11.", hint="SELECT from a table of the topic reads them.")
        attributes, last = struct.unpack_from(">hi", data, at + 21)
        time, newest = struct.unpack_from(">qq", data, at + 27)
        (count,) = struct.unpack_from(">i", data, at + 57)
        records: list[Record] = []
        if not attributes & _CONTROL:
            body = _plain(data[at + 61 : end], attributes & _COMPRESSION)
            appended = newest if attributes & 0x08 else None
            records = _records(Reply(body), count, base, time, appended, partition)
        found.append((base + last + 1, records))
        at = end
    return found


def _records(reply: Reply, count: int, base: int, time: int, appended: int | None, partition: int) -> list[Record]:
    found = []
    for _ in range(count):
        _varint(reply)  # the length
        reply.int8()
        passed, offset = _varint(reply), _varint(reply)
        key, value = _bytes(reply), _bytes(reply)
        for _ in range(_varint(reply)):
            _bytes(reply)
            _bytes(reply)
        found.append(Record(partition, base + offset, time + passed if appended is None else appended, key, value))
    return found


def _varint(reply: Reply) -> int:
    value = shift = 0
    while True:
        byte = reply.take(1)[0]
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return (value >> 1) ^ -(value & 1)
        shift += 7


def _bytes(reply: Reply) -> bytes | None:
    length = _varint(reply)
    return None if length < 0 else reply.take(length)


def _plain(data: bytes, codec: int) -> bytes:
    try:
        match _CODECS.get(codec):
            case "none":
                return data
            case "gzip":
                return gzip.decompress(data)
            case "lz4":
                return compression.lz4(data)
            case "snappy":
                return compression.snappy(data)
    except (IndexError, ValueError, OSError, EOFError, zlib.error, struct.error) as error:
        raise SetupError(f"A compressed batch of records cannot be read: {error}.") from error
    hint = "SELECT from a table of the topic reads them."
    raise SetupError(f"The records are compressed by {_CODECS.get(codec, codec)}, which can't be read here.", hint=hint)
