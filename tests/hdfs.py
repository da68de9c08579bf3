"""A real HDFS for tests: a name node and a data node in a JVM of their own, which ends with the process that started it, however that ends."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

from sqlstream.cli.kafka.process import end_process
from sqlstream.core import jars
from sqlstream.core.java import require_java
from sqlstream.runtime.java import libraries

JVM = ("-Xms64m", "-Xmx512m", "-XX:+UseSerialGC", "-Djava.awt.headless=true")
# What of pyspark's jars a cluster needs: its own jar has the rest.
NEEDED = ("hadoop-client-", "slf4j-api-", "jcl-over-slf4j-", "log4j-", "snappy-java-")


class Hdfs:
    """A cluster without files. ``url`` is its address."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="sqlstream-hdfs-"))
        self._process: subprocess.Popen[bytes] | None = None
        self._gateway: JavaGateway | None = None
        self._cluster: Any = None
        self.url = ""

    def start(self) -> None:
        class_path = [*jars.ensure("hdfs"), *(jar for jar in libraries() if jar.name.startswith(NEEDED))]
        (py4j,) = (jar for jar in libraries() if jar.name.startswith("py4j-"))
        port, self._process = launch_gateway(
            classpath=os.pathsep.join(map(str, class_path)), jarpath=str(py4j), java_path=str(require_java()), javaopts=list(JVM),
            die_on_exit=True, return_proc=True, cwd=str(self._folder), redirect_stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port))
        jvm = self._gateway.jvm
        conf = jvm.org.apache.hadoop.conf.Configuration()
        data = jvm.java.io.File(str(self._folder / "data"))
        self._cluster = getattr(jvm.org.apache.hadoop.hdfs, "MiniDFSCluster$Builder")(conf, data).numDataNodes(1).build()
        self.url = self._cluster.getURI().toString()

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
        shutil.rmtree(self._folder)
