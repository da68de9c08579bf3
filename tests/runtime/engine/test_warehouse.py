"""Where Spark makes its warehouse."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from sqlstream.core.project_folder import ProjectFolder


@pytest.mark.spark
def test_the_warehouse_is_in_the_project(engine, spark_home: Path) -> None:
    place = engine.spark.catalog.getDatabase("default").locationUri
    assert Path(urlsplit(place).path) == ProjectFolder(spark_home).warehouse
