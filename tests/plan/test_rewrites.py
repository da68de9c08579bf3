"""Runs the fixtures of the plan's rules, ``rules/<rule>.sql``: the tree before a rule, and after it."""

from __future__ import annotations

import shutil
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sqlstream.plan.explain import tree
from sqlstream.plan.rules import EACH_NODE, WHOLE_PLAN, row_clock, state_ttl, whole_plan
from sqlstream.plan.rules.each_node import at_each_node
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.statements.split import split
from tests.support.expectations import as_marked, write
from tests.support.sessions import open_session

if TYPE_CHECKING:
    from sqlstream.session.session import Session

FOLDER = Path(__file__).with_name("rules")
RULES = (*EACH_NODE, *WHOLE_PLAN, row_clock, state_ttl)
NAMES = [*(rule.__name__ for rule in EACH_NODE), *whole_plan(ttl=1)]
# Where nothing is changed the tree stands once.
BEFORE, AFTER = "--:", "--="


def around(session: Session, name: str, sql: str) -> tuple[list[str], list[str]]:
    """The trees of a statement before and after the rule. Those that look at one node are applied together: after is with this one and those before."""
    settings = session.planner.environment().settings
    node = session.planner.planned(parse(sql), session.planner.environment()).logical
    for i, rule in enumerate(EACH_NODE):
        if rule.__name__ == name:
            return tuple(tree(at_each_node(node, EACH_NODE[:end])).splitlines() for end in (i, i + 1))  # type: ignore[return-value]
    node = at_each_node(node, EACH_NODE)
    for other, rule in whole_plan(settings.state_ttl).items():
        changed = rule(node)
        if other == name:
            return tree(node).splitlines(), tree(changed).splitlines()
        node = changed
    raise AssertionError(name)


@pytest.mark.parametrize("name", NAMES)
def test_rule(name: str, tmp_path: Path, update: bool) -> None:
    (tmp_path / "udfs").mkdir()
    shutil.copy(FOLDER / "words_and_folds.py", tmp_path / "udfs")
    session = open_session(tmp_path, (FOLDER / "tables.sql").read_text())
    path = FOLDER / f"{name}.sql"
    lines = path.read_text().splitlines()
    script = "\n".join("" if line.startswith((BEFORE, AFTER)) else line for line in lines)
    written: list[str] = []
    changes, left, end = 0, 0, 0
    for statement in split(script):
        begin = script.count("\n", 0, statement.start)
        told = lines[end:begin]
        end = begin + statement.text.count("\n") + 1
        written += [*(line for line in told if line.startswith("-- ")), *lines[begin:end]]
        if statement.text.startswith("SET"):
            list(session.run(statement.text))
            continue
        before, after = around(session, name, statement.text)
        changes += before != after
        left += before == after
        expected = [*(as_marked(BEFORE, before) if before != after else []), *as_marked(AFTER, after)]
        written += [*expected, ""]
        if not update:
            stands = list(takewhile(lambda line: line.startswith((BEFORE, AFTER)), lines[end:]))
            assert stands == expected, statement.text
    assert changes, "no statement of the fixture is rewritten"
    assert left, "the rule leaves no statement of the fixture alone"
    if update:
        write(path, written[:-1])


def test_each_rule_has_a_fixture() -> None:
    assert {path.stem for path in FOLDER.glob("*.sql")} == {*NAMES, "tables"}


def test_each_rule_is_a_file_that_draws_it() -> None:
    for rule in RULES:
        module = import_module(f"sqlstream.plan.rules.{rule.__name__}")
        assert getattr(module, rule.__name__) is rule
        assert "->" in module.__doc__, rule.__name__
