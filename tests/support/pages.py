"""What the pages of the documentation show: their blocks, and commands with what they print."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
TEXTS = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))}


@dataclass(frozen=True)
class Block:
    """A fenced block: the page that it is on, what it is written in, its text."""

    page: str
    language: str
    text: str

    @property
    def commands(self) -> list[tuple[str, list[str]]]:
        """Each command behind the prompt ``$``, with the lines that it prints."""
        found: list[tuple[str, list[str]]] = []
        for line in self.text.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif found:
                found[-1][1].append(line)
        return found


# Those of the reference are of the tables that it is made of, and are tried there.
BLOCKS = [
    Block(page, language, text)
    for page, content in TEXTS.items()
    if not page.startswith("docs/reference/")
    for language, text in re.findall(r"^```(\w*)\n(.*?)^```$", content, re.M | re.S)
]


def blocks(page: str, language: str) -> list[Block]:
    """The blocks of a page in one language, in their order."""
    return [block for block in BLOCKS if (block.page, block.language) == (page, language)]
