"""Files that are elsewhere, as Hadoop has them in Spark's JVM."""

from __future__ import annotations

import re
from typing import Any

from py4j.protocol import Py4JJavaError


class Remote:
    """The file system of a URL."""

    def __init__(self, spark, url: str) -> None:
        self._path = spark._jvm.org.apache.hadoop.fs.Path
        self._of = self._path(url).getFileSystem(spark._jsc.hadoopConfiguration())
        self._read = spark._jvm.org.apache.hadoop.io.IOUtils.readFullyToByteArray
        self._conditional = url.startswith("s3a:")

    def begin(self, url: str) -> Any:
        """A stream to a file that there is none of yet: for S3, when it is closed."""
        builder = self._of.createFile(self._path(url)).recursive()
        if self._conditional:
            return builder.must("fs.option.create.conditional.overwrite", True).build()
        return builder.overwrite(False).build()

    def create(self, url: str, text: str) -> bool:
        """Write a file; False if there is one."""
        try:
            stream = self.begin(url)
            try:
                stream.write(bytearray(text.encode()))
            finally:
                stream.close()
        except Py4JJavaError as error:
            assert re.search("FileAlreadyExists|AlreadyBeingCreated|RemoteFileChanged", str(error.java_exception)), error
            return False
        return True

    def put(self, url: str, text: str) -> None:
        """Write a file that nobody sees before it is whole."""
        folder, _, name = url.rpartition("/")
        assert self.create(f"{folder}/.{name}", text) and self._of.rename(self._path(f"{folder}/.{name}"), self._path(url))

    def read(self, url: str) -> str:
        stream = self._of.open(self._path(url))
        try:
            return bytes(self._read(stream)).decode()
        finally:
            stream.close()

    def names(self, url: str) -> list[str]:
        return sorted(s.getPath().getName() for s in self._of.listStatus(self._path(url)))
