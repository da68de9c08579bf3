"""A real HDFS for tests: a name node and a data node in a JVM of their own."""

from __future__ import annotations

from typing import Any

from tests.support.hadoop import HadoopJvm


class Hdfs:
    """A cluster without files. ``url`` is its address."""

    def __init__(self) -> None:
        self._jvm = HadoopJvm("hdfs")
        self._cluster: Any = None
        self.url = ""

    def start(self) -> None:
        self._jvm.start()
        java = self._jvm.java
        conf = java.org.apache.hadoop.conf.Configuration()
        data = java.java.io.File(str(self._jvm.folder / "data"))
        self._cluster = getattr(java.org.apache.hadoop.hdfs, "MiniDFSCluster$Builder")(conf, data).numDataNodes(1).build()
        self.url = self._cluster.getURI().toString()

    @property
    def pid(self) -> int:
        return self._jvm.pid

    def stop(self) -> None:
        self._jvm.stop()
