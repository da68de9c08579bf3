"""A job over files that prints what it gives, for tests of operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.sessions import catch_up, feed, open_session, submit
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path


class PrintingJob:
    """``INSERT INTO answers query`` over inputs of JSON files; ``feed`` gives what it prints about some rows, sorted.

    Rows of inputs that are ``changes`` begin with +, or - where they go.
    """

    def __init__(
        self,
        project: Path,
        engine,
        inputs: dict[str, str],
        columns: str,
        query: str,
        settings: dict[str, str] | None = None,
        changes: tuple[str, ...] = (),
    ) -> None:
        self.project = project
        self.columns = {name: [c.split()[0] for c in declared.split(", ")] for name, declared in inputs.items()}
        self.changes = changes
        self.lines: list[str] = []
        self.session = open_session(project, options=settings, engine=engine, emit=self.lines.append)
        tables = []
        for name, declared in inputs.items():
            (project / name).mkdir()
            options = f"'connector' = 'filesystem', 'path' = '{name}', 'format' = '{'debezium-' if name in changes else ''}json', 'source.monitor-interval' = '1 s'"
            tables.append(f"CREATE TABLE IF NOT EXISTS {name} ({declared}) WITH ({options});")
        sink = f"CREATE TABLE IF NOT EXISTS answers ({columns}) WITH ('connector' = 'print');"
        self.sql = f"{' '.join(tables)} {sink} INSERT INTO answers {query};"
        self.start()

    def start(self) -> None:
        self.job = submit(self.session, self.sql)

    def restart(self) -> None:
        self.session.jobs.stop(self.job.id)
        self.start()

    def feed(self, name: str, *rows: tuple[Any, ...], lines: int | None = None) -> list[str]:
        """``lines``: wait for so many; else until all is processed, which is never under a clock."""
        self.lines.clear()
        self.write(name, *rows)
        if lines is not None:
            until(lambda: len(self.lines) >= lines, said=lambda: self.lines)
        else:
            catch_up(self.job)
        return sorted(self.lines)

    def write(self, name: str, *rows: tuple[Any, ...]) -> None:
        feed(self.project / name, *(self._record(name, row) for row in rows))

    def _record(self, name: str, row: tuple[Any, ...]) -> dict[str, Any]:
        if name not in self.changes:
            return dict(zip(self.columns[name], row, strict=True))
        told = dict(zip(self.columns[name], row[1:], strict=True))
        return {"before": None, "after": told, "op": "c"} if row[0] == "+" else {"before": told, "after": None, "op": "d"}

    def close(self) -> None:
        self.session.jobs.stop_all()
        self.session.close()
