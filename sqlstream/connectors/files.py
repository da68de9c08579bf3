"""Writing files exactly once: a batch is staged beside the table, then moved in by renames.

In: a frame, a folder, a name for the writer and the batch's number. Out: files ``part-..`` in the folder. Spark's own streaming file sink is
not used: its log makes files that anyone else writes invisible, and a second job on the folder would be skipped as done.

``.sqlstream/<writer>/`` in the table's folder holds the batch that is being moved and ``done``, the number of the last one; after a crash the
batch is moved on from where it stood, or staged again where it was not complete.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

_DONE = "done"
_COMPLETE = "_SUCCESS"


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
        """Write a small file, whole or not at all."""
        fresh = (*parts[:-1], f".{parts[-1]}.new")
        stream = self._system.create(self._path(*fresh), True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
        self.delete(*parts)
        self._system.rename(self._path(*fresh), self._path(*parts))

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
    folder: Folder, writer: str, number: int, stage: Callable[[str], None], *, replace: str | None = None, success: str | None = None
) -> None:
    """Put batch ``number`` of ``writer`` into ``folder``, unless it is there already. ``stage`` writes its files into the path it gets.

    ``replace``: what the batch replaces: ``*`` all files, ``partitions`` those of every partition that the batch has, or else those below that
    subfolder. ``success``: the name of an empty file to leave in every partition written to.
    """
    own = (".sqlstream", writer)
    done = folder.read(*own, _DONE)
    if done is not None and int(done) >= number:
        return
    staged = (*own, f"batch-{number}")
    if not folder.exists(*staged, _COMPLETE):
        folder.delete(*staged)
        stage("/".join([folder.path.rstrip("/"), *staged]))
        if replace is not None:
            _remove(folder, staged, replace)
    partitions = set()
    for index, file in enumerate(sorted(folder.files(*staged))):
        into, name = file[len(staged) : -1], file[-1]
        partitions.add(into)
        folder.move(file, (*into, f"part-{writer}-{number}-{index}-{name.removeprefix('part-')}"))
    for partition in partitions if success else ():
        folder.write("", *partition, str(success))
    folder.write(str(number), *own, _DONE)
    folder.delete(*staged)


def _remove(folder: Folder, staged: tuple[str, ...], replace: str) -> None:
    fresh = {file[len(staged) : -1] for file in folder.files(*staged)}
    where: list[tuple[str, ...]] = [()] if replace == "*" else [tuple(replace.split("/"))] if replace != "partitions" else sorted(fresh)
    for below in where:
        for file in list(folder.files(*below)):
            folder.delete(*file)
