"""Each node of the table of statements has a handler in the session, each kind of SHOW an answer; no other module has a list of statements."""

from __future__ import annotations

import ast as python
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sqlstream
from sqlstream.session.statements import _SUBJECTS as SUBJECTS
from sqlstream.session.statements import HANDLERS
from sqlstream.sql.statements.pattern import Choice, Slot
from sqlstream.sql.statements.table import BY_FIRST_WORD, FORMS, LISTED
from sqlstream.sql.syntax import ast
from tests.support.sessions import open_session

if TYPE_CHECKING:
    from sqlstream.session.session import Session


@pytest.mark.parametrize("node", dict.fromkeys(form.node for form in FORMS), ids=lambda node: node.__name__)
def test_every_statement_has_a_handler(node: type) -> None:
    assert node in HANDLERS


def test_every_handler_has_a_statement() -> None:
    assert set(HANDLERS) - {ast.Unsupported} == {form.node for form in FORMS}


def test_a_statement_is_of_one_subject() -> None:
    assert len(HANDLERS) == sum(len(subject.HANDLERS) for subject in SUBJECTS)


def test_a_node_needs_one_thing() -> None:
    needs: dict[type, set] = {}
    for form in FORMS:
        needs.setdefault(form.node, set()).add(form.needs)
    assert all(len(found) == 1 for found in needs.values())


KINDS = [(kind, [p for p in form.parts.parts if isinstance(p, Slot)]) for form in LISTED if form.node is ast.Show
         for part in form.parts.parts if isinstance(part, Choice) and part.argument == "kind" for kind in part.phrases]  # fmt: skip
DECLARED = """CREATE CATALOG c WITH ('type' = 'generic_in_memory');
CREATE TABLE t (a INT) PARTITIONED BY (a) WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'csv');
CREATE VIEW v AS SELECT a FROM t;"""


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    one = open_session(tmp_path_factory.mktemp("project"), DECLARED)
    yield one
    one.close()


@pytest.mark.parametrize(("kind", "slots"), KINDS, ids=[kind for kind, _ in KINDS])
def test_every_show_has_an_answer(session: Session, kind: str, slots: list[Slot]) -> None:
    named = {"table": "t", "view": "v", "relation": "t", "catalog": "c"}
    between = "FROM " if kind == "COLUMNS" else ""
    (outcome,) = session.run(f"SHOW {kind} {between}{' '.join(named[slot.kind] for slot in slots)}")
    assert outcome.columns


# What carries statements out, by their nodes: where a new one has to be carried out it is missed by the tests above.
DISPATCH = {"catalog/apply.py: APPLIED", "catalog/project.py: ORDER"}
SUBJECT = "session/statements/"
MODULES = [
    p for p in sorted(Path(sqlstream.__file__).parent.rglob("*.py")) if "sql/syntax" not in p.as_posix() and "sql/statements" not in p.as_posix()
]


def lists_of_statements(module: Path) -> list[str]:
    """The tuples, lists, sets and dictionaries of at least three first words, or nodes, of statements and nothing else."""
    nodes = {name for name, kind in vars(ast).items() if isinstance(kind, type) and issubclass(kind, ast.Statement)}

    def is_statement(item: python.expr | None) -> bool:
        if isinstance(item, python.Attribute):
            return isinstance(item.value, python.Name) and item.value.id == "ast" and item.attr in nodes
        return isinstance(item, python.Constant) and isinstance(item.value, str) and item.value in BY_FIRST_WORD

    found = []
    tree = python.parse(module.read_text("utf-8"))
    for node in python.walk(tree):
        items = node.keys if isinstance(node, python.Dict) else node.elts if isinstance(node, python.Tuple | python.List | python.Set) else []
        if sum(map(is_statement, items)) >= 3 and all(item is None or is_statement(item) or isinstance(node, python.Dict) for item in items):
            names = [t.id for a in python.walk(tree) if isinstance(a, python.Assign | python.AnnAssign) and a.value is node
                     for t in (a.targets if isinstance(a, python.Assign) else [a.target]) if isinstance(t, python.Name)]  # fmt: skip
            found.append(f"{module.relative_to(Path(sqlstream.__file__).parent).as_posix()}: {' '.join(names) or node.lineno}")
    return found


def test_no_other_module_has_a_list_of_statements() -> None:
    found = {one for module in MODULES for one in lists_of_statements(module)}
    assert {one for one in found if not (one.startswith(SUBJECT) and one.endswith(": HANDLERS"))} == DISPATCH
