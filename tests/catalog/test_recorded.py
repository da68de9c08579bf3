"""Answers that real Flink gave, statement by statement, each file in one session; ours must be the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlstream.catalog.namespaces import CatalogManager
from tests.catalog.client import answer

RECORDED = sorted((Path(__file__).parent / "recorded").glob("*.txt"))


@pytest.mark.parametrize("file", RECORDED, ids=lambda f: f.stem)
def test_answers_are_flinks(file: Path) -> None:
    manager = CatalogManager()
    blocks = file.read_text().strip().split("\n\n>> ")
    differences = []
    for block in blocks:
        statement, expected = block.removeprefix(">> ").split("\n", 1)
        given = answer(manager, statement)
        if given.rstrip() != expected.rstrip():
            differences.append(f"{statement}\nexpected:\n{expected}\ngiven:\n{given}")
    assert not differences, "\n\n".join(differences)


def test_recordings_are_found() -> None:
    assert len(RECORDED) >= 7
