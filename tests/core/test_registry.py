"""Connectors, formats and types of catalogs of other packages: found by their entry points, told of where they can't be used."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from sqlstream.catalog.types import CATALOGS, InMemory, find_type
from sqlstream.connectors import CONNECTORS, declared_options, find_connector
from sqlstream.connectors.base import Connector
from sqlstream.connectors.blackhole import Blackhole
from sqlstream.core.errors import NotSupported, SetupError, ValidationError
from sqlstream.formats import FORMATS, find_format
from sqlstream.formats.raw import Raw
from sqlstream.session.help import text
from tests.support import plugins
from tests.support.sessions import open_session, run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Pulsar(Blackhole):
    name = "pulsar"
    summary = "Topics of Pulsar."


class Nameless(Connector):
    is_sink = True

    def check(self, table):
        return []


class Unfinished(Connector):
    name = summary = example = "unfinished"


class AvroGlue(Raw):
    name = "avro-glue"


class Hive(InMemory):
    name = "hive"


def explodes() -> None:
    raise AssertionError("only classes are called")


PULSAR = Pulsar()


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., None]:
    """Installs packages, given by their names, whose entry points lead to this module as ``theirs``."""
    monkeypatch.setitem(sys.modules, "theirs", sys.modules[__name__])
    return lambda **packages: plugins.install(monkeypatch, tmp_path_factory.mktemp("site"), packages)


def test_a_plug_in_is_a_class_or_a_value_and_may_have_a_name_that_is_refused_else(installed) -> None:
    with pytest.raises(NotSupported):
        find_format("avro-glue")
    with pytest.raises(NotSupported):
        find_type("hive")
    installed(plugin=(("connectors", "pulsar", "theirs:PULSAR"), ("formats", "avro-glue", "theirs:AvroGlue"), ("catalogs", "hive", "theirs:Hive")))
    assert find_connector("pulsar") is PULSAR
    assert isinstance(find_format("avro-glue"), AvroGlue) and find_format("avro-glue") is find_format("avro-glue")
    assert isinstance(find_type("hive"), Hive)


def test_a_plug_in_is_wherever_connectors_are(installed, tmp_path: Path) -> None:
    installed(plugin=(("connectors", "pulsar", "theirs:Pulsar"), ("formats", "avro-glue", "theirs:AvroGlue")))
    assert text("CONNECTOR pulsar").startswith("Connector 'pulsar'") and text("FORMAT avro-glue").startswith("Format 'avro-glue'")
    assert all(name in text("") for name in ("pulsar", "avro-glue"))
    with pytest.raises(ValidationError) as none:
        find_connector("pulsr")
    assert ", print, pulsar, " in none.value.message and none.value.hint == "Did you mean 'pulsar'?"
    assert [row.name for row in CONNECTORS] == CONNECTORS.names()
    session = open_session(tmp_path, "CREATE TABLE t (a INT) WITH ('connector' = 'pulsar');")
    (explained,) = run(session, "EXPLAIN INSERT INTO t VALUES (1);")
    assert "Sink(" in explained.rows[0][0]


@pytest.mark.parametrize(
    ("group", "name", "value", "why"),
    [
        ("connectors", "x", "nowhere.at.all:X", "'nowhere.at.all:X' can't be loaded: ModuleNotFoundError: No module named 'nowhere'"),
        ("connectors", "x", "theirs:Missing", "'theirs:Missing' can't be loaded: AttributeError"),
        ("connectors", "unfinished", "theirs:Unfinished", "can't be loaded: TypeError: Can't instantiate abstract class Unfinished"),
        ("connectors", "nameless", "theirs:Nameless", "it has no name."),
        ("connectors", "x", "theirs:Pulsar", "it calls itself 'pulsar'."),
        ("connectors", "x", "theirs:AvroGlue", "'theirs:AvroGlue' is no Connector."),
        ("formats", "x", "theirs:explodes", "'theirs:explodes' is no Format."),
        ("connectors", "kafka", "theirs:Pulsar", "sqlstream has a connector of this name itself."),
        ("formats", "json", "theirs:AvroGlue", "sqlstream has a format of this name itself."),
        ("catalogs", "x", "theirs:AvroGlue", "'theirs:AvroGlue' is no CatalogType."),
        ("catalogs", "paimon", "theirs:Hive", "it calls itself 'hive'."),
    ],
)
def test_a_plug_in_that_cannot_be_used_is_told_where_it_is_used_and_nowhere_else(installed, group: str, name: str, value: str, why: str) -> None:
    installed(plugin=((group, name, value),))
    find, kind, known = {
        "connectors": (find_connector, "connector", CONNECTORS),
        "formats": (lambda name, at: find_format(name, at=at), "format", FORMATS),
        "catalogs": (find_type, "catalog", CATALOGS),
    }[group]
    for _ in range(2):
        with pytest.raises(SetupError) as told:
            find(name, 5)
        assert told.value.message.startswith(f"The {kind} '{name}' of package 'plugin' can't be used: ") and why in told.value.message
        assert told.value.offset == 5 and told.value.hint
    assert find_connector("print").name == "print" and find_format("csv").name == "csv"
    with pytest.raises(SetupError, match="plugin"):
        text(f"{kind} {name}")
    assert name in text("")
    assert name not in [row.name for row in known]
    declared_options({"connector": name, "format": name})


def test_of_two_packages_with_one_name_none_is_taken(installed) -> None:
    installed(first=(("connectors", "pulsar", "theirs:Pulsar"),), other=(("connectors", "pulsar", "theirs:PULSAR"),))
    with pytest.raises(SetupError, match=r"'pulsar' of package 'first' can't be used: package 'other' has a connector of this name, too\."):
        find_connector("pulsar")


def test_a_script_that_does_not_use_a_broken_plug_in_runs_without_it(installed, tmp_path: Path) -> None:
    installed(plugin=(("connectors", "x", "nowhere:X"),))
    session = open_session(tmp_path, "CREATE TABLE broken (a INT) WITH ('connector' = 'x'); CREATE TABLE t (a INT) WITH ('connector' = 'print');")
    run(session, "EXPLAIN INSERT INTO t VALUES (1);")
    with pytest.raises(SetupError, match="package 'plugin'") as told:
        run(session, "EXPLAIN INSERT INTO broken VALUES (1);")
    assert told.value.location is not None


def test_nothing_of_a_package_is_imported_before_its_name_is_used(tmp_path: Path) -> None:
    plugins.write(tmp_path, "plugin", (("connectors", "x", "theirs:X"),))
    (tmp_path / "theirs.py").write_text("raise OSError('no library')\n")
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from sqlstream.connectors import CONNECTORS, find_connector\n"
        "print(find_connector('kafka').name, 'x' in CONNECTORS.names(), 'theirs' in sys.modules)\n"
        "from sqlstream.core.errors import SetupError\n"
        "try:\n    find_connector('x')\nexcept SetupError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    why = "The connector 'x' of package 'plugin' can't be used: 'theirs:X' can't be loaded: OSError: no library."
    assert done.stdout.splitlines() == ["kafka True False", why]
