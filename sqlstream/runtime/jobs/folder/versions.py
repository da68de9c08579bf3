"""The versions of a job: of each generation what was run, by which a changed statement is told from the same one."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from sqlstream.core import storage
from sqlstream.core.errors import ValidationError
from sqlstream.core.release import release

if TYPE_CHECKING:
    from sqlstream.core.storage import Place
    from sqlstream.plan.upgrade import PlanRecord

VERSION_FILE = "version.json"


@dataclass(frozen=True)
class Origin:
    """What a generation was made from: an earlier one of the job, by its number, or a savepoint; and how (``execution.upgrade-mode``).

    ``savepoint``: the id of the one that it, or what it was made from, began with. ``lost``: whether a part of the state was left behind; an earlier
    release did not write that down.
    """

    mode: str
    generation: int | None = None
    savepoint: str | None = None
    lost: bool | None = None

    @property
    def said(self) -> str:
        """How that was, behind "begun"."""
        if self.mode == "from-start":
            return "anew"
        before = "the savepoint" if self.generation is None else "the version before"
        if self.mode == "stateless":
            return f"at the offsets of {before}, with empty state"
        part = {None: ", as far as it could be used", True: ", without what was lost", False: ""}[self.lost]
        return f"with the state of {before}{part}"


@dataclass(frozen=True)
class Version:
    """A plan with types that a job runs, or ran.

    ``number`` counts the versions of the job from 1; generations of one plan have the same. ``digest`` identifies the plan, ``sql`` is its statement
    without secrets. ``created`` is in seconds since 1970. ``record``: see plan/upgrade. ``folder`` and ``project`` are the URIs that the generation
    and the project had when it last began: checkpoints name files by them. ``spark`` is the release of Spark whose checkpoints it has. An earlier
    release kept none of these.
    """

    number: int
    digest: str
    sql: str
    sqlstream: str = field(default_factory=release)
    created: float = field(default_factory=time.time)
    origin: Origin | None = None
    record: dict[str, Any] | None = None
    folder: str | None = None
    project: str | None = None
    spark: str | None = None

    @property
    def plan(self) -> PlanRecord | None:
        """What is known of the plan; None where an earlier release kept nothing of it."""
        # Listing jobs needs none of what plans do.
        from sqlstream.plan.upgrade import PlanRecord

        return None if self.record is None else PlanRecord.from_json(self.record)

    def write(self, generation: Place) -> None:
        """Keep it in the folder of a generation, which has begun from now on."""
        storage.write(generation / VERSION_FILE, json.dumps(asdict(self), indent=2) + "\n")

    @classmethod
    def read(cls, generation: Place) -> Version | None:
        """That of the generation in this folder; None where it has none. Raises ValidationError where it can't be read."""
        file = generation / VERSION_FILE
        try:
            found: dict[str, Any] = json.loads(file.read_text())
            origin = found.pop("origin")
            return cls(**found, origin=origin and Origin(**origin))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise unreadable(file, error) from error


def unreadable(file: Place, error: Exception) -> ValidationError:
    """That a file which a job has kept can't be read."""
    return ValidationError(f"The file {file} can't be read: {error}.", hint="It is of a newer release, or is damaged: put it back from a copy.")
