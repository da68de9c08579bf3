"""What the README and the documentation show is what a user gets."""

from __future__ import annotations

import importlib.util
import io
import re
import time
from typing import TYPE_CHECKING

import pytest

from sqlstream import connectors, formats
from sqlstream.core import errors, settings
from sqlstream.lint.registry import RULES
from sqlstream.session import backslash
from sqlstream.session.help.query_forms import QUERY_FORMS
from sqlstream.session.keymap import KEYS
from sqlstream.shell.screen import Screen
from sqlstream.shell.views import show
from sqlstream.sql import functions
from sqlstream.sql.functions import absent
from sqlstream.sql.statements.table import LISTED, SHORT_FORMS
from tests.support.pages import ROOT, TEXTS, blocks
from tests.support.sessions import open_session

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

README = TEXTS["README.md"]


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    """The module that makes the pages of the reference."""
    spec = importlib.util.spec_from_file_location("reference_of_docs", ROOT / "docs" / "reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.spark
def test_script_and_its_output(tmp_path: Path, engine) -> None:
    (script,) = blocks("README.md", "sql")
    (tmp_path / "bids").mkdir()
    records = re.findall(r"^    echo '(.*)' > (\S+)$", README, re.M)
    assert len(records) == 2
    for record, file in records:
        (tmp_path / file).write_text(f"{record}\n")
    out = io.StringIO()
    session = open_session(tmp_path, engine=engine)
    for outcome in session.run(script.text):
        show(outcome, Screen(out=out, err=io.StringIO()), session.options, time.monotonic(), lambda: False)
    shown = re.search(r"prints:\n\n```\n(.*?)```", README, re.S)[1]
    assert out.getvalue().startswith(shown)


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150


def test_every_folder_and_file_that_pages_name_is_there() -> None:
    named = re.compile(
        r"(?:^| |`)((?:sqlstream|sql|plan|runtime|shell|catalog|queries|udfs|benchmarks|tests|docs)/[\w/]*[\w/](?:\.py|\.sql|\.md|\.java|\.zip|\.toml)?)",
        re.M,
    )
    # Examples of files that users write.
    users = {"udfs/splitting.py", "udfs/spreads.py", "queries/per_minute.sql", "catalog/per_minute.sql"}
    found = {name for text in TEXTS.values() for name in named.findall(text)} - users
    assert len(found) > 20
    for name in sorted(found):
        assert (ROOT / name).exists() or (ROOT / "sqlstream" / name).exists(), name


def test_links_between_files_lead_somewhere(reference: ModuleType) -> None:
    """Those of docs/ its build checks; README, CONTRIBUTING and CHANGELOG are read in the repository as well."""
    at_the_top = [text for page, text in TEXTS.items() if "/" not in page]
    links = [link for text in at_the_top for link in re.findall(r"\]\(([^)#]+)(#[^)]*)?\)", text) if "://" not in link[0]]
    assert len(links) > 10
    for file, anchor in links:
        assert (ROOT / file).is_file(), file
        assert not anchor or anchor[1:] in headings(ROOT / file), file + anchor


def headings(page: Path) -> set[str]:
    """What links name the headings of a page by."""
    found = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in found}


def test_the_reference_tells_every_row_of_the_tables(reference: ModuleType) -> None:
    pages = reference.pages()
    code = reference.code
    rows = {
        "statements": [form.shown for form in LISTED],
        "query-forms": [t.syntax for t in QUERY_FORMS],
        "functions": [*(f.signature for f in functions.FUNCTIONS), *(a.name for a in absent.ROWS)],
        "connectors": [*(o.key for c in connectors.CONNECTORS.builtin for o in c.options), *connectors.REFUSED],
        "formats": [*(f"{f.name}.{o.key}" for f in formats.FORMATS.builtin for o in f.options), *formats.REFUSED],
        "settings": [o.key for o in settings.SETTINGS],
        "shell": [backslash.sql(short, form) for short, form in SHORT_FORMS.values()],
        "errors": [kind.code for kind in errors.SqlStreamError.__subclasses__()],
    }
    for name, texts in rows.items():
        missing = [text for text in texts if code(text) not in pages[f"reference/{name}.md"]]
        assert texts and not missing, (name, missing)
    assert all(f"## {rule.code}\n" in pages["reference/lint-rules.md"] for rule in RULES)
    assert all(reference.prose(key.does) in pages["reference/shell.md"] for key in KEYS)
    # No cell breaks its row: all rows of a table have as many bars.
    for page in pages.values():
        for block in re.findall(r"(?:^\|.*\n)+", page, re.M):
            assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1, block


def test_the_reference_is_in_the_repository_as_the_code_has_it(reference: ModuleType, update: bool) -> None:
    made = {name: text for name, text in reference.pages().items() if name.startswith("reference/")}
    folder = ROOT / "docs"
    if update:
        (folder / "reference").mkdir(exist_ok=True)
        for name, text in made.items():
            (folder / name).write_text(text, "utf-8")
    assert {f"reference/{page.name}": page.read_text("utf-8") for page in (folder / "reference").iterdir()} == made


def test_the_guide_to_the_client_has_the_table_of_commands(reference: ModuleType, update: bool) -> None:
    """It is read in the repository as well, so that code stands in back quotes where no bar is in it."""
    made = reference.commands(lambda text: reference.code(text) if "|" in text else f"`{text.strip()}`")
    page = ROOT / "docs" / "client.md"
    text = page.read_text("utf-8")
    (shown,) = re.findall(r"^\| Command \|.*\n(?:\|.*\n)+", text, re.M)
    if update:
        page.write_text(text.replace(shown, f"{made}\n"), "utf-8")
    else:
        assert shown == f"{made}\n"


def test_keys_of_the_text_are_keys(reference: ModuleType) -> None:
    """Options that pages name in back quotes and SET statements are those of the tables."""
    named = {
        key
        for text in TEXTS.values()
        for key in re.findall(r"(?:`|SET ')((?:table|execution|udf|sql-client|pipeline|python)\.[\w.-]*\w)(?:`|')", text)
    }
    assert len(named) > 8
    declared = {option.key for option in settings.SETTINGS}
    # A slip that is shown, a group, a program.
    assert named - {"table.exec.state.tll", "table.exec.async-scalar", "sql-client.sh"} <= declared
