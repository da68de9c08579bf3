"""The benchmarks, which nothing else runs, name what there is."""

from __future__ import annotations

import importlib
import pkgutil
import re
import zipfile

import pytest

import benchmarks
from benchmarks.nexmark import settings

MODULES = [m.name for m in pkgutil.walk_packages(benchmarks.__path__, "benchmarks.")]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_of_the_benchmarks_is_imported(name: str) -> None:
    importlib.import_module(name)


@pytest.mark.spark
def test_hand_written_programs_have_the_classes_that_the_settings_name() -> None:
    conf = settings.configuration()
    inside = {name for jar in conf["spark.jars"].split(",") for name in zipfile.ZipFile(jar).namelist()}
    named = {name for value in conf.values() for name in re.findall(r"\bsqlstream(?:\.\w+)*\.[A-Z]\w+", value)}
    assert {"sqlstream.Extensions", "sqlstream.storage.CheckpointFiles"} <= named
    assert not {name for name in named if f"{name.replace('.', '/')}.class" not in inside}
