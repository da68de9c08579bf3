"""Writing files exactly once: a batch is staged beside the table, then moved in by renames.

In: a frame, a folder, a name for the writer and the batch's number. Out: files ``part-..`` in the folder. Spark's own streaming file sink is
not used: its log makes files that anyone else writes invisible, and a second job on the folder would be skipped as done.

``.sqlstream/<writer>/`` in the table's folder holds the batch that is being moved, ``replaced-<number>``, the files that it takes the place of,
and ``done``, the number of the last one. After a crash the batch is moved on from where it stood, or staged again where it was not complete; one
that another takes the place of, which was not moved yet, is dropped.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

    from sqlstream.connectors.files.partition_commit import PartitionCommit

_DONE = "done"
_COMPLETE = "_SUCCESS"
_BATCH = "batch-{}"
_REPLACED = "replaced-{}"


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
        """Rename a file, making the folder it goes to."""
        system = self._system
        system.mkdirs(self._path(*target[:-1]))
        if not system.rename(self._path(*source), self._path(*target)):
            raise OSError(f"can't move {'/'.join(source)} to {'/'.join(target)} in {self.path}")


def write_batch(
    folder: Folder, writer: str, number: int, stage: Callable[[str], None], *, replace: str | None = None, commit: PartitionCommit | None = None
) -> None:
    """Put batch ``number`` of ``writer`` into ``folder``, unless it is there already. ``stage`` writes its files into the path it gets.

    ``replace``: what the batch replaces: ``*`` all files, ``partitions`` those of every partition that the batch has, or else those below that
    subfolder. ``commit``: how partitions written to are committed.
    """
    own = (".sqlstream", writer)
    done = folder.read(*own, _DONE)
    if done is not None and int(done) >= number:
        return
    for begun in range(number) if done is None else range(int(done) + 1, number):
        if folder.exists(*own, _REPLACED.format(begun)):
            _publish(folder, writer, begun, commit)
        else:
            folder.delete(*own, _BATCH.format(begun))
    staged = (*own, _BATCH.format(number))
    if not folder.exists(*staged, _COMPLETE):
        folder.delete(*staged)
        stage("/".join([folder.path.rstrip("/"), *staged]))
    if not folder.exists(*own, _REPLACED.format(number)):
        # From here on the batch takes their place, whatever happens.
        folder.write(json.dumps([] if replace is None else _replaced(folder, staged, replace)), *own, _REPLACED.format(number))
    _publish(folder, writer, number, commit)


def _publish(folder: Folder, writer: str, number: int, commit: PartitionCommit | None) -> None:
    """Put the files of a staged batch in the place of those that it replaces."""
    own = (".sqlstream", writer)
    staged = (*own, _BATCH.format(number))
    for replaced in json.loads(folder.read(*own, _REPLACED.format(number)) or "[]"):
        folder.delete(*replaced)
    files = sorted(folder.files(*staged))
    if commit is not None:
        commit.written(folder, writer, {file[len(staged) : -1] for file in files})
    for index, file in enumerate(files):
        into, name = file[len(staged) : -1], file[-1]
        folder.move(file, (*into, f"part-{writer}-{number}-{index}-{name.removeprefix('part-')}"))
    if commit is not None:
        commit.commit(folder, writer)
    folder.write(str(number), *own, _DONE)
    folder.delete(*staged)
    folder.delete(*own, _REPLACED.format(number))


def _replaced(folder: Folder, staged: tuple[str, ...], replace: str) -> list[tuple[str, ...]]:
    fresh = {file[len(staged) : -1] for file in folder.files(*staged)}
    where: list[tuple[str, ...]] = [()] if replace == "*" else [tuple(replace.split("/"))] if replace != "partitions" else sorted(fresh)
    return [file for below in where for file in folder.files(*below)]
