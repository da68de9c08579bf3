"""A real S3 API for tests: moto's, in a process of its own that ends with the one that started it, however that ends.

S3 answers requests at once, but decides about each object's name one after another: so does this one. Of two that create an object if there is none
(``If-None-Match: *``) one is refused; but for those in a bucket called ``heedless..``, which stands for a service that ignores the condition.
"""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING
from urllib.parse import quote

from sqlstream.cli.kafka.process import end_process
from sqlstream.core.environment import BROKER_HOST as HOST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

KEY, SECRET = "AKIATEST", "s3cret/key+of=tests"
# Whose request it is; the server does not verify it.
SIGNED = f"AWS4-HMAC-SHA256 Credential={KEY}/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"


class S3:
    """A server without buckets. ``settings`` are what Spark's session needs to know of it."""

    def __init__(self) -> None:
        self.port = 0
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            end_process(process.pid, lambda: process.poll() is not None)
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                pipe.close()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def settings(self) -> dict[str, str]:
        hadoop = {
            "endpoint": f"http://{HOST}:{self.port}", "endpoint.region": "us-east-1", "path.style.access": "true", "optimized.copy.from.local.enabled": "false",
            "access.key": KEY, "secret.key": SECRET,
        }  # fmt: skip
        return {f"spark.hadoop.fs.s3a.{k}": v for k, v in hadoop.items()}

    def known_to(self, spark: SparkSession) -> None:
        """Have a session that runs find this server, where it has hadoop-aws."""
        for key, value in self.settings.items():
            spark._jsc.hadoopConfiguration().set(key.removeprefix("spark.hadoop."), value)

    def bucket(self, name: str) -> str:
        """The URL of a bucket, which is made where there is none."""
        status, answer = self.request("PUT", f"/{name}")
        assert status == 200, answer
        return f"s3a://{name}"

    def request(self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] = {}) -> tuple[int, bytes]:
        """The status and the body of an answer."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=30)
        try:
            connection.request(method, quote(path, safe="/?=&"), body, {"Authorization": SIGNED, **headers})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


def _serve() -> None:
    from moto.moto_server.werkzeug_app import MotoRequestHandler, create_backend_app
    from werkzeug.serving import make_server

    app, one = create_backend_app("s3"), threading.Lock()

    def in_turn(environ, start_response):
        if f"Credential={KEY}/" not in environ.get("HTTP_AUTHORIZATION", ""):
            start_response("403 Forbidden", [])
            return []
        if environ["PATH_INFO"].startswith("/heedless"):
            environ.pop("HTTP_IF_NONE_MATCH", None)
        with one:
            return app(environ, start_response)

    server = make_server(HOST, 0, in_turn, threaded=True, request_handler=MotoRequestHandler)
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    print(server.port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    _serve()
