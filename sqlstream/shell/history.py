"""What was typed before: whole statements in a file of the project's, for its owner only; passwords are not written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.history import FileHistory, InMemoryHistory

from sqlstream.core import private

if TYPE_CHECKING:
    from pathlib import Path

    from prompt_toolkit.history import History

    from sqlstream.shell.screen import Screen


class StatementHistory(FileHistory):
    """The file has the values of secret options struck out; the shell that they were typed into still knows them."""

    def store_string(self, string: str) -> None:
        # Not before it is needed: the prompt waits for what is imported.
        from sqlstream.sql.masking import masked_text

        super().store_string(masked_text(string))


def open_history(path: Path | None, screen: Screen) -> History:
    """The history in the file ``path``, which is created; one in memory where that is impossible."""
    try:
        if path:
            private.folder(path.parent)
            path.touch(mode=0o600)
            return StatementHistory(path)
    except OSError as error:
        screen.notices([f"The history of this shell will not be saved: {error}"])
    return InMemoryHistory()
