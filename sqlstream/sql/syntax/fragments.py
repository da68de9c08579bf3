"""Text that is still being typed to fragments: what the lexer would make of it, but nothing is wrong yet.

What has no end (a string, a name in back-ticks, a comment) reaches to the end of the text. Light: the prompt colours with it.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple


class Kind(Enum):
    """What a fragment is; keywords are words."""

    COMMENT = "comment"
    STRING = "string"
    QUOTED = "quoted"
    NUMBER = "number"
    WORD = "word"
    SIGN = "sign"


class Fragment(NamedTuple):
    """A piece of text and where it stands."""

    kind: Kind
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def upper(self) -> str:
        """A word in upper case, a sign as it is; of all else nothing."""
        return self.text.upper() if self.kind in (Kind.WORD, Kind.SIGN) else ""

    @property
    def name(self) -> str:
        """What a word or a name in back-ticks names."""
        return self.text.strip("`").replace("``", "`") if self.kind is Kind.QUOTED else self.text

    @property
    def value(self) -> str:
        """What a string says."""
        return self.text[1:].removesuffix("'").replace("''", "'")


_FRAGMENT = re.compile(
    r"""
      (?P<comment> --[^\n]* | (?<!:)(?<!:/)//[^\n]* | /\*(?!\+).*?(?:\*/|\Z) )
    | (?P<string> (?:[eE]'(?:[^'\\]|\\.|'')*|(?:[uU]&|[xX]|_[uU][tT][fF][-\w]*)?'(?:[^']|'')*)(?:'|\Z) )
    | (?P<quoted> `(?:[^`]|``)*(?:`|\Z) )
    | (?P<number> [0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)? | \.[0-9]+(?:[eE][+-]?[0-9]+)? )
    | (?P<word> (?:[^\W\d]|\$)[\w$]* )
    | (?P<sign> /\*\+ | \*/ | <> | != | <= | >= | => | \|\| | \S )
    """,
    re.S | re.X,
)


def fragments(text: str) -> list[Fragment]:
    """The fragments of ``text``, comments included, white space left out."""
    return [Fragment(Kind(m.lastgroup), m[0], m.start()) for m in _FRAGMENT.finditer(text)]


def is_open(fragment: Fragment) -> bool:
    """Whether a string, a name or a comment has no end yet."""
    match fragment.kind:
        case Kind.STRING:
            return fragment.text.count("'") % 2 == 1
        case Kind.QUOTED:
            return fragment.text.count("`") % 2 == 1
        case Kind.COMMENT:
            return fragment.text.startswith("/*") and not (len(fragment.text) >= 4 and fragment.text.endswith("*/"))
    return False
