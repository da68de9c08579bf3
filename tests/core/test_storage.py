"""Places of this machine and of Hadoop's file systems do the same."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sqlstream.core import storage
from sqlstream.core.storage import Hadoop, HadoopPath, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlstream.core.storage import Place
    from sqlstream.runtime.engine.session import Engine

pytestmark = pytest.mark.spark


@pytest.fixture(params=["path", "hdfs", "s3"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """An empty folder, whose name needs care."""
    name = "a {b} [c] *%20ü"
    if request.param == "path":
        return storage.make(tmp_path / name)
    hadoop = Hadoop(lambda: request.getfixturevalue("engine"))
    return storage.make(HadoopPath(f"{request.getfixturevalue(f'{request.param}_folder')}/{name}", hadoop))


def names(found: object) -> list[str]:
    return sorted(p.name for p in found)  # type: ignore[attr-defined]


def test_files_and_folders(root: Place) -> None:
    file = root / "1" / "ä b.json"
    assert not file.exists() and not (root / "1").is_dir()
    with pytest.raises(FileNotFoundError):
        file.read_text()
    for text in ("ü\n" * 1000, ""):
        storage.write(file, text)
        assert file.read_text() == text and file.exists() and not file.is_dir() and (root / "1").is_dir()
    assert storage.empty(file) and not storage.empty(root) and not storage.empty(root / "none")
    assert abs(storage.modified(file) - time.time()) < 60 and storage.modified(root / "none") == 0
    file.unlink()
    file.unlink(missing_ok=True)
    with pytest.raises(FileNotFoundError):
        file.unlink()


def test_a_file_is_whole_while_it_is_replaced(root: Place) -> None:
    file = root / "beat"
    storage.write(file, "0")
    end = time.monotonic() + 2

    def write() -> None:
        beat = 0
        while time.monotonic() < end:
            beat += 1
            storage.write(file, f"{beat} " * 100)

    with ThreadPoolExecutor(1) as pool:
        written = pool.submit(write)
        while not written.done():
            assert len(set(file.read_text().split())) == 1
        written.result()


def test_what_is_below(root: Place) -> None:
    for name in ("1/commits/0", "1/commits/1", "1/commits/_x", "2/commits/7", "3"):
        storage.write(root / name, "12")
    assert names((root / "1" / "commits").iterdir()) == ["0", "1", "_x"]
    assert names(root.glob("*/commits/[0-9]*")) == ["0", "1", "7"]
    assert names(root.glob("[0-9]")) == ["1", "2", "3"]
    assert list(root.glob("4/*")) == list((root / "none").glob("*")) == []
    (found,) = root.glob("2/commits/*")
    assert found == root / "2" / "commits" / "7" and found.parent.parent == root / "2" and found.read_text() == "12"
    assert storage.size(root) >= 10 and storage.size(root / "none") == 0


def test_copied_and_deleted(root: Place, tmp_path: Path) -> None:
    storage.write(root / "a" / "b" / "c", "1")
    storage.copy(root / "a", root / "d")
    storage.copy(root / "a", tmp_path / "from")
    storage.copy(tmp_path / "from", root / "back")
    storage.delete(root / "a")
    storage.delete(root / "a")
    assert names(root.glob("*/b/c")) == ["c", "c"] and (tmp_path / "from" / "b" / "c").read_text() == (root / "back" / "b" / "c").read_text() == "1"
    storage.delete(root / "d" / "b" / "c")
    assert not (root / "d" / "b" / "c").exists()


def test_which_place_is_meant(tmp_path: Path) -> None:
    hadoop = Hadoop(lambda: pytest.fail())

    def of(text: str) -> str:
        return str(storage.place(text, tmp_path, hadoop))

    assert [of(t) for t in ("a b", "./x", "/abs", "file:/a%20b", "file:///a b", "FILE://localhost/c")] == [
        f"{tmp_path}/a b", f"{tmp_path}/x", "/abs", "/a b", "/a b", "/c",
    ]  # fmt: skip
    assert of("hdfs://host:8020/a%20b/") == "hdfs://host:8020/a%20b" and of("s3a://bucket/x") == "s3a://bucket/x"
    assert storage.uri(Path("/a b")) == "file:///a b"


@pytest.mark.parametrize(("url", "why"), [("hdfs://localhost:1/x", "Connection refused|refused"), ("gopher://x/y", "No FileSystem for scheme")])
def test_a_file_system_that_is_not_there(url: str, why: str, engine: Engine) -> None:
    place = HadoopPath(url, Hadoop(lambda: engine))
    attempts: list[Callable[[], object]] = [place.exists, lambda: list(place.glob("*")), lambda: storage.write(place, "")]
    for attempt in attempts:
        with pytest.raises(StorageError, match=f"'{url}' can't be reached: .*{why}"):
            attempt()
