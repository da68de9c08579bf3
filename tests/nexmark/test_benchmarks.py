"""The benchmarks, which nothing else runs, name what there is."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import benchmarks

MODULES = [m.name for m in pkgutil.walk_packages(benchmarks.__path__, "benchmarks.")]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_of_the_benchmarks_is_imported(name: str) -> None:
    importlib.import_module(name)
