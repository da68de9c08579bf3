"""What a savepoint's folder says of its state, without Spark: which operators there are, and what of each is a column."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

from sqlstream.core import storage
from sqlstream.core.errors import ValidationError, did_you_mean
from sqlstream.sql.quoting import quote
from sqlstream.sql.syntax.cursor import Cursor
from sqlstream.sql.syntax.tokens import tokenize
from sqlstream.sql.syntax.type_syntax import parse_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlstream.core.storage import Place
    from sqlstream.sql.types import Type

FILE = "savepoint.json"
_PRINTED = "SHOW SAVEPOINTS lists the paths of savepoints, and DESCRIBE SAVEPOINT what is in one."


@dataclass(frozen=True)
class StateColumn:
    """A column of an operator's state. ``key``: it is of the key; ``sql``: what it is of the values that Java reads."""

    name: str
    type: Type
    key: bool
    sql: str


@dataclass(frozen=True)
class StateOperator:
    """An operator that keeps state. ``uid`` names it in its savepoint, ``hash`` is the stable id of its node, empty where that has none.

    ``checkpoint``: the folder of its query's. ``reader`` tells Java what to read; empty where what it keeps is no table. ``text`` is its node's line
    in EXPLAIN, or what Spark calls it.
    """

    uid: str
    hash: str
    number: int
    checkpoint: Place
    kind: str
    text: str
    columns: tuple[StateColumn, ...] = ()
    reader: Mapping[str, Any] = field(default_factory=dict)

    @property
    def state(self) -> Place:
        """The folder of its state."""
        return self.checkpoint / "state" / str(self.number)

    def declaration(self, path: str, name: str = "state") -> str:
        """A CREATE TABLE of its state in the savepoint in ``path``."""
        columns = ",\n".join(f"  {quote(c.name)} {c.type.full}" for c in self.columns)
        options = f"'connector' = 'savepoint', 'state.path' = '{_escaped(path)}', 'operator.uid' = '{_escaped(self.uid)}'"
        return f"CREATE TABLE {name} (\n{columns}\n) WITH ({options});"


def folder_of(path: str) -> Path | None:
    """The folder of this machine that ``path`` names, a path from the root or a ``file:`` URI; None where it is a URI of another file system.

    Raises ValidationError for any other.
    """
    if storage.scheme(path) is not None:
        return None
    location = urlparse(path)
    folder = Path(unquote(location.path) if location.scheme == "file" else path)
    if location.scheme not in ("", "file") or not folder.is_absolute():
        raise ValidationError(f"'{path}' is no path from the root, nor a URI, of a savepoint.", hint=_PRINTED)
    return folder


def operators(folder: Place) -> tuple[StateOperator, ...]:
    """The operators of the savepoint in ``folder``, by sinks and numbers. Raises ValidationError where there is none, or it can't be read."""
    if not (folder / FILE).exists():
        raise ValidationError(f"There is no savepoint in '{folder}': it has no {FILE}.", hint=_PRINTED)
    try:
        sinks = json.loads((folder / "version.json").read_text())["record"]["sinks"]
        texts = {node["id"]: node["text"] for sink in sinks for node in sink["nodes"]}
        found = []
        records: list[Place] = list((folder / "operators").glob("*.json"))
        for record in sorted(records, key=lambda p: _place(p.stem)):
            for kept in json.loads(record.read_text())["operators"]:
                found.append(_operator(kept, folder / "checkpoint" / record.stem, texts))
        return tuple(found)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValidationError(f"The savepoint in '{folder}' can't be read: {error!r}.", hint="Put it back from a copy.") from error


def written(folder: Place) -> Mapping[str, str]:
    """The SHA-256 that each file of the savepoint in ``folder`` had, by its path. Raises ValidationError where that can't be read."""
    try:
        return dict(json.loads((folder / FILE).read_text())["files"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValidationError(f"The savepoint in '{folder}' can't be read: {error!r}.", hint="Put it back from a copy.") from error


def _place(stem: str) -> tuple[int, str]:
    number = re.match(r"\d+", stem)
    return int(number[0]) if number else 0, stem


def _operator(kept: Mapping[str, Any], checkpoint: Place, texts: Mapping[str, str]) -> StateOperator:
    table = kept.get("table") or {"columns": [], "reader": {}}
    columns = tuple(StateColumn(c["name"], _type(c["type"]), c["key"], c["sql"]) for c in table["columns"])
    node = kept["node"] or ""
    number = int(kept["operator"])
    return StateOperator(
        f"{checkpoint.name}/{number}", node, number, checkpoint, kept["kind"], texts.get(node) or kept["kind"], columns, table["reader"]
    )


def _type(text: str) -> Type:
    return parse_type(Cursor(text, tokenize(text)))


def find(folder: Place, *, uid: str | None = None, node_hash: str | None = None) -> StateOperator:
    """The operator of the savepoint in ``folder`` with this ``uid``, or whose node has this ``node_hash``. Raises ValidationError."""
    known = operators(folder)
    matching = [o for o in known if (o.uid == uid if uid is not None else o.hash == node_hash)]
    if len(matching) == 1:
        return matching[0]
    asked = uid if uid is not None else node_hash
    if matching:
        uids = ", ".join(f"'{o.uid}'" for o in matching)
        raise ValidationError(f"Several operators of the savepoint have the hash '{node_hash}'.", hint=f"Set 'operator.uid' to one of {uids}.")
    names = [o.uid if uid is not None else o.hash for o in known]
    listed = "; ".join(f"'{name}': {o.text}" for name, o in zip(names, known, strict=True))
    near = did_you_mean(asked or "", names)
    raise ValidationError(
        f"The savepoint in '{folder}' has no operator '{asked}'.",
        hint=near or (f"It has {listed}." if listed else "None of its operators keeps state."),
    )


def _escaped(text: str) -> str:
    return text.replace("'", "''")
