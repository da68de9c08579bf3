"""The locks of what runs and of what is developed with fit what the project asks for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
# What each has beside the dependencies and what they are built with.
LOCKS = {"sqlstream": [], "dev": [*EXTRAS["dev"], *EXTRAS["docs"], *EXTRAS["server"], *EXTRAS["lineage"]]}


def text(lock: str) -> str:
    return (ROOT / "requirements" / f"{lock}.lock").read_text()


def entries(lock: str) -> list[tuple[str, str]]:
    """The requirements, each with its hashes, which have lines of their own."""
    return re.findall(r"(?m)^(\S.*?) \\\n((?: +--hash=.*\n)+)", text(lock))


def locked(lock: str) -> list[Requirement]:
    return [Requirement(requirement) for requirement, _ in entries(lock)]


def name(requirement: Requirement) -> str:
    return re.sub(r"[-_.]+", "-", requirement.name).lower()


@pytest.mark.parametrize("lock", LOCKS)
def test_it_has_what_the_project_asks_for(lock: str) -> None:
    asked = [*PROJECT["project"]["dependencies"], *LOCKS[lock], *PROJECT["build-system"]["requires"]]
    here = {name(one): next(iter(one.specifier)).version for one in locked(lock) if one.marker is None or one.marker.evaluate()}
    for wanted in map(Requirement, asked):
        if wanted.marker is None or wanted.marker.evaluate():
            assert name(wanted) in here and wanted.specifier.contains(here[name(wanted)]), f"{wanted}: run .ci/lock"


@pytest.mark.parametrize("lock", LOCKS)
def test_it_has_versions_and_hashes_alone(lock: str) -> None:
    assert "".join(f"{requirement} \\\n{hashes}" for requirement, hashes in entries(lock)) == re.sub(r"(?m)^#.*\n", "", text(lock))
    assert all([one.operator for one in requirement.specifier] == ["=="] and requirement.url is None for requirement in locked(lock))
    assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}( \\)?", line.strip()) for _, hashes in entries(lock) for line in hashes.splitlines())


def test_what_runs_is_what_is_developed_with() -> None:
    assert set(entries("sqlstream")) <= set(entries("dev"))
