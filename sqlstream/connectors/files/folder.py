"""A table's folder, wherever Hadoop's file systems have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Folder:
    """A folder of Hadoop's file system: local, s3a and what else is configured."""

    spark: SparkSession
    path: str

    def _path(self, *parts: str) -> Any:
        jvm = self.spark._jvm
        assert jvm is not None
        return jvm.org.apache.hadoop.fs.Path("/".join([self.path.rstrip("/"), *parts]))

    @property
    def java(self) -> Any:
        """The packages ``java`` of the JVM."""
        assert self.spark._jvm is not None
        return self.spark._jvm.java

    @property
    def _system(self) -> Any:
        return self._path().getFileSystem(self.spark._jsc.hadoopConfiguration())

    def exists(self, *parts: str) -> bool:
        return bool(self._system.exists(self._path(*parts)))

    def delete(self, *parts: str) -> None:
        self._system.delete(self._path(*parts), True)

    def read(self, *parts: str) -> str | None:
        """The first line of a small file; None where there is none."""
        if not self.exists(*parts):
            return None
        assert self.spark._jvm is not None
        stream = self._system.open(self._path(*parts))
        try:
            return str(self.spark._jvm.java.io.BufferedReader(self.spark._jvm.java.io.InputStreamReader(stream)).readLine() or "")
        finally:
            stream.close()

    def write(self, text: str, *parts: str) -> None:
        """Write a small file, whole or not at all, also in the place of one."""
        assert self.spark._jvm is not None
        streaming = self.spark._jvm.org.apache.spark.sql.execution.streaming.checkpointing
        self._system.mkdirs(self._path(*parts[:-1]))
        stream = streaming.CheckpointFileManager.create(self._path(), self.spark._jsc.hadoopConfiguration()).createAtomic(self._path(*parts), True)
        try:
            stream.write(bytearray(text.encode()))
        except BaseException:
            stream.cancel()
            raise
        stream.close()

    def files(self, *parts: str) -> Iterator[tuple[str, ...]]:
        """The data files below, as the steps from here; hidden ones are left out."""
        if not self.exists(*parts):
            return
        for status in self._system.listStatus(self._path(*parts)):
            name = str(status.getPath().getName())
            if name.startswith(("_", ".")):
                continue
            if status.isDirectory():
                yield from self.files(*parts, name)
            else:
                yield (*parts, name)

    def move(self, source: tuple[str, ...], target: tuple[str, ...]) -> None:
        """Rename a file, creating the target folder; one that is there is what an object store has copied before it could delete the source."""
        system = self._system
        system.mkdirs(self._path(*target[:-1]))
        if system.exists(self._path(*target)):
            system.delete(self._path(*source), False)
        elif not system.rename(self._path(*source), self._path(*target)):
            raise OSError(f"can't move {'/'.join(source)} to {'/'.join(target)} in {self.path}")
