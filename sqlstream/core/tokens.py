"""Tokens, by which a server knows its clients, and the files that they stand in."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlstream.core import private
from sqlstream.core.errors import SetupError

if TYPE_CHECKING:
    from pathlib import Path

_READ_ONLY = "read-only"
# What stands in a header as it is, and is not guessed: none of it is ever shown.
_TOKEN = re.compile(r"[!-~]{16,}")


@dataclass(frozen=True)
class Tokens:
    """Those with which requests are allowed: all of them, or only such as change nothing."""

    all: tuple[bytes, ...] = ()
    read_only: tuple[bytes, ...] = ()

    @classmethod
    def read(cls, file: Path) -> Tokens:
        """The tokens of a file: one in a line, behind ``read-only`` where it is for looking alone. Raises SetupError."""
        try:
            if private.others_may_read(file):
                raise SetupError(f"Others may read the file of tokens, {file}.", hint=f"chmod 600 {file}")
            text = file.read_text("utf-8")
        except OSError as error:
            raise SetupError(f"The file of tokens, {file}, can't be read: {error.strerror}.") from error
        except UnicodeDecodeError as error:
            raise SetupError(f"The file of tokens, {file}, can't be read: it is not UTF-8.") from error
        found: dict[bool, list[bytes]] = {False: [], True: []}
        for number, line in enumerate(text.splitlines(), 1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            looks = words[0] == _READ_ONLY
            token = words[looks:]
            if len(token) != 1 or not _TOKEN.fullmatch(token[0]):
                what = "a token of 16 characters or more, without spaces, of ASCII's"
                raise SetupError(f"Line {number} of {file} is not {what}.", hint="`openssl rand -hex 32` prints one.")
            found[looks].append(token[0].encode())
        if not any(found.values()):
            raise SetupError(f"There is no token in {file}.", hint="One in a line, as `openssl rand -hex 32` prints it.")
        return cls(tuple(found[False]), tuple(found[True]))

    def with_one(self, token: str) -> Tokens:
        """These, and one more that allows all."""
        return replace(self, all=(*self.all, token.encode()))

    def of_client(self) -> str:
        """The one that a client sends which has this file: the first that allows all, if there is one."""
        return (self.all or self.read_only)[0].decode()
