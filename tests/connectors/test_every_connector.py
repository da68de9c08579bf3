"""What holds of every connector of sqlstream's, by its declaration alone: a new one is found here when something is missing of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sqlstream.connectors import CONNECTORS
from sqlstream.core.errors import ValidationError
from sqlstream.core.options import Option, OptionKind, Role, Support, parse_value, with_samples
from sqlstream.sql.tables import Table
from tests.support.sessions import open_session

if TYPE_CHECKING:
    from sqlstream.connectors.base import Connector

EVERY = pytest.mark.parametrize("connector", CONNECTORS.builtin, ids=lambda connector: connector.name)


def example(connector: Connector, folder: Path) -> Table:
    """The table of its example."""
    with_session = open_session(folder, connector.example)
    (table,) = with_session.context.catalog.objects()
    with_session.close()
    assert isinstance(table, Table) and table.connector == connector.name
    # A savepoint on this machine is looked into.
    elsewhere = {"state.path": "hdfs://host/savepoint"} if connector.name == "savepoint" else {}
    return replace(table, options=with_samples({**table.options, **elsewhere}, connector.options))


@EVERY
def test_its_example_has_no_mistake(connector: Connector, tmp_path: Path) -> None:
    assert connector.check(example(connector, tmp_path)) == []


@EVERY
def test_it_refuses_options_that_it_does_not_have(connector: Connector, tmp_path: Path) -> None:
    table = example(connector, tmp_path)
    with pytest.raises(ValidationError, match="Unsupported options") as refused:
        connector.check(replace(table, options={**table.options, "nonsense": "1"}))
    assert refused.value.option == "nonsense"


@EVERY
def test_it_refuses_values_of_another_kind(connector: Connector, tmp_path: Path) -> None:
    table = example(connector, tmp_path)
    for option in connector.options:
        if option.kind in (OptionKind.STRING, OptionKind.LIST, OptionKind.NAMES) or option.use is not Support.HONOURED or not option.key.isascii():
            continue
        key = option.key.replace("#", table.physical[0].name).replace("*", "x")
        with pytest.raises(ValidationError, match=key):
            connector.check(replace(table, options={**table.options, key: "~"}))


@EVERY
def test_rows_that_it_makes_are_told_by_its_options(connector: Connector) -> None:
    """Where another value makes other rows, the number of the last one says nothing of them."""
    if connector.generates:
        honoured = [option for option in connector.options if option.use is not Support.NOTICE]
        assert honoured and {option.role for option in honoured} <= {Role.PLACE, Role.TUNING}


@EVERY
def test_what_never_ends_says_what_bounds_it(connector: Connector, tmp_path: Path) -> None:
    assert not connector.is_source or connector.bounded(example(connector, tmp_path)) or connector.bounded_by


@EVERY
def test_it_is_tested(connector: Connector) -> None:
    texts = [path.read_text() for path in Path(__file__).parent.glob("test_*.py") if path != Path(__file__)]
    assert any(f'"connector": "{connector.name}"' in text or f"'connector' = '{connector.name}'" in text for text in texts)


@pytest.mark.parametrize(
    ("kind", "text"), [(OptionKind.LONG, "0"), (OptionKind.INT, "-3"), (OptionKind.DURATION, "0 s"), (OptionKind.MEMORY, "0 kb")]
)
def test_a_number_has_a_least_value(kind: OptionKind, text: str) -> None:
    option = Option("o", kind, least=1)
    assert parse_value(option, "1") == 1
    with pytest.raises(ValueError, match=f"'{text}' is less than 1"):
        parse_value(option, text)
