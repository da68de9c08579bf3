"""Local files without a process each: permissions, links and renames are those of Hadoop's own file system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark


def test_files_have_the_permissions_that_are_asked_for(tmp_path: Path, engine) -> None:
    spark = engine.spark
    hadoop = spark._jvm.org.apache.hadoop
    conf = spark.sparkContext._jsc.hadoopConfiguration()
    path = hadoop.fs.Path(f"file:{tmp_path}/a b")
    files = path.getFileSystem(conf)
    assert files.getClass().getName() == "sqlstream.files.LocalFiles$Checked"
    files.create(path).close()
    for mode in (0o644, 0o640, 0o751, 0o777, 0o000, 0o1755):
        files.setPermission(path, hadoop.fs.permission.FsPermission(f"{mode:04o}"))
        assert (tmp_path / "a b").stat().st_mode & 0o7777 == mode


def test_links_and_renames(tmp_path: Path, engine) -> None:
    spark = engine.spark
    hadoop = spark._jvm.org.apache.hadoop
    context = hadoop.fs.FileContext.getFileContext(spark.sparkContext._jsc.hadoopConfiguration())
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "file")

    def path(name: str):
        return hadoop.fs.Path(f"file:{tmp_path}/{name}")

    assert [context.getFileLinkStatus(path(n)).getLen() for n in ("file", "link")] == [1, 1]
    overwrite = spark._jvm.java.lang.reflect.Array.newInstance(hadoop.fs.Options.Rename.OVERWRITE.getClass(), 1)
    overwrite[0] = hadoop.fs.Options.Rename.OVERWRITE
    context.rename(path("file"), path("other"), overwrite)
    assert sorted(p.name for p in tmp_path.iterdir() if not p.name.endswith(".crc")) == ["link", "other"]
