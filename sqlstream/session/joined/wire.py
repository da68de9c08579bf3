"""Values as they go over the wire: each with the way there, and back."""

from __future__ import annotations

import dataclasses
import traceback
from typing import TYPE_CHECKING, Any

from sqlstream.core.changelog import Change, Nested, RowKind
from sqlstream.core.errors import Defect, JobFailed, Location, NotSupported, SetupError, SqlStreamError, SyntaxProblem, ValidationError
from sqlstream.core.secrets import masked_value
from sqlstream.plan.nodes import Field
from sqlstream.session import results
from sqlstream.session.completion.suggestion import Suggestion
from sqlstream.session.standing import FailedJob, Standing
from sqlstream.sql.types import Type

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlstream.session.results import Outcome

_OUTCOMES = {
    kind.__name__: kind
    for kind in (
        results.Done, results.Declined, results.Submitted, results.HeldBack, results.Completed, results.Rows, results.Figures, results.Advice,
        results.Stream, results.Text, results.Cleared, results.Exit,
    )
}  # fmt: skip
# What an outcome has that goes in pieces, or is asked for.
_LIVE = ("rows", "changes", "stop", "again", "reasons")
_ERRORS = {kind.__name__: kind for kind in (SyntaxProblem, ValidationError, NotSupported, SetupError, JobFailed, Defect)}


class RemoteTrace(Exception):
    """Where an error came from at the server."""


# --- outcomes ---------------------------------------------------------------------------------------------------------


def outcome_out(outcome: Outcome) -> dict[str, Any]:
    """An outcome without its rows."""
    fields = {f.name: getattr(outcome, f.name) for f in dataclasses.fields(outcome) if f.name not in _LIVE}
    if "columns" in fields:
        fields["columns"] = [[column.name, type_out(column.type)] for column in fields["columns"]]
    return {"kind": type(outcome).__name__, **fields}


def outcome_in(said: Mapping[str, Any], **live: Any) -> Outcome:
    """The same, with ``live``."""
    fields = {name: value for name, value in said.items() if name != "kind"}
    fields["notices"] = tuple(fields["notices"])
    if "columns" in fields:
        fields["columns"] = tuple(Field(name, type_in(type_)) for name, type_ in fields["columns"])
    return _OUTCOMES[said["kind"]](**fields, **live)


def type_out(type_: Type) -> list[Any]:
    """A type: its root, numbers, types in it, names, whether it is nullable."""
    return [type_.root, type_.args, [type_out(child) for child in type_.children], type_.names, type_.nullable]


def type_in(said: Sequence[Any]) -> Type:
    """The same."""
    root, args, children, names, nullable = said
    return Type(root, tuple(args), tuple(type_in(child) for child in children), tuple(names), nullable)


def rows_out(rows: Iterable[Sequence[str | None]]) -> list[list[Any]]:
    """Rows: their cells, of which nested ones are their text and JSON."""
    return [[[cell, cell.json] if isinstance(cell, Nested) else cell for cell in row] for row in rows]


def row_in(said: Sequence[Any]) -> tuple[str | None, ...]:
    """One of them."""
    return tuple(Nested(*cell) if isinstance(cell, list) else cell for cell in said)


def changes_out(changes: Sequence[Change]) -> dict[str, Any]:
    """Changes: the kinds and the rows."""
    return {"kinds": [change.kind.value for change in changes], "rows": rows_out(change.row for change in changes)}


def changes_in(said: Mapping[str, Any]) -> list[Change]:
    """The same."""
    return [Change(RowKind(kind), row_in(row)) for kind, row in zip(said["kinds"], said["rows"], strict=True)]


# --- errors -----------------------------------------------------------------------------------------------------------


def error_out(error: SqlStreamError) -> dict[str, Any]:
    """An error, with its place and its trace."""
    kind = next((base.__name__ for base in type(error).__mro__ if base.__name__ in _ERRORS), None)
    return {
        "kind": kind,
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "heals": error.heals,
        "job": error.job if isinstance(error, JobFailed) else None,
        "placed": error.at is not None,
        "location": None if error.location is None else dataclasses.asdict(error.location),
        "trace": masked_value("".join(traceback.format_exception(error))),
    }


def error_in(said: Mapping[str, Any]) -> SqlStreamError:
    """The same, whose cause is its trace."""
    error = _ERRORS.get(said["kind"], SqlStreamError)(said["message"], at=0 if said["placed"] else None, hint=said["hint"])
    error.code, error.heals = said["code"], said["heals"]
    if isinstance(error, JobFailed):
        error.job = said["job"]
    if said["location"] is not None:
        error.location = Location(**said["location"])
    error.__cause__ = RemoteTrace(said["trace"])
    return error


# --- what the prompt asks for -----------------------------------------------------------------------------------------


def standing_out(standing: Standing) -> dict[str, Any]:
    """How a session stands."""
    return dataclasses.asdict(standing)


def standing_in(said: Mapping[str, Any]) -> Standing:
    """The same."""
    return Standing(said["status"], tuple(FailedJob(**job) for job in said["failed"]))


def suggestions_out(suggestions: Iterable[Suggestion]) -> list[list[Any]]:
    """What completion offers."""
    return [[one.text, one.length, one.kind, one.meta] for one in suggestions]


def suggestions_in(said: Iterable[Sequence[Any]]) -> list[Suggestion]:
    """The same."""
    return [Suggestion(*one) for one in said]
