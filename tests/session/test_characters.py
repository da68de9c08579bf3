"""Texts that hold what is no character."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.core.characters import HALF
from sqlstream.core.errors import SyntaxProblem
from tests.support.sessions import open_session, run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "statement", ["SELECT '\ud800'", "SHOW CREATE TABLE `\udfff`", "SET 'a\ud800' = 'x'", "CREATE TABLE `t\ud800` (a INT)", "\ud800", "-- \udcff"]
)
def test_half_a_character_is_refused_at_its_place(tmp_path: Path, statement: str) -> None:
    half = HALF.search(statement)
    with pytest.raises(SyntaxProblem, match="half of a surrogate pair") as refused:
        run(open_session(tmp_path), f"SHOW TABLES; {statement}")
    assert half is not None and str(refused.value.location) == f"line 1:{14 + half.start()}"
    told = "\n".join([refused.value.message, *refused.value.details])
    assert "\N{REPLACEMENT CHARACTER}" in told and told.encode()


def test_whole_characters_are_not(tmp_path: Path) -> None:
    run(open_session(tmp_path), "SHOW TABLES; -- \U0001f600 \ufffd")
