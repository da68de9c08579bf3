"""A real OpenSearch for tests: a node of the server's own classes (jars.lock), whose data lives as long as the run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from sqlstream.cli.kafka.process import end_process, free_port
from sqlstream.core import jars
from sqlstream.core.environment import BROKER_HOST as HOST
from sqlstream.core.java import require_java
from sqlstream.runtime.java import compile_into, libraries

_SOURCE = Path(__file__).with_name("SearchServer.java")
_JVM = ("-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true")
_SECONDS = 60


class OpenSearch:
    """A cluster of one node."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="sqlstream-opensearch-"))
        self._class_path = [*jars.ensure("opensearch"), *(jar for jar in libraries() if jar.name.startswith("log4j-core-"))]
        (compiler,) = jars.ensure("compiler")
        self._class_path.append(compile_into(self._folder / "classes", compiler, self._class_path, [_SOURCE]))
        self.port, self._transport = free_port(), free_port()
        self.log = self._folder / "server.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def start(self) -> None:
        command = [str(require_java()), *_JVM, "-cp", os.pathsep.join(map(str, self._class_path)), "sqlstream.tests.SearchServer"]
        command += [str(self._folder / "home"), HOST, str(self.port), str(self._transport)]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log)
        end = time.monotonic() + _SECONDS
        while True:
            try:
                self.ask("/_cluster/health?wait_for_status=yellow&timeout=30s")
                break
            except OSError as error:
                if time.monotonic() > end or self._process.poll() is not None:
                    raise RuntimeError(self.log.read_text(errors="replace")[-3000:]) from error
                time.sleep(0.1)

    def stop(self) -> None:
        """Kill the server; ``start`` goes on with its data."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            end_process(process.pid, lambda: process.poll() is not None)
            assert process.stdin is not None
            process.stdin.close()

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self._folder)

    def ask(self, path: str, body: Any = None, method: str | None = None) -> Any:
        """The answer to a request, of JSON. Raises OSError."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def documents(self, index: str) -> dict[str, Any]:
        """The documents of the indexes that a pattern names, by their ids."""
        self.ask(f"/{index}/_refresh", method="POST")
        found = self.ask(f"/{index}/_search?size=10000")["hits"]["hits"]
        return {hit["_id"]: hit["_source"] for hit in found}

    def written(self, index: str) -> list[dict[str, Any]]:
        """The documents that can be read by now: of an index that is being made there are none."""
        try:
            return list(self.documents(index).values())
        except OSError:
            return []

    def indexes(self) -> list[str]:
        return sorted(self.ask("/_all"))
