"""A schema registry in memory, with the documented interface of Confluent's: subjects, versions, ids, references, compatibility."""

from __future__ import annotations

import base64
import json
import re
import ssl
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

import avro.compatibility
import avro.schema
from google.protobuf.descriptor_pb2 import FileDescriptorSet

if TYPE_CHECKING:
    from collections.abc import Iterator

_MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"


class Refusal(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Registry:
    """``requests``: what was asked, in order. ``away``: whether requests are answered by 503. ``user``, ``token``: who may ask."""

    def __init__(self, user: str | None = None, token: str | None = None, port: int = 0, certificate: Path | None = None) -> None:
        self.schemas: dict[int, dict[str, Any]] = {}
        self.subjects: dict[str, list[int]] = {}
        self.requests: list[str] = []
        self.away = False
        self.allowed = {f"Basic {base64.b64encode(user.encode()).decode()}"} if user else {f"Bearer {token}"} if token else None
        registry = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._answer(None)

            def do_POST(self) -> None:
                self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def _answer(self, body: dict[str, Any] | None) -> None:
                registry.requests.append(f"{self.command} {self.path}")
                try:
                    if registry.away:
                        raise Refusal(503, "Service Unavailable")
                    if registry.allowed is not None and self.headers.get("Authorization") not in registry.allowed:
                        raise Refusal(401, "Unauthorized")
                    asked = urlsplit(self.path)
                    status, answer = 200, registry.answer(unquote(asked.path), body)
                    if "serialized" in parse_qs(asked.query).get("format", ()) and answer.get("schemaType") == "PROTOBUF":
                        answer["schema"] = serialized(answer["schema"])
                except Refusal as refusal:
                    status, answer = int(str(refusal.code)[:3]), {"error_code": refusal.code, "message": str(refusal)}
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", _MEDIA_TYPE)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                """Nothing is printed."""

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"{'http' if certificate is None else 'https'}://127.0.0.1:{self.server.server_address[1]}"

    def add(self, subject: str, schema: Any, *, kind: str = "AVRO", references: tuple[tuple[str, str, int], ...] = ()) -> int:
        """The number of a schema that a subject gets."""
        body = {"schema": schema if isinstance(schema, str) else json.dumps(schema), "schemaType": kind}
        if references:
            body["references"] = [{"name": name, "subject": of, "version": version} for name, of, version in references]
        return self.answer(f"/subjects/{subject}/versions", body)["id"]

    def answer(self, path: str, body: dict[str, Any] | None) -> Any:
        if match := re.fullmatch(r"/schemas/ids/(-?\d+)", path):
            if int(match[1]) not in self.schemas:
                raise Refusal(40403, "Schema not found")
            return self._shown(self.schemas[int(match[1])])
        if path == "/subjects":
            return sorted(self.subjects)
        if match := re.fullmatch(r"/subjects/(.+)/versions/(\d+|latest)", path):
            ids = self.subjects.get(match[1])
            if ids is None:
                raise Refusal(40401, f"Subject '{match[1]}' not found.")
            version = len(ids) if match[2] == "latest" else int(match[2])
            return {"subject": match[1], "version": version, "id": ids[version - 1], **self._shown(self.schemas[ids[version - 1]])}
        if (match := re.fullmatch(r"/subjects/(.+?)(/versions)?", path)) and body is not None:
            return self._registered(match[1], body, may_add=match[2] is not None)
        raise Refusal(404, "HTTP 404 Not Found")

    def _registered(self, subject: str, body: dict[str, Any], *, may_add: bool) -> Any:
        schema = {"schema": body["schema"], "schemaType": body.get("schemaType", "AVRO"), "references": body.get("references", [])}
        ids = self.subjects.setdefault(subject, [])
        found = next((id_ for id_, known in self.schemas.items() if known == schema), None)
        if found is None or found not in ids:
            if not may_add:
                raise Refusal(40403, "Schema not found")
            if schema["schemaType"] == "AVRO" and ids and not schema["references"]:
                self._check(subject, schema["schema"], self.schemas[ids[-1]]["schema"])
            found = len(self.schemas) + 1 if found is None else found
            self.schemas[found] = schema
            ids.append(found)
        return {"subject": subject, "id": found, "version": ids.index(found) + 1, "schema": schema["schema"]}

    @staticmethod
    def _check(subject: str, new: str, latest: str) -> None:
        checker = avro.compatibility.ReaderWriterCompatibilityChecker()
        found = checker.get_compatibility(avro.schema.parse(new), avro.schema.parse(latest))
        if found.compatibility is not avro.compatibility.SchemaCompatibilityType.compatible:
            raise Refusal(409, f'Schema being registered is incompatible with an earlier schema for subject "{subject}", details: {found.messages}')

    @staticmethod
    def _shown(schema: dict[str, Any]) -> dict[str, Any]:
        shown = dict(schema)
        if shown["schemaType"] == "AVRO":
            del shown["schemaType"]
        if not shown["references"]:
            del shown["references"]
        return shown


def serialized(text: str) -> str:
    """A .proto file as a FileDescriptorProto in Base64; Confluent's client for Python registers it so."""
    try:
        return base64.b64encode(base64.b64decode(text, validate=True)).decode()
    except ValueError:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a.proto").write_text(text)
            # What is imported, the registry's references say.
            for name in re.findall(r'import "(?!google)(.*?)"', text):
                (Path(folder) / name).write_text('syntax = "proto3"; package parts; message Part { int32 n = 1; }')
            command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{folder}", f"--descriptor_set_out={folder}/made", "a.proto"]
            subprocess.run(command, check=True)
            (file,) = FileDescriptorSet.FromString((Path(folder) / "made").read_bytes()).file
            return base64.b64encode(file.SerializeToString()).decode()


@contextmanager
def registry(**how: Any) -> Iterator[Registry]:
    """A registry that answers until the end of the block."""
    running = Registry(**how)
    thread = threading.Thread(target=running.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield running
    finally:
        running.server.shutdown()
        running.server.server_close()
        thread.join()
