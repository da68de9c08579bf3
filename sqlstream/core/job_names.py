"""What jobs are called on a screen: short, and so that it finds them."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# A name that nobody has given begins so; behind it stand the paths of the tables.
_OF_TABLES = "insert-into_"
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def _on_one_line(name: str) -> str:
    """``name`` without what a terminal would obey, and a log would take for a line of its own."""
    return _CONTROL.sub(" ", name)


def short_name(name: str) -> str:
    """A job's name as it is shown, on one line, and may be written: the names of its tables where it is made of them."""
    tables = name.removeprefix(_OF_TABLES)
    return _on_one_line(name if tables == name else ",".join(_parts(path)[-1] for path in tables.split(",")))


def _parts(path: str) -> list[str]:
    """Catalog, database and table of a path, of which the table's name may have dots."""
    return path.split(".", 2)


def short_names(names: Sequence[str]) -> list[str]:
    """The names of several jobs as they are shown: the shortest of each that no other has, such as ``t`` or ``database.t``."""
    taken = Counter(end for name in dict.fromkeys(names) for end in _ends(name))
    return [next((end for end in _ends(name) if taken[end] == 1), name) for name in names]


def _ends(name: str) -> list[str]:
    """What a job may be called for short, the shortest first: of one table the ends of its path."""
    table = name.removeprefix(_OF_TABLES)
    if table == name or "," in table:
        return [short_name(name)]
    parts = _parts(_on_one_line(table))
    return [".".join(parts[i:]) for i in reversed(range(len(parts)))]
