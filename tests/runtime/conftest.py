"""What tests of jobs share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.memory import Memory, known

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    """Tables that are in this process: 'connector' = 'memory'."""
    with pytest.MonkeyPatch.context() as patch:
        yield known(patch)
