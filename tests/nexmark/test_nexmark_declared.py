"""The nexmark source as it is declared: its entry point, DDL shape, options, the moment at which time starts. No JVM."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from benchmarks.nexmark.connector import SCHEMA, EventSettings, Nexmark, _start, stages
from sqlstream.connectors import CONNECTORS, find_connector
from sqlstream.connectors.base import Read
from sqlstream.core.errors import ValidationError
from sqlstream.core.options import Support
from sqlstream.sql.tables import MetadataColumn, ObjectPath, PhysicalColumn, Table
from sqlstream.sql.types import BIGINT, INT
from tests.support import plugins
from tests.support.pages import ROOT
from tests.support.sessions import open_session, run

if TYPE_CHECKING:
    from pathlib import Path

# What the published DDL says, with its variables replaced.
PUBLISHED = {
    "connector": "nexmark",
    "first-event.rate": "10000",
    "next-event.rate": "10000",
    "events.num": "1000",
    "person.proportion": "1",
    "auction.proportion": "3",
    "bid.proportion": "46",
}


def table(columns=SCHEMA, **options: str) -> Table:
    written = {k.replace("_", "-"): v for k, v in options.items()}
    physical = tuple(PhysicalColumn(name, type_) for name, type_ in columns)
    return Table(ObjectPath("c", "d", "datagen"), physical, PUBLISHED | written)


def with_options(options: dict[str, str]) -> Table:
    return replace(table(), options=PUBLISHED | options)


def test_the_package_of_the_benchmarks_adds_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    project = tomllib.loads((ROOT / "benchmarks" / "pyproject.toml").read_text())["project"]
    ((name, value),) = project["entry-points"]["sqlstream.connectors"].items()
    plugins.install(monkeypatch, tmp_path, {project["name"]: (("connectors", name, value),)})
    assert isinstance(find_connector("nexmark"), Nexmark) and "nexmark" not in [c.name for c in CONNECTORS.builtin]
    (told,) = run(open_session(tmp_path), f"{Nexmark.example} DESCRIBE events;")[1:]
    assert [row[0] for row in told.rows] == ["event_type", "bid"]


def test_options_are_explained_and_all_say_which_events_there_are() -> None:
    for option in Nexmark.options:
        assert option.summary, option.key
        edited = with_options({option.key: "5"})
        assert (Nexmark().places(edited) != Nexmark().places(table())) == (option.use is Support.HONOURED), option.key


def test_published_options_are_accepted() -> None:
    assert Nexmark().check(table()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"events.number": "1"}, "Unsupported options"),
        ({"rate.shape": "ROUND"}, "Invalid value"),
        ({"person.proportion": "-1"}, "proportions"),
        ({"person.proportion": "0", "auction.proportion": "0", "bid.proportion": "0"}, "proportions"),
        ({"next-event.rate": "0"}, "must be at least 1"),
        ({"rate.period": "1 s"}, "rate.period"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Nexmark().check(with_options(options))


@pytest.mark.parametrize("columns", [SCHEMA[:3], (*SCHEMA[:3], ("bid", BIGINT)), (*SCHEMA, ("more", INT))])
def test_another_schema_is_refused_with_the_right_one(columns) -> None:
    with pytest.raises(ValidationError, match="fixed") as refused:
        Nexmark().check(table(columns))
    assert "event_type INT" in (refused.value.hint or "")


def test_metadata_is_refused() -> None:
    has = replace(table(), columns=(*table().columns, MetadataColumn("o", BIGINT, "offset")))
    with pytest.raises(ValidationError, match="metadata"):
        Nexmark().check(has)


@pytest.mark.parametrize(
    ("options", "bounded"),
    [
        ({}, True),
        ({"events.num": "0"}, False),
        ({"keep-alive": "true"}, False),
        ({"events.num": "0", "stop-at": "10"}, True),
    ],
)
def test_bounded(options: dict[str, str], bounded: bool) -> None:
    assert Nexmark().bounded(with_options(options)) is bounded
    assert Nexmark().static(with_options(options)) is bounded


def test_options_without_effect_are_told() -> None:
    assert len(Nexmark().check(with_options({"rate.limited": "true"}))) == 1
    assert len(Nexmark().check(with_options({"max-emit-speed": "false"}))) == 1
    assert Nexmark().check(with_options({"max-emit-speed": "false", "events.num": "0"})) == []


def test_shape_reads_every_option() -> None:
    given = {
        "first-event.rate": "1", "next-event.rate": "2", "rate.shape": "SINE", "rate.period": "60 s",
        "person.proportion": "3", "auction.proportion": "4", "bid.proportion": "5",
        "person.avg-size": "7b", "auction.avg-size": "8b", "bid.avg-size": "9b",
        "bid.hot-ratio.auctions": "10", "bid.hot-ratio.bidders": "11", "auction.hot-ratio.sellers": "12",
    }  # fmt: skip
    assert EventSettings.of(given) == EventSettings(1, 2, 3, 4, 5, True, 60_000, 7, 8, 9, 10, 11, 12)


def test_expressions_are_the_same_every_time() -> None:
    assert stages(EventSettings(), 5) == stages(EventSettings(), 5)


def test_time_starts_once_a_job(tmp_path: Path) -> None:
    request = Read(None, table(), True, False, "src", "UTC", tmp_path, tmp_path / "state")  # type: ignore[arg-type]
    first = _start(request)
    _start(request)
    (kept,) = (tmp_path / "state").iterdir()
    kept.write_text("1234")
    assert first > 1_600_000_000_000
    assert _start(request) == 1234
    assert _start(replace(request, shared=None)) > 1234
