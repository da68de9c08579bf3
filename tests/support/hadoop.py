"""A JVM with Hadoop's servers for tests; it ends with the process that started it, however that ends."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

from sqlstream.cli.kafka.process import end_process
from sqlstream.core import jars
from sqlstream.core.java import require_java
from sqlstream.runtime.java import libraries

if TYPE_CHECKING:
    from collections.abc import Mapping

JVM = ("-Xms64m", "-Xmx512m", "-XX:+UseSerialGC", "-Djava.awt.headless=true")
# What of pyspark's jars a cluster needs: its own jar has the rest.
NEEDED = ("hadoop-client-", "slf4j-api-", "jcl-over-slf4j-", "log4j-", "snappy-java-")


class HadoopJvm:
    """A JVM that has the jars of a set of the lock. ``folder`` is its current folder, ``java`` what runs in it."""

    def __init__(self, jar_set: str) -> None:
        self._jar_set = jar_set
        self.folder = Path(tempfile.mkdtemp(prefix=f"sqlstream-{jar_set}-"))
        self._process: subprocess.Popen[bytes] | None = None
        self._gateway: JavaGateway | None = None
        self.java: Any = None

    def start(self, *options: str, environment: Mapping[str, str] = os.environ) -> None:
        """Start it with ``options`` of Java beside the usual ones."""
        class_path = [*jars.ensure(self._jar_set), *(jar for jar in libraries() if jar.name.startswith(NEEDED))]
        (py4j,) = (jar for jar in libraries() if jar.name.startswith("py4j-"))
        with mock.patch.dict(os.environ, environment, clear=True):
            port, self._process = launch_gateway(
                classpath=os.pathsep.join(map(str, class_path)), jarpath=str(py4j), java_path=str(require_java()), javaopts=[*JVM, *options],
                die_on_exit=True, return_proc=True, cwd=str(self.folder), redirect_stderr=subprocess.DEVNULL,
            )  # fmt: skip
        self._gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port))
        self.java = self._gateway.jvm

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            assert self._gateway is not None and process.stdin is not None and process.stdout is not None
            self._gateway.close()
            end_process(process.pid, lambda: process.poll() is not None)
            process.stdin.close()
            process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)
