"""A REST catalog of Iceberg's in this process, which asks for a token: what its specification says of namespaces and tables, over pyiceberg's models."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

from pydantic import TypeAdapter
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.metadata import TableMetadata, new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.table.update import TableRequirement, TableUpdate, update_table_metadata

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "let-me-in"
Namespace = tuple[str, ...]
_UPDATES, _REQUIREMENTS = TypeAdapter(list[TableUpdate]), TypeAdapter(list[TableRequirement])


class Refused(Exception):
    """``code`` of HTTP, and the exception that Iceberg names."""

    def __init__(self, code: int, kind: str) -> None:
        super().__init__(kind)
        self.code, self.kind = code, kind


class RestCatalog:
    """One, in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.namespaces: set[Namespace] = set()
        self.tables: dict[tuple[Namespace, str], TableMetadata] = {}
        self.lock = threading.Lock()
        catalog = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answered(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                code, found = 200, None
                try:
                    if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                        raise Refused(401, "NotAuthorizedException")
                    with catalog.lock:
                        parts = [unquote(part) for part in urlparse(self.path).path.removeprefix("/v1/").split("/")]
                        found = catalog.answer(self.command, parts, json.loads(body) if body else {})
                except Refused as refused:
                    code = refused.code
                    found = {"error": {"message": str(refused), "type": refused.kind, "code": code}}
                text = b"" if found is None or self.command == "HEAD" else (found if isinstance(found, str) else json.dumps(found)).encode()
                self.send_response(204 if code == 200 and found is None else code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_DELETE = do_HEAD = answered

            def log_message(self, *_: object) -> None:
                """Nothing is printed."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def answer(self, method: str, parts: list[str], body: dict[str, Any]) -> Any:
        match method, parts:
            case _, ["config"]:
                return {"defaults": {}, "overrides": {}}
            case "GET", ["namespaces"]:
                return {"namespaces": sorted(self.namespaces)}
            case "POST", ["namespaces"]:
                self.namespaces.add(tuple(body["namespace"]))
                return {"namespace": body["namespace"], "properties": {}}
            case "POST", ["tables", "rename"]:
                source, to = ((tuple(body[end]["namespace"]), body[end]["name"]) for end in ("source", "destination"))
                self.tables[to] = self.tables.pop(source)
                return None
        namespace = tuple(parts[1].split("\x1f"))
        if namespace not in self.namespaces:
            raise Refused(404, "NoSuchNamespaceException")
        match method, parts[2:]:
            case "GET" | "HEAD", []:
                return {"namespace": namespace, "properties": {}}
            case "DELETE", []:
                self.namespaces.remove(namespace)
                return None
            case "GET", ["tables"]:
                return {"identifiers": [{"namespace": space, "name": name} for space, name in self.tables if space == namespace]}
            case "POST", ["tables"]:
                return self.create(namespace, body)
        key = (namespace, parts[3])
        if key not in self.tables:
            raise Refused(404, "NoSuchTableException")
        match method:
            case "DELETE":
                del self.tables[key]
                return None
            case "POST":
                self.commit(key, body)
        return self.shown(key)

    def create(self, namespace: Namespace, body: dict[str, Any]) -> str:
        key = (namespace, body["name"])
        if key in self.tables:
            raise Refused(409, "AlreadyExistsException")
        spec = PartitionSpec.model_validate(body.get("partition-spec") or {"spec-id": 0, "fields": []})
        location = body.get("location") or str(self.folder.joinpath(*namespace, body["name"]))
        self.tables[key] = new_table_metadata(
            Schema.model_validate(body["schema"]), spec, UNSORTED_SORT_ORDER, location, dict(body.get("properties") or {})
        )
        return self.shown(key)

    def commit(self, key: tuple[Namespace, str], body: dict[str, Any]) -> None:
        for requirement in _REQUIREMENTS.validate_python(body["requirements"]):
            try:
                requirement.validate(self.tables[key])
            except Exception as changed:
                raise Refused(409, "CommitFailedException") from changed
        self.tables[key] = update_table_metadata(self.tables[key], tuple(_UPDATES.validate_python(body["updates"])))

    def shown(self, key: tuple[Namespace, str]) -> str:
        metadata = self.tables[key]
        return f'{{"metadata-location": "{metadata.location}/metadata/{metadata.last_updated_ms}.metadata.json", "metadata": {metadata.model_dump_json()}}}'
