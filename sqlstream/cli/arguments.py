"""Arguments of the command line: what is wrong with them is said with what was likely meant."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from sqlstream.core.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_UNKNOWN = re.compile(r"unrecognized arguments: (\S+)")
_NO_CHOICE = re.compile(r"invalid choice: '(.*?)' \(choose from (.*)\)")


class Parser(argparse.ArgumentParser):
    """Options are written in full: one that begins as another does is not taken for it. ``words``: those that may stand first."""

    def __init__(self, *, words: Sequence[str] = (), **more: Any) -> None:
        super().__init__(**more, allow_abbrev=False)
        self._words = words

    def error(self, message: str) -> NoReturn:
        """End the process with what is wrong, and the nearest of what is known."""
        super().error(f"{message}{said}" if (said := self._meant(message)) else message)

    def _meant(self, message: str) -> str | None:
        if unknown := _UNKNOWN.search(message):
            word, known = unknown[1].partition("=")[0], [*_options(self), *self._words]
        elif choice := _NO_CHOICE.search(message):
            word, known = choice[1], [c.strip(" '") for c in choice[2].split(",")]
        else:
            return None
        if word in known:
            return ". Another command takes it"
        # An option is not meant by a word, nor a word by an option.
        hint = did_you_mean(word, (k for k in known if k.startswith("-") == word.startswith("-")))
        return f". {hint}" if hint else None


def take_project_behind(command: argparse.ArgumentParser) -> None:
    """Let ``command`` take ``--project`` behind its name, too, where it comes before what stands in front of it."""
    command.add_argument("--project", metavar="DIR", type=Path, default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The options of ``parser`` and of its commands."""
    for action in actions(parser):
        yield from () if action.help == argparse.SUPPRESS else action.option_strings


def actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The arguments of ``parser`` and of its commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from actions(command)
