"""Builds the documentation in build/docs: ``python docs/build.py``. A link that leads nowhere, or a page outside of the navigation, fails.

zensical runs no code of a project. So this writes the pages that are made beside a copy of the others, and zensical builds that folder.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib

import links
import reference

DOCS = reference.ROOT / "docs"
FOLDER = reference.ROOT / "build" / "docs"


def main() -> str | int:
    """The exit code, or what is wrong."""
    if FOLDER.exists():
        shutil.rmtree(FOLDER)
    shutil.copytree(DOCS, FOLDER / "docs", ignore=shutil.ignore_patterns("*.py", "__pycache__", "zensical.toml"))
    for name, text in reference.pages().items():
        path = FOLDER / "docs" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    shutil.copy(DOCS / "zensical.toml", FOLDER)
    navigation = tomllib.loads((DOCS / "zensical.toml").read_text("utf-8"))["project"]["nav"]
    if wrong := links.unlisted(navigation, FOLDER / "docs"):
        return "\n".join(wrong)
    if code := subprocess.run([sys.executable, "-m", "zensical", "build", "--strict"], cwd=FOLDER).returncode:
        return code
    return "\n".join(links.broken(FOLDER / "site")) or 0


sys.exit(main())
