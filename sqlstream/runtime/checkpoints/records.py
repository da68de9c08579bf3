"""What a query reads and keeps, as a record beside its checkpoint: it is known before the query starts, by planning it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from sqlstream.core.java import classes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class OperatorRecord:
    """One of Spark's operators that keep state. ``operator``: its number, the name of its folder below ``state``.

    ``node``: the stable id of the node that it belongs to, None where that has none; ``part``: the how manieth operator of that node it is.
    ``kind``: what Spark calls it. ``aggregates``: those that it keeps, in the order of its columns, each with the types of its own; empty where that
    is not known. ``state``: what it keeps, as text; equal texts are states that can be gone on with as they are, but for the
    versions of layouts. ``stores``: the names of its state stores. ``table``: what it keeps as columns, and what reads them; None where it is not
    known.
    """

    operator: int
    node: str | None
    part: int
    kind: str
    state: str
    stores: tuple[str, ...]
    aggregates: tuple[tuple[str, tuple[str, ...]], ...] = ()
    table: Mapping[str, Any] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class QueryRecord:
    """``sources``: the names of a query's sources, in the order of its offsets; ``operators``: what keeps state, by number."""

    sources: tuple[str, ...]
    operators: tuple[OperatorRecord, ...]

    def to_json(self) -> str:
        """The record as a file has it."""
        return json.dumps(asdict(self), indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> QueryRecord:
        """The record that ``to_json`` wrote."""
        record = json.loads(text)
        return cls(tuple(record["sources"]), tuple(map(_operator, record["operators"])))


def _operator(kept: dict[str, Any]) -> OperatorRecord:
    aggregates = tuple((text, tuple(types)) for text, types in kept.get("aggregates", ()))
    return OperatorRecord(**{**kept, "stores": tuple(kept["stores"]), "aggregates": aggregates})


def query_record(frame: DataFrame, mode: str = "append") -> QueryRecord:
    """The record of a streaming query of ``frame`` in the output ``mode``; it is planned once, nothing runs."""
    return QueryRecord.from_json(classes(frame.sparkSession).checkpoints.QueryRecord.of(frame._jdf, mode))


def mapped(old: QueryRecord, new: QueryRecord, nodes: Mapping[str, str]) -> dict[int, int | None]:
    """For each operator of ``new`` that of ``old`` whose state it goes on with, None for none.

    ``nodes``: the ids of nodes of the new plan, each with that of the old one whose state it takes over.
    """
    there = {(o.node, o.part): o.operator for o in old.operators}
    return {o.operator: None if o.node is None or o.node not in nodes else there.get((nodes[o.node], o.part)) for o in new.operators}
