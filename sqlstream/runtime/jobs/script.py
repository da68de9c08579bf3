"""The script that submits a job in another session."""

from __future__ import annotations

from dataclasses import dataclass

from sqlstream.sql.quoting import flink_string


@dataclass(frozen=True)
class JobScript:
    """``declared``: the statements that set up the session; ``submitted``: those that are the job."""

    declared: tuple[str, ...]
    submitted: tuple[str, ...]

    def of(self, name: str) -> str:
        """The text, for the job of this name: the statement alone may have the name of another, which it is a further job of."""
        named = f"SET 'pipeline.name' = {flink_string(name)}"
        return "".join(f"{text.strip().removesuffix(';')}\n;\n" for text in (*self.declared, named, *self.submitted))
