"""Every node answers what is asked of it, and is recorded under names of its own: one that is forgotten would lose its state at an upgrade."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import pytest

from sqlstream.plan import identity, nodes
from sqlstream.plan.nodes import Field, Join, Node, OneByOne, Unary
from sqlstream.sql import expressions
from sqlstream.sql.expressions import Expr


def _below(kind: type) -> list[type]:
    return [each for sub in kind.__subclasses__() for each in (sub, *_below(sub))]


BASES = (Node, Unary, OneByOne)
NODES = [kind for kind in _below(Node) if kind not in BASES]
PARTS = sorted(identity._RECORDED, key=lambda kind: kind.__name__)
# What a node says for itself, or takes over from a join.
OWN = ("output", "explain", "reads", "keeps_state", "lineage")


def test_each_is_exported() -> None:
    assert {kind.__name__ for kind in NODES} == {
        name for name, kind in vars(nodes).items() if inspect.isclass(kind) and issubclass(kind, Node) and kind not in BASES
    }


@pytest.mark.parametrize("kind", NODES, ids=lambda kind: kind.__name__)
def test_it_says_what_it_is(kind: type[Node]) -> None:
    mine = [base for base in kind.__mro__ if base not in (Node, Unary)]
    for name in OWN:
        assert any(name in vars(base) for base in mine), name
    assert "recorded" in vars(kind)
    assert isinstance(kind.keeps_state, bool)
    assert not inspect.isabstract(kind)


@pytest.mark.parametrize("kind", [*NODES, *PARTS], ids=lambda kind: kind.__name__)
def test_each_of_its_fields_is_recorded(kind: type) -> None:
    name, *fields = identity.recorded(kind)
    compared = [f for f in dataclasses.fields(kind) if f.compare]
    assert (len(fields), len({*fields})) == (len(compared), len(compared))
    assert name and all(fields)


def test_no_two_are_recorded_alike() -> None:
    names = [identity.recorded(kind)[0] for kind in (*NODES, *PARTS)]
    assert len(names) == len({*names})


def test_all_expressions_are_recorded() -> None:
    assert {*_below(Expr)} <= {*PARTS}
    made = [kind for kind in vars(expressions).values() if inspect.isclass(kind) and dataclasses.is_dataclass(kind) and kind is not Expr]
    assert {*made} <= {*PARTS}


def test_all_parts_of_nodes_are_recorded() -> None:
    made = [kind for kind in vars(nodes).values() if inspect.isclass(kind) and dataclasses.is_dataclass(kind) and not issubclass(kind, Node)]
    # It is about rows, and is not a part of a node.
    assert {kind for kind in made if kind is not nodes.Windowing} <= {*PARTS}


@dataclasses.dataclass(frozen=True)
class Forgetful(Unary):
    """A node that does not say what it keeps, nor what it is called."""

    extra: str = "x"

    def output(self) -> tuple[Field, ...]:
        return ()

    def explain(self) -> tuple[str, ...]:
        return ("Forgetful",)

    def reads(self) -> set[str]:
        return set()


def test_what_is_forgotten_is_found() -> None:
    with pytest.raises(AssertionError, match="keeps_state"):
        test_it_says_what_it_is(Forgetful)
    with pytest.raises(AttributeError, match="recorded"):
        test_each_of_its_fields_is_recorded(Forgetful)

    class Half(Unary):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Half(input=None)  # type: ignore[abstract, arg-type]


def test_a_new_name_in_the_code_changes_no_record() -> None:
    renamed: Any = dataclasses.make_dataclass("Renamed", [("columns", tuple)], bases=(Unary,), frozen=True, namespace={
        "recorded": nodes.Project.recorded, **{name: getattr(nodes.Project, name) for name in ("keeps_state", "output", "explain", "reads", "lineage")}})  # fmt: skip
    values = nodes.Values((), ())
    assert identity.signature(renamed(values, ())) == identity.signature(nodes.Project(values, ()))
    assert issubclass(nodes.TemporalJoin, Join) and nodes.TemporalJoin.recorded[-1] == "key"


@pytest.mark.parametrize("kind", [kind for kind in NODES if "awaits_watermark" in vars(kind)], ids=lambda kind: kind.__name__)
def test_what_holds_rows_back_has_a_sentence(kind: type[Node]) -> None:
    """Of windows the end is told instead: see monitor/why."""
    assert bool(kind.waiting) != (kind in (nodes.WindowAggregate, nodes.WindowRank, nodes.CoGroup))
