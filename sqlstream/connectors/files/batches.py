"""Writing files exactly once: a batch is staged beside the table, then moved in by renames.

In: a frame, a folder, a name for the writer and the batch's number. Out: files ``part-..`` in the folder. Spark's own streaming file sink is
not used: its log hides files written by anyone else, and a second job on the folder would be skipped as done.

``.sqlstream/<writer>/`` in the table's folder holds the batch that is being moved, ``replaced-<number>``, the files that it takes the place of,
and ``done``, the number of the last one. After a crash the batch is moved on from where it stood, or staged again where it was not complete; one
that another takes the place of, which was not moved yet, is dropped.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlstream.connectors.files.folder import Folder
    from sqlstream.connectors.files.partition_commit import PartitionCommit

_DONE = "done"
_COMPLETE = "_SUCCESS"
_BATCH = "batch-{}"
_REPLACED = "replaced-{}"


def write_batch(
    folder: Folder, writer: str, number: int, stage: Callable[[str], None], *, replace: str | None = None, commit: PartitionCommit | None = None
) -> None:
    """Move batch ``number`` of ``writer`` into ``folder``, unless it is there already. ``stage`` writes its files into the path it gets.

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


def landed(folder: Folder, writer: str, number: int, *, commit: PartitionCommit | None = None) -> bool:
    """Whether batch ``number`` of ``writer`` is in ``folder``, or has begun to be: then it is moved on."""
    own = (".sqlstream", writer)
    done = folder.read(*own, _DONE)
    if done is not None and int(done) >= number:
        return True
    begun = folder.exists(*own, _REPLACED.format(number))
    if begun:
        _publish(folder, writer, number, commit)
    return begun


def _publish(folder: Folder, writer: str, number: int, commit: PartitionCommit | None) -> None:
    """Put the files of a staged batch in the place of those that it replaces."""
    own = (".sqlstream", writer)
    staged = (*own, _BATCH.format(number))
    for replaced in json.loads(folder.read(*own, _REPLACED.format(number)) or "[]"):
        folder.delete(*replaced)
    files = sorted(folder.files(*staged))
    if commit is not None:
        commit.written(folder, writer, {file[len(staged) : -1] for file in files})
    for file in files:
        into, name = file[len(staged) : -1], file[-1]
        # Its name depends on the file alone: where a move is a copy, a crash leaves both, and it is moved once more.
        folder.move(file, (*into, f"part-{writer}-{number}-{name.removeprefix('part-')}"))
    if commit is not None:
        commit.commit(folder, writer)
    folder.write(str(number), *own, _DONE)
    folder.delete(*staged)
    folder.delete(*own, _REPLACED.format(number))


def _replaced(folder: Folder, staged: tuple[str, ...], replace: str) -> list[tuple[str, ...]]:
    fresh = {file[len(staged) : -1] for file in folder.files(*staged)}
    where: list[tuple[str, ...]] = [()] if replace == "*" else [tuple(replace.split("/"))] if replace != "partitions" else sorted(fresh)
    return [file for below in where for file in folder.files(*below)]
