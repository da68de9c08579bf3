"""What runs statements that have a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlglot import exp

    from sqlstream.session.context import Context
    from sqlstream.session.results import Outcome


class Runs(Protocol):
    """Of the statement that runs in ``context``: its clauses with plans come in, what it answers goes out. All raise SqlStreamError."""

    def carries_out(self, node: exp.Expr) -> bool:
        """Whether a statement is carried out at all; if not, it answers nothing."""
        ...

    def script(self, context: Context, text: str, name: str) -> Iterator[Outcome]:
        """The statements of another file, which SOURCE or EXECUTE QUERY runs."""
        ...

    def select(self, context: Context, query: exp.Expr) -> Outcome:
        """A query by itself."""
        ...

    def submit(self, context: Context, statements: Sequence[exp.Expr]) -> Outcome:
        """The INSERTs of a job, or the CREATE TABLE .. AS that is one, whose table is declared by now."""
        ...

    def explain(self, context: Context, statements: Sequence[exp.Expr]) -> Outcome:
        """EXPLAIN of a query, or of the INSERTs of a job."""
        ...
