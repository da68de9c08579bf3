"""The build of the documentation fails where a link or the navigation is wrong."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.pages import ROOT

if TYPE_CHECKING:
    from pathlib import Path

DOCS = ROOT / "docs"

REFERENCE = """
from pathlib import Path

ROOT = Path(__file__).parent.parent

def pages():
    return {"reference/made.md": "# Made\\n\\nSee [home](../index.md#first).\\n"}
"""
CONFIG = """
[project]
site_name = "Small"
nav = [{ "Home" = "index.md" }, { "More" = [{ "Made" = "reference/made.md" }] }]
"""
HOME = "# Home\n\n## First\n\nSee [made](reference/made.md#made), [first](#first), [elsewhere](https://example.org/).\n"


def build(folder: Path, home: str = HOME, config: str = CONFIG) -> subprocess.CompletedProcess[str]:
    """Builds a site of two pages, one of them generated, as the documentation is built."""
    docs = folder / "docs"
    docs.mkdir()
    for name in ("build.py", "links.py"):
        shutil.copy(DOCS / name, docs)
    for name, text in {"reference.py": REFERENCE, "zensical.toml": config, "index.md": home}.items():
        (docs / name).write_text(text, "utf-8")
    return subprocess.run([sys.executable, docs / "build.py"], capture_output=True, text=True)


def test_pages_and_what_is_generated_are_a_site(tmp_path: Path) -> None:
    built = build(tmp_path)
    assert built.returncode == 0, built.stderr
    site = tmp_path / "build" / "docs" / "site"
    assert 'id="first"' in (site / "index.html").read_text("utf-8")
    assert 'id="made"' in (site / "reference" / "made" / "index.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("link", "message"),
    [("[a page](missing.md)", "page does not exist"), ("[an anchor](reference/made.md#missing)", "anchor does not exist")],
)
def test_a_link_that_leads_nowhere_fails(link: str, message: str, tmp_path: Path) -> None:
    built = build(tmp_path, home=f"{HOME}\n{link}\n")
    assert built.returncode == 1
    assert message in built.stderr


def test_links_that_zensical_lets_pass_fail(tmp_path: Path) -> None:
    built = build(tmp_path, home=f"{HOME}\n![image](missing.png) [folder](missing/) [from the root](/reference/made/)\n")
    assert built.returncode == 1
    links = ("missing.png", "missing/", "/reference/made/")
    assert built.stderr.splitlines()[-3:] == [f"index.html links to {link}, which does not exist." for link in links]


@pytest.mark.parametrize(
    ("before", "after", "messages"),
    [
        ('"index.md"', '"missing.md"', ["The navigation lists missing.md, which does not exist.", "The navigation does not list index.md."]),
        (', { "More" = [{ "Made" = "reference/made.md" }] }', "", ["The navigation does not list reference/made.md."]),
    ],
)
def test_navigation_has_the_pages_that_exist(before: str, after: str, messages: list[str], tmp_path: Path) -> None:
    assert before in CONFIG
    built = build(tmp_path, config=CONFIG.replace(before, after))
    assert built.returncode == 1
    assert built.stderr.splitlines() == messages
