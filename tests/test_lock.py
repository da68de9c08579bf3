"""The lock of the development environment fits what the project asks for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCK = (ROOT / "requirements" / "dev.lock").read_text()
# A requirement with its hashes, on lines of their own.
ENTRIES = re.findall(r"(?m)^(\S.*?) \\\n((?: +--hash=.*\n)+)", LOCK)
LOCKED = [Requirement(text) for text, _ in ENTRIES]


def name(requirement: Requirement) -> str:
    return re.sub(r"[-_.]+", "-", requirement.name).lower()


def test_it_has_what_the_project_asks_for() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    asked = [*PROJECT["project"]["dependencies"], *extras["dev"], *extras["docs"], *PROJECT["build-system"]["requires"]]
    here = {name(one): next(iter(one.specifier)).version for one in LOCKED if one.marker is None or one.marker.evaluate()}
    for wanted in map(Requirement, asked):
        assert name(wanted) in here and wanted.specifier.contains(here[name(wanted)]), f"{wanted}: run .ci/lock"


def test_it_has_versions_and_hashes_alone() -> None:
    assert "".join(f"{text} \\\n{hashes}" for text, hashes in ENTRIES) == re.sub(r"(?m)^#.*\n", "", LOCK)
    assert all([one.operator for one in requirement.specifier] == ["=="] and requirement.url is None for requirement in LOCKED)
    assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}( \\)?", line.strip()) for _, hashes in ENTRIES for line in hashes.splitlines())
