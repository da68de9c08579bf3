"""Each node of the table of statements has a handler in the session."""

from __future__ import annotations

import pytest

from sqlstream.session.session import HANDLERS
from sqlstream.sql.syntax import ast
from sqlstream.sql.syntax.statement_table import FORMS


@pytest.mark.parametrize("node", dict.fromkeys(form.node for form in FORMS), ids=lambda node: node.__name__)
def test_every_statement_has_a_handler(node: type) -> None:
    assert node in HANDLERS


def test_every_handler_has_a_statement() -> None:
    assert set(HANDLERS) - {ast.Unsupported} == {form.node for form in FORMS}


def test_a_node_needs_one_thing() -> None:
    needs: dict[type, set] = {}
    for form in FORMS:
        needs.setdefault(form.node, set()).add(form.needs)
    assert all(len(found) == 1 for found in needs.values())
