"""A broker of a few lines: topics in memory, the requests that ``sqlstream.connectors.kafka.wire`` and ``sqlstream.connectors.kafka.fetch`` send."""

from __future__ import annotations

import gzip
import socketserver
import struct
import threading

from sqlstream.connectors.kafka.wire import packed


def varint(value: int) -> bytes:
    value = (value << 1) ^ (value >> 63)
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def sized(data: bytes | None) -> bytes:
    return varint(-1) if data is None else varint(len(data)) + data


def batch(base: int, records: list[tuple[int, bytes | None, bytes | None]], codec: int = 0, pack=gzip.compress, control: bool = False) -> bytes:
    """A record batch: (time, key, value) each, with a header."""
    first = records[0][0]
    body = b""
    for i, (time, key, value) in enumerate(records):
        record = b"\0" + varint(time - first) + varint(i) + sized(key) + sized(value) + varint(1) + sized(b"h") + sized(b"v")
        body += varint(len(record)) + record
    head = struct.pack(">hiqqqhii", codec | (0x20 if control else 0), len(records) - 1, first, records[-1][0], -1, -1, -1, len(records))
    rest = struct.pack(">ibI", 0, 2, 0) + head + (pack(body) if codec else body)
    return struct.pack(">qi", base, len(rest)) + rest


class FakeKafka:
    """``topics``: for each name its partitions; a partition is its first offset, its end and its batches."""

    def __init__(self, topics: dict[str, list[tuple[int, int, list[bytes]]]]) -> None:
        self.topics = topics

        outer = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                size = struct.unpack(">i", self.rfile.read(4))[0]
                message = self.rfile.read(size)
                key, _, number, length = struct.unpack_from(">hhih", message)
                answer = struct.pack(">i", number) + outer.answer(key, message[10 + length :])
                self.wfile.write(struct.pack(">i", len(answer)) + answer)

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.bootstrap = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def answer(self, key: int, body: bytes) -> bytes:
        if key == 3:
            port = self.server.server_address[1]
            out = struct.pack(">ii", 1, 7) + packed("127.0.0.1") + struct.pack(">ih", port, -1) + struct.pack(">ii", 7, len(self.topics))
            for name, partitions in self.topics.items():
                out += struct.pack(">h", 0) + packed(name) + struct.pack(">bi", 0, len(partitions))
                for i in range(len(partitions)):
                    out += struct.pack(">hiiiiii", 0, i, 7, 1, 7, 1, 7)
            return out
        at = {2: 8, 1: 21}[key]
        (length,) = struct.unpack_from(">h", body, at)
        name = body[at + 2 : at + 2 + length].decode()
        partition, asked = struct.unpack_from(">iq", body, at + 2 + length + 4)
        first, end, batches = self.topics[name][partition]
        if key == 2:
            offset = end if asked == -1 else first
            return struct.pack(">i", 1) + packed(name) + struct.pack(">iihqq", 1, partition, 0, -1, offset)
        # As Kafka does: from the batch that holds the offset on, two of them, the second cut short.
        ends = [struct.unpack_from(">q", b)[0] + struct.unpack_from(">i", b, 23)[0] + 1 for b in batches]
        left = [b for b, after in zip(batches, ends, strict=True) if after > asked]
        data = b"".join(left[:1]) + b"".join(left[1:2])[:-3]
        head = struct.pack(">ii", 0, 1) + packed(name) + struct.pack(">iihqqi", 1, partition, 0, end, end, -1)
        return head + struct.pack(">i", len(data)) + data
